// SPDX-License-Identifier: GPL-2.0
//
// Presets and knobs of the rate engine by name, from the module's own table.
#ifndef TURNPIKE_TOOLS_PRESETS_H
#define TURNPIKE_TOOLS_PRESETS_H

#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tcp_timely/timely_presets.h"

namespace turnpike {

// "timely", "timely_patched" or "timely_pi"; throws Error for anything else.
timely_variant variant_of(const std::string &algorithm);

// Throws Error, with the names that exist, when there is no such preset.
const timely_preset &find_preset(timely_variant variant,
				 const std::string &name);

// Apply NAME=VALUE settings in order, then check the whole; throws Error.
void apply_settings(timely_params &params,
		    const std::vector<std::string> &settings);

// Every knob with its unit, range, default in this preset and meaning.
void list_knobs(std::ostream &out, const std::string &algorithm,
		const timely_preset &preset);
nlohmann::ordered_json knobs_json(const std::string &algorithm,
				  const timely_preset &preset);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_PRESETS_H
