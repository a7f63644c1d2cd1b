// SPDX-License-Identifier: GPL-2.0
//
// turnpike clock follow: the kernel is told again and again how good this host's clock is.
#ifndef TURNPIKE_TOOLS_CLOCK_FOLLOW_H
#define TURNPIKE_TOOLS_CLOCK_FOLLOW_H

#include "../command.h"

namespace turnpike {

void add_clock_follow(CLI::App &clock, Action &action);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCK_FOLLOW_H
