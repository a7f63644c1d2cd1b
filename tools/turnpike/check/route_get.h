// SPDX-License-Identifier: GPL-2.0
//
// Which way packets of this host go to a peer.
#ifndef TURNPIKE_TOOLS_CHECK_ROUTE_GET_H
#define TURNPIKE_TOOLS_CHECK_ROUTE_GET_H

#include <string>

#include "net.h"

namespace turnpike {

// The device they leave by. Throws Error for this host itself, and for what no route of the main table leads to.
std::string device_to(const Address &peer);

// From what `ip -j route get' printed; host for messages.
std::string device_of_route(const std::string &json, const std::string &host);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_ROUTE_GET_H
