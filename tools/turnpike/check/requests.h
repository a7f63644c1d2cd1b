// SPDX-License-Identifier: GPL-2.0
//
// Small requests whose answers are waited for: how long they take is what a check is about.
#ifndef TURNPIKE_TOOLS_CHECK_REQUESTS_H
#define TURNPIKE_TOOLS_CHECK_REQUESTS_H

#include <chrono>
#include <cstddef>
#include <list>
#include <vector>

#include "bulk.h"
#include "peer.h"

namespace turnpike {

class Requests {
public:
	using Clock = std::chrono::steady_clock;

	// Opens the connections.
	explicit Requests(const Peer &peer);

	// Asks and asks until a time, beside long flows. Those that were asked from `from' on count; of those that have no
	// answer at the end it is waited for a while, and then they count as long as they were. Throws Error, or Stopped.
	std::vector<double> run(Clock::time_point from, Clock::time_point until, const Bulk &bulk);

	// Waits until the peer closed all. Without it they are reset in the end.
	void finish() const;

private:
	struct One {
		explicit One(int fd) : file(fd) {}

		File file;
		Clock::time_point asked{}, next{};
		std::size_t awaited_bytes = 0;	// 0: nothing is asked
	};

	void ask(One &one, Clock::time_point now);
	void take(One &one);
	void wait(Clock::time_point wake);
	void look_after_peer(Clock::time_point now) const;
	void note(const One &one, Clock::time_point now);
	bool any_awaited() const;

	const Peer &peer_;
	std::list<One> all_;
	Clock::time_point from_{};
	std::vector<double> took_ns_;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_REQUESTS_H
