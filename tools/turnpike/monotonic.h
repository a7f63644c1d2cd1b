// SPDX-License-Identifier: GPL-2.0
//
// CLOCK_MONOTONIC, which looks, recordings and trace events are timed by.
#ifndef TURNPIKE_TOOLS_MONOTONIC_H
#define TURNPIKE_TOOLS_MONOTONIC_H

#include <cstdint>
#include <ctime>

namespace turnpike {

inline std::int64_t monotonic_ns()
{
	timespec now = {};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * std::int64_t(1000000000) + now.tv_nsec;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_MONOTONIC_H
