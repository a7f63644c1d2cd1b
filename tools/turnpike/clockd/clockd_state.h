// SPDX-License-Identifier: GPL-2.0
//
// What clockd knows when a window ends, as JSON: a line for scripts, and the file that others read (clockd_shown.h).
#ifndef TURNPIKE_TOOLS_CLOCKD_CLOCKD_STATE_H
#define TURNPIKE_TOOLS_CLOCKD_CLOCKD_STATE_H

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "clockd.h"

namespace turnpike {

nlohmann::ordered_json clockd_json(const Clockd &clockd, const std::vector<PeerSeen> &peers);

// Replaces the file. at_ns: monotonic_ns() now. Throws Error.
void write_clockd_state(const std::string &path, nlohmann::ordered_json json, std::int64_t at_ns, unsigned window_s);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_CLOCKD_STATE_H
