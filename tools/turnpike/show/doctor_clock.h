// SPDX-License-Identifier: GPL-2.0
//
// What doctor says of clocks: how far hosts know them to be apart.
#ifndef TURNPIKE_TOOLS_SHOW_DOCTOR_CLOCK_H
#define TURNPIKE_TOOLS_SHOW_DOCTOR_CLOCK_H

#include "finding.h"

namespace turnpike {

void examine_clocks(const nlohmann::ordered_json &facts, Findings &found);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_DOCTOR_CLOCK_H
