// SPDX-License-Identifier: GPL-2.0
//
// What keeps Turnpike from working on a host: from facts to verdicts. Nothing here touches the host.
#ifndef TURNPIKE_TOOLS_SHOW_DOCTOR_H
#define TURNPIKE_TOOLS_SHOW_DOCTOR_H

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike {

enum class Severity { fine, info, warning, broken };

struct Finding {
	std::string check;	// its name, for scripts
	Severity severity;
	std::string what;	// that was found
	std::string why;	// it matters; empty if fine
	std::string mend;	// what to do, a command where there is one; empty if fine
};

const char *severity_name(Severity severity);

// One finding a check, or one a device or namespace that has something. The facts are those of look_at_facts().
std::vector<Finding> examine(const nlohmann::ordered_json &facts);

// 0: fine, or for information; 1: a warning; 2: something is broken.
int exit_status(const std::vector<Finding> &findings);

// all: also what is fine
std::string findings_text(const std::vector<Finding> &findings, bool all);
nlohmann::ordered_json findings_json(const std::vector<Finding> &findings);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_DOCTOR_H
