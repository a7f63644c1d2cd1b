// SPDX-License-Identifier: GPL-2.0
//
// What keeps Turnpike from working on a host: from facts to verdicts. Nothing here touches the host.
#ifndef TURNPIKE_TOOLS_SHOW_DOCTOR_H
#define TURNPIKE_TOOLS_SHOW_DOCTOR_H

#include <string>

#include "finding.h"

namespace turnpike {

// One finding a check, or one a device or namespace that has something. The facts are those of look_at_facts().
Findings examine(const nlohmann::ordered_json &facts);

// 0: fine, or for information; 1: a warning; 2: something is broken.
int exit_status(const Findings &findings);

// all: also what is fine
std::string findings_text(const Findings &findings, bool all);
nlohmann::ordered_json findings_json(const Findings &findings);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_DOCTOR_H
