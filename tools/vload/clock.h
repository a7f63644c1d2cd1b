// SPDX-License-Identifier: GPL-2.0
// The clock that all loads read, and its units.
#pragma once

#include <cstdint>
#include <ctime>

namespace vload
{

constexpr int64_t NS_PER_SEC = 1'000'000'000;
constexpr int64_t NS_PER_US = 1'000;

// Every call is a system call in User Mode Linux: Loop::now_ns() is what the loads use.
inline int64_t clock_read_ns()
{
	timespec ts{};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

} // namespace vload
