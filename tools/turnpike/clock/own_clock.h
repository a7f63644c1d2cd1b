// SPDX-License-Identifier: GPL-2.0
//
// What the kernel is told of this host's clock, and what it was told.
#ifndef TURNPIKE_TOOLS_CLOCK_OWN_CLOCK_H
#define TURNPIKE_TOOLS_CLOCK_OWN_CLOCK_H

#include <cstdint>

namespace turnpike {

// CLOCK_REALTIME is right to error_ns for so many seconds. error_ns 0: it is not disciplined; seconds 0: until it is
// told otherwise. Throws Error.
void tell_own_clock(std::uint32_t error_ns, std::uint32_t seconds);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCK_OWN_CLOCK_H
