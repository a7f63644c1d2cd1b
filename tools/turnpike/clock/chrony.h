// SPDX-License-Identifier: GPL-2.0
//
// chronyd, by chronyc.
#ifndef TURNPIKE_TOOLS_CLOCK_CHRONY_H
#define TURNPIKE_TOOLS_CLOCK_CHRONY_H

#include "reading.h"

namespace turnpike {

// Of what `chronyc -c tracking' prints. The bound is ClockBound's: root dispersion, half of the root delay, and what
// is still to be corrected. Chrony's root dispersion grows with the time since the last update. Throws ClockLost.
ClockReading chrony_reading(const std::string &tracking);

// A clock of a NIC that says itself how good it is (ENA), where chrony follows one: added to that. The names of
// files that have it are a pattern of glob(7). Nothing has it: 0. Throws ClockLost if it is not known at present.
std::int64_t phc_error_bound_ns(const std::string &pattern);

std::unique_ptr<ClockSource> chrony_source();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCK_CHRONY_H
