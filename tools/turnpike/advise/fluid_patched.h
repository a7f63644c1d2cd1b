// SPDX-License-Identifier: GPL-2.0
//
// Patched TIMELY as a fluid: ECNDELAY16 eq. 20, 22 to 24, 29 and 30; its fixed point is eq. 31.
#ifndef TURNPIKE_TOOLS_ADVISE_FLUID_PATCHED_H
#define TURNPIKE_TOOLS_ADVISE_FLUID_PATCHED_H

#include "fluid_timely.h"

namespace turnpike {

// Eq. 30: how much of a step is decrease.
inline double fluid_patched_weight(double gradient)
{
	return std::clamp(2 * gradient + 0.5, 0.0, 1.0);
}

// Section 4.3: TIMELY's constants, but for beta.
inline FluidTimelyParams fluid_patched_params()
{
	FluidTimelyParams params;

	params.beta = 0.008;
	return params;
}

// Eq. 29: by the error of the RTT.
struct FluidPatchedBetween {
	static FluidTimelyParams params() { return fluid_patched_params(); }

	static double slope(const FluidTimelyParams &params, double rate, double gradient, double rtt_s)
	{
		double weight = fluid_patched_weight(gradient);
		double error = (rtt_s - params.t_low_s) / params.t_low_s;

		return (1 - weight) * params.delta - weight * params.beta * rate * error;
	}
};

using FluidPatched = FluidByRtt<FluidPatchedBetween>;

// Eq. 31, less what the base RTT takes of it. Not above 0: the base RTT alone is above the reference.
inline FluidPoint<FluidPatched::kStates> fluid_fixed_point(const FluidPatched &law)
{
	const FluidPath &path = law.path;
	double reference = path.capacity * law.params.t_low_s;
	double above = path.flows * law.params.delta * reference / (law.params.beta * path.capacity);

	return {{path.share(), 0}, above + reference - path.capacity * path.base_s};
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_FLUID_PATCHED_H
