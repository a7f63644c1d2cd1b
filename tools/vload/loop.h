// SPDX-License-Identifier: GPL-2.0
//
// One epoll set and one timerfd for everything.
//
// Timers are absolute on CLOCK_MONOTONIC: epoll's own timeout has slack (50 us and up), which in
// simulated time is a real error. Everything is edge triggered and registered once, so the loop
// costs one epoll_wait per wake-up plus one timerfd_settime when the next timer changes.
#pragma once

#include "clock.h"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vload
{

// Something went wrong outside: a namespace is missing, a socket refuses an option, ...
struct RuntimeError : std::runtime_error {
	using std::runtime_error::runtime_error;
	// reason: strerror(errno)
	static RuntimeError from_errno(const std::string &what);
};

class Handler {
public:
	virtual ~Handler() = default;
	virtual void on_events(uint32_t events) = 0;
};

class Loop {
public:
	Loop();
	~Loop();
	Loop(const Loop &) = delete;
	Loop &operator=(const Loop &) = delete;

	// A handler must outlive the loop's run; its descriptor may be closed at any time.
	void watch(int fd, uint32_t events, Handler &handler);
	void at(int64_t when_ns, std::function<void()> callback);

	// The clock, read at most once per wake-up: in simulated time no work takes any.
	int64_t now_ns();
	void forget_now() { now_ns_ = 0; }
	void run();
	void stop() { stopped_ = true; }

private:
	struct Timer {
		int64_t when_ns;
		uint64_t order; // equal times fire in the order they were set
		std::function<void()> callback;
	};

	static bool later(const Timer &a, const Timer &b);
	void run_timers();
	void arm();

	int epoll_fd_ = -1;
	int timer_fd_ = -1;
	int64_t now_ns_ = 0;
	int64_t armed_ns_ = 0;
	uint64_t order_ = 0;
	bool stopped_ = false;
	std::vector<Timer> timers_; // a heap
};

} // namespace vload
