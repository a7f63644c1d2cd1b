// SPDX-License-Identifier: GPL-2.0
//
// The other end of a check: takes long flows and answers requests, of one client at a time.
#ifndef TURNPIKE_TOOLS_CHECK_SERVE_H
#define TURNPIKE_TOOLS_CHECK_SERVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace turnpike {

// Until a signal ends it. port: 0 for any; allow: the networks that may ask. Throws Error.
void serve_checks(std::uint16_t port, const std::vector<std::string> &allow);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_SERVE_H
