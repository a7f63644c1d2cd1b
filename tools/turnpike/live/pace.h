// SPDX-License-Identifier: GPL-2.0
//
// Looks at even distances, and what may come between: a key, a signal, the end of who reads.
#ifndef TURNPIKE_TOOLS_LIVE_PACE_H
#define TURNPIKE_TOOLS_LIVE_PACE_H

#include <csignal>
#include <cstdint>

namespace turnpike {

// The first time after now that is a multiple of the interval from the start: a look that took long shifts no other.
std::int64_t next_due_ns(std::int64_t start_ns, std::int64_t interval_ns, std::int64_t now_ns);

enum class Woken { due, input, signal, gone };

// Waits until then, for what `in' has to read (-1: for nothing), or for the end of `in' or `out'. mask: the signals
// that are blocked meanwhile; as before, if it is NULL.
Woken wait_until(std::int64_t due_ns, int in, int out, const sigset_t *mask);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_PACE_H
