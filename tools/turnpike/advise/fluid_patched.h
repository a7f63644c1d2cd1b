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

struct FluidPatched {
	static constexpr std::size_t kStates = 2;	// rate, gradient
	using State = FluidState<kStates>;

	FluidPath path;
	FluidTimelyParams params = fluid_patched_params();

	double feedback_s(double queue) const { return fluid_rtt_feedback_s(path, queue); }
	double interval_s(double rate) const { return fluid_timely_interval_s(params, rate); }

	State slopes(const State &state, double, const FluidSeen &seen) const
	{
		double interval = interval_s(state[0]), rtt_s = seen.queue / path.capacity + path.base_s;

		return {rate_slope(state, rtt_s) / interval,
			fluid_gradient_slope(path, params, state[1], interval, seen)};
	}

	void bound(State &state, const FluidSeen &) const { state[0] = fluid_rate_bound(path, state[0]); }

private:
	double rate_slope(const State &state, double rtt_s) const
	{
		double weight = fluid_patched_weight(state[1]);
		double error = (rtt_s - params.t_low_s) / params.t_low_s;

		if (rtt_s < params.t_low_s)
			return params.delta;
		if (rtt_s > params.t_high_s)
			return fluid_high_slope(params, state[0], rtt_s);
		return (1 - weight) * params.delta - weight * params.beta * state[0] * error;
	}
};

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
