// SPDX-License-Identifier: GPL-2.0
#include "loop.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace vload
{

constexpr int EVENTS_PER_WAIT = 512;

RuntimeError RuntimeError::from_errno(const std::string &what)
{
	return RuntimeError(what + ": " + std::strerror(errno));
}

Loop::Loop() : epoll_fd_(epoll_create1(EPOLL_CLOEXEC)), timer_fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))
{
	epoll_event event{};

	if (epoll_fd_ < 0 || timer_fd_ < 0)
		throw RuntimeError::from_errno("epoll or timerfd");
	// Edge triggered: arming it anew clears it, so it never needs to be read. No pointer marks it.
	event.events = EPOLLIN | EPOLLET;
	if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, timer_fd_, &event) < 0)
		throw RuntimeError::from_errno("epoll_ctl");
}

Loop::~Loop()
{
	close(timer_fd_);
	close(epoll_fd_);
}

void Loop::watch(int fd, uint32_t events, Handler &handler)
{
	epoll_event event{};

	event.events = events;
	event.data.ptr = &handler;
	if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) < 0)
		throw RuntimeError::from_errno("epoll_ctl");
}

bool Loop::later(const Timer &a, const Timer &b)
{
	return a.when_ns != b.when_ns ? a.when_ns > b.when_ns : a.order > b.order;
}

void Loop::at(int64_t when_ns, std::function<void()> callback)
{
	timers_.push_back({when_ns, order_++, std::move(callback)});
	std::push_heap(timers_.begin(), timers_.end(), later);
}

int64_t Loop::now_ns()
{
	if (!now_ns_)
		now_ns_ = clock_read_ns();
	return now_ns_;
}

void Loop::run_timers()
{
	while (!timers_.empty() && timers_.front().when_ns <= now_ns() && !stopped_) {
		std::pop_heap(timers_.begin(), timers_.end(), later);
		auto callback = std::move(timers_.back().callback);
		timers_.pop_back();
		callback();
	}
}

void Loop::arm()
{
	itimerspec spec{};
	int64_t when_ns = timers_.empty() ? 0 : timers_.front().when_ns;

	if (when_ns == armed_ns_)
		return;
	armed_ns_ = when_ns;
	spec.it_value.tv_sec = when_ns / NS_PER_SEC;
	spec.it_value.tv_nsec = when_ns % NS_PER_SEC;
	if (timerfd_settime(timer_fd_, TFD_TIMER_ABSTIME, &spec, nullptr) < 0)
		throw RuntimeError::from_errno("timerfd_settime");
}

void Loop::run()
{
	std::array<epoll_event, EVENTS_PER_WAIT> events;

	stopped_ = false;
	while (!stopped_) {
		arm();
		int count = epoll_wait(epoll_fd_, events.data(), EVENTS_PER_WAIT, -1);
		if (count < 0 && errno != EINTR)
			throw RuntimeError::from_errno("epoll_wait");
		now_ns_ = 0;
		bool timer_fired = false;
		for (int i = 0; i < count; i++) {
			if (events[i].data.ptr)
				static_cast<Handler *>(events[i].data.ptr)->on_events(events[i].events);
			else
				timer_fired = true;
		}
		if (!timer_fired)
			continue;
		// What is due again within this wake-up must not wait for an expiry that has passed.
		armed_ns_ = 0;
		run_timers();
	}
}

} // namespace vload
