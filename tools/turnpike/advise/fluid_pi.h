// SPDX-License-Identifier: GPL-2.0
//
// Patched TIMELY with a PI controller at each host: ECNDELAY16 eq. 32, whose p takes the place of the error in eq. 29.
//
// Kept is z = p - K1 e, whose slope is K2 e: e itself may jump. Each flow has its own p, so that nothing makes
// shares fair (Theorem 6).
#ifndef TURNPIKE_TOOLS_ADVISE_FLUID_PI_H
#define TURNPIKE_TOOLS_ADVISE_FLUID_PI_H

#include "fluid_patched.h"

namespace turnpike {

struct FluidPi {
	static constexpr std::size_t kStates = 3;	// rate, gradient, z
	using State = FluidState<kStates>;

	FluidPath path;
	FluidTimelyParams params = fluid_patched_params();
	double reference_s = 240e-6;	// 300 KB at 10 Gbit/s
	double k1 = 1;			// the paper prints neither gain
	double k2 = 100;		// a second

	double feedback_s(double queue) const { return fluid_rtt_feedback_s(path, queue); }
	double interval_s(double rate) const { return fluid_timely_interval_s(params, rate); }

	double error(double queue) const
	{
		return (queue / path.capacity + path.base_s - reference_s) / reference_s;
	}

	State slopes(const State &state, double, const FluidSeen &seen) const
	{
		double interval = interval_s(state[0]), weight = fluid_patched_weight(state[1]);
		double e = error(seen.queue), p = std::max(state[2] + k1 * e, 0.0);
		double rate = (1 - weight) * params.delta - weight * params.beta * state[0] * p;

		return {rate / interval, fluid_gradient_slope(path, params, state[1], interval, seen), k2 * e};
	}

	// p is not below 0, and does not wind up there.
	void bound(State &state, const FluidSeen &seen) const
	{
		state[0] = fluid_rate_bound(path, state[0]);
		state[2] = std::max(state[2], -k1 * error(seen.queue));
	}
};

// Where all shares are equal: one of infinitely many points.
inline FluidPoint<FluidPi::kStates> fluid_fixed_point(const FluidPi &law)
{
	const FluidPath &path = law.path;
	double p = law.params.delta / (law.params.beta * path.share());

	return {{path.share(), 0, p}, path.capacity * (law.reference_s - path.base_s)};
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_FLUID_PI_H
