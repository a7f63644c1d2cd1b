// SPDX-License-Identifier: GPL-2.0
//
// What doctor says of connections, feedback and peers, by what was counted so far.
#ifndef TURNPIKE_TOOLS_SHOW_DOCTOR_TRAFFIC_H
#define TURNPIKE_TOOLS_SHOW_DOCTOR_TRAFFIC_H

#include "finding.h"

namespace turnpike {

void examine_traffic(const nlohmann::ordered_json &facts, Findings &found);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_DOCTOR_TRAFFIC_H
