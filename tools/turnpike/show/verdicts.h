// SPDX-License-Identifier: GPL-2.0
//
// What the checks of doctor share: words for facts, and the verdict that all is fine.
#ifndef TURNPIKE_TOOLS_SHOW_VERDICTS_H
#define TURNPIKE_TOOLS_SHOW_VERDICTS_H

#include <string>

#include "finding.h"

namespace turnpike {

inline std::string text(const nlohmann::ordered_json &value)
{
	return value.is_string() ? value.get<std::string>() : value.dump();
}

inline void fine(Findings &found, const char *check, const std::string &what)
{
	found.push_back({check, Severity::fine, what, "", ""});
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_VERDICTS_H
