// SPDX-License-Identifier: GPL-2.0
//
// What all commands end with. 0: done, and nothing is amiss; 64: wrong usage; a signal's number is added to 128.
#ifndef TURNPIKE_TOOLS_EXIT_STATUS_H
#define TURNPIKE_TOOLS_EXIT_STATUS_H

namespace turnpike {

constexpr int kAmiss = 1;	// done, and there is something to look at: a warning, a difference, a no
constexpr int kFailed = 2;	// it could not be done; of doctor also: something is broken

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_EXIT_STATUS_H
