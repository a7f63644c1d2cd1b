// SPDX-License-Identifier: GPL-2.0
//
// One turn of a check: traffic on new connections, since a connection keeps the settings it began with.
#ifndef TURNPIKE_TOOLS_CHECK_TURN_H
#define TURNPIKE_TOOLS_CHECK_TURN_H

#include <string>

#include "peer.h"
#include "verdict.h"

namespace turnpike {

// A quarter of the time goes before anything is measured: the flows have to find their rate.
Turn run_turn(const Peer &peer, double seconds, const std::string &device);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_TURN_H
