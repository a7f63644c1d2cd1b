// SPDX-License-Identifier: GPL-2.0
//
// What doctor says of a device: its queues, its driver, its NIC.
#ifndef TURNPIKE_TOOLS_SHOW_DOCTOR_DEVICE_H
#define TURNPIKE_TOOLS_SHOW_DOCTOR_DEVICE_H

#include "finding.h"

namespace turnpike {

// device: one of facts["devices"]
void examine_device(const nlohmann::ordered_json &facts, const nlohmann::ordered_json &device, Findings &found);

// Devices whose qdisc is older than what net.core.default_qdisc says.
void examine_default_qdisc(const nlohmann::ordered_json &facts, Findings &found);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_DOCTOR_DEVICE_H
