// SPDX-License-Identifier: GPL-2.0
//
// One verdict of doctor's, and how bad it is.
#ifndef TURNPIKE_TOOLS_SHOW_FINDING_H
#define TURNPIKE_TOOLS_SHOW_FINDING_H

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

using Findings = std::vector<Finding>;

const char *severity_name(Severity severity);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_FINDING_H
