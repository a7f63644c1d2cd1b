// SPDX-License-Identifier: GPL-2.0
//
// The modules' trace events, by an instance of tracefs of our own: nobody else's trace is touched.
#ifndef TURNPIKE_TOOLS_RECORD_TRACING_H
#define TURNPIKE_TOOLS_RECORD_TRACING_H

#include <cstdint>
#include <memory>
#include <string>

#include "../netns.h"

namespace turnpike {

class Tracing {
public:
	// Turns the events on. Throws Error, with the reason why there is no trace.
	explicit Tracing(const std::string &tracefs);

	// Turns them off; the instance goes.
	~Tracing();

	// What is there by now; waits for more up to so long if nothing is.
	std::string read(int wait_ms);

	// Off; what is there can still be read.
	void stop();

	// Events that the kernel had no room for.
	std::uint64_t lost() const;

private:
	std::string path_;
	std::unique_ptr<File> pipe_;
};

// Where the kernel has it; "" where it is not mounted.
std::string tracefs_path();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_TRACING_H
