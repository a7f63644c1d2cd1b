// SPDX-License-Identifier: GPL-2.0
//
// TIMELY as a fluid: ECNDELAY16 eq. 20 to 24. It has no fixed point (Theorem 3), and so no margin.
#ifndef TURNPIKE_TOOLS_ADVISE_FLUID_TIMELY_H
#define TURNPIKE_TOOLS_ADVISE_FLUID_TIMELY_H

#include "fluid_path.h"

namespace turnpike {

// Table 2, with the values of the paper's footnote 4.
struct FluidTimelyParams {
	double delta = 10e6 / 8;	// bytes a second
	double beta = 0.8;
	double alpha = 0.875;
	double t_low_s = 50e-6;
	double t_high_s = 500e-6;
	double min_rtt_s = 20e-6;	// D_minRTT
	double segment = 16e3;		// Seg
};

// Eq. 23: an update for each segment, but not more often than once a D_minRTT.
inline double fluid_timely_interval_s(const FluidTimelyParams &params, double rate)
{
	return std::max(params.segment / rate, params.min_rtt_s);
}

// Eq. 22: the smoothed gradient of the RTT.
inline double fluid_gradient_slope(const FluidPath &path, const FluidTimelyParams &params, double gradient,
				   double interval_s, const FluidSeen &seen)
{
	double news = (seen.queue - seen.before) / (path.capacity * params.min_rtt_s);

	return params.alpha / interval_s * (news - gradient);
}

// The last line of eq. 21 and 29: above T_high the decrease goes by the RTT itself.
inline double fluid_high_slope(const FluidTimelyParams &params, double rate, double rtt_s)
{
	return -params.beta * (1 - params.t_high_s / rtt_s) * rate;
}

// Eq. 21 and 29 with a rule for what is between the thresholds.
template <typename Between> struct FluidByRtt {
	static constexpr std::size_t kStates = 2;	// rate, gradient
	using State = FluidState<kStates>;

	FluidPath path;
	FluidTimelyParams params = Between::params();

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
		if (rtt_s < params.t_low_s)
			return params.delta;
		if (rtt_s > params.t_high_s)
			return fluid_high_slope(params, state[0], rtt_s);
		return Between::slope(params, state[0], state[1], rtt_s);
	}
};

// Eq. 21: by the sign of the gradient.
struct FluidTimelyBetween {
	static FluidTimelyParams params() { return {}; }

	static double slope(const FluidTimelyParams &params, double rate, double gradient, double)
	{
		return gradient <= 0 ? params.delta : -gradient * params.beta * rate;
	}
};

using FluidTimely = FluidByRtt<FluidTimelyBetween>;

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_FLUID_TIMELY_H
