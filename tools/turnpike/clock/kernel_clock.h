// SPDX-License-Identifier: GPL-2.0
//
// What the kernel was told of CLOCK_REALTIME by what steers it: adjtimex(2).
#ifndef TURNPIKE_TOOLS_CLOCK_KERNEL_CLOCK_H
#define TURNPIKE_TOOLS_CLOCK_KERNEL_CLOCK_H

#include <sys/timex.h>

#include "reading.h"

namespace turnpike {

// state: what adjtimex returned. timesyncd: systemd-timesyncd keeps the time, which tells the kernel an error of 0.
// Throws ClockLost.
ClockReading kernel_reading(const timex &told, int state, bool timesyncd);

std::unique_ptr<ClockSource> kernel_source();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCK_KERNEL_CLOCK_H
