// SPDX-License-Identifier: GPL-2.0
//
// What turnpike watch prints of a device: a line of a table, or an object of JSON.
#ifndef TURNPIKE_TOOLS_LIVE_WATCH_LINE_H
#define TURNPIKE_TOOLS_LIVE_WATCH_LINE_H

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "change.h"

namespace turnpike {

// Those of this name. Without a name those with onramp; if none has it all but loopback, and if there is no other, that.
std::vector<Device> watched(const Changes &changes, const std::string &name);

std::string watch_titles();

// clock: "21:19:01"
std::string watch_line(const Device &device, const std::string &clock);

// time_s: CLOCK_REALTIME
nlohmann::ordered_json watch_json(const Device &device, double time_s);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_WATCH_LINE_H
