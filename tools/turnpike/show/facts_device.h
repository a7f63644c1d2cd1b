// SPDX-License-Identifier: GPL-2.0
//
// What doctor judges of one device: its queues, its driver, its NIC.
#ifndef TURNPIKE_TOOLS_SHOW_FACTS_DEVICE_H
#define TURNPIKE_TOOLS_SHOW_FACTS_DEVICE_H

#include <string>

#include <nlohmann/json.hpp>

#include "../setup/plan.h"

namespace turnpike {

// What cannot be read is null.
nlohmann::ordered_json device_json(const std::string &name, const Host &host);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_FACTS_DEVICE_H
