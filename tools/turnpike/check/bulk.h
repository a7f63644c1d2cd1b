// SPDX-License-Identifier: GPL-2.0
//
// Long flows that fill the path, by a thread of their own: what it writes delays no request.
#ifndef TURNPIKE_TOOLS_CHECK_BULK_H
#define TURNPIKE_TOOLS_CHECK_BULK_H

#include <atomic>
#include <list>
#include <string>
#include <thread>

#include "peer.h"

namespace turnpike {

class Bulk {
public:
	// Opens the connections; they carry data until the object goes.
	explicit Bulk(const Peer &peer);
	~Bulk();
	Bulk(const Bulk &) = delete;
	Bulk &operator=(const Bulk &) = delete;

	// What the kernel says of their congestion control, with commas where they differ.
	std::string congestion() const;

	Counters counters() const;

	// No more data; waits until the peer closed all. Without it they are reset in the end.
	void finish();

	// Throws Error if the peer closed one.
	void check() const;

private:
	void fill();
	void stop();

	std::string peer_;
	std::list<File> files_;
	std::atomic<bool> ends_ = false;
	std::atomic<int> error_ = 0;
	std::thread thread_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_BULK_H
