// SPDX-License-Identifier: GPL-2.0
//
// The name of a device that may be called by another of its names.
#ifndef TURNPIKE_TOOLS_SETUP_DEVICE_NAME_H
#define TURNPIKE_TOOLS_SETUP_DEVICE_NAME_H

#include <string>

namespace turnpike {

// Of this network namespace; what no device has for a name (`ip link property') is returned as it is.
std::string device_name(const std::string &name);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_DEVICE_NAME_H
