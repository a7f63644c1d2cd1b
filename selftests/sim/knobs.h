// SPDX-License-Identifier: GPL-2.0
//
// Settings and constants of the rate engine by name, as the model's programs take them.
#ifndef TURNPIKE_SELFTESTS_SIM_KNOBS_H
#define TURNPIKE_SELFTESTS_SIM_KNOBS_H

#include <string>

#include "tcp_timely/timely_presets.h"

namespace rack_sim {

// False when nothing has that name.
inline bool set_knob(timely_params &params, const std::string &name, u64 value)
{
	const timely_knob *found = nullptr;

	for (const timely_knob &knob : timely_knobs)
		if (name == knob.name)
			found = &knob;
	for (const timely_knob &knob : timely_pi_knobs)
		if (name == knob.name)
			found = &knob;
	for (const timely_knob &constant : timely_constants)
		if (name == constant.name)
			found = &constant;
	if (found)
		timely_knob_set(found, &params, value);
	return found;
}

}  // namespace rack_sim

#endif  // TURNPIKE_SELFTESTS_SIM_KNOBS_H
