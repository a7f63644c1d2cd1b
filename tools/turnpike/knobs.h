// SPDX-License-Identifier: GPL-2.0
//
// Parameters of a replay as the user sees them.
#ifndef TURNPIKE_TOOLS_KNOBS_H
#define TURNPIKE_TOOLS_KNOBS_H

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tcp_timely/timely_rate.h"

namespace turnpike {

struct KnobShown {
	const char *name;
	const char *unit;  // "" for counts and switches
	u64 min;
	u64 max;
	u64 value;
	const char *help;
};

void write_knobs(std::ostream &out, const std::vector<KnobShown> &knobs);
nlohmann::ordered_json knobs_array(const std::vector<KnobShown> &knobs);

// NAME=VALUE in its two parts; throws Error.
std::pair<std::string, std::string> split_setting(const std::string &setting);

// A whole number in [min, max]; throws Error that names the parameter.
u64 knob_value(const char *name, const std::string &text, u64 min, u64 max);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_KNOBS_H
