// SPDX-License-Identifier: GPL-2.0
//
// DCQCN as a fluid: ECNDELAY16 eq. 3 to 7; its fixed point is eq. 9 to 11.
//
// Above K_max eq. 3 marks all packets. Here its line goes on, as it must in the paper's figure 3: there are fixed
// points beyond K_max.
#ifndef TURNPIKE_TOOLS_ADVISE_FLUID_DCQCN_H
#define TURNPIKE_TOOLS_ADVISE_FLUID_DCQCN_H

#include <cmath>

#include "fluid_path.h"

namespace turnpike {

// Table 1, with the values of section 3. Rates are bytes a second, counters packets.
struct FluidDcqcnParams {
	double increase = 40e6 / 8;	// R_AI
	double k_min = 5e3;
	double k_max = 200e3;
	double p_max = 0.01;
	double gain = 1.0 / 256;	// g
	double timer_s = 55e-6;		// T
	double notice_s = 50e-6;	// tau
	double alpha_s = 55e-6;		// tau'
	double counter = 10e3;		// B
	double stages = 5;		// F
};

// Eq. 12, and tau' of eq. 5.
struct FluidDcqcnShares {
	double a, b, c, d, e, alpha;
};

struct FluidDcqcn {
	static constexpr std::size_t kStates = 3;	// current rate, target rate, alpha
	using State = FluidState<kStates>;

	FluidPath path;
	FluidDcqcnParams params = {};

	// Marks are set as packets leave: their age has no queue in it (section 5.1).
	double feedback_s(double) const { return path.propagation_s; }
	double interval_s(double) const { return params.notice_s; }

	double marked(double queue) const
	{
		double part = (queue - params.k_min) / (params.k_max - params.k_min);

		return std::clamp(part * params.p_max, 1e-12, 0.99);
	}

	double queue_of(double p) const { return p / params.p_max * (params.k_max - params.k_min) + params.k_min; }

	// rate: bytes a second
	FluidDcqcnShares shares(double p, double rate) const
	{
		double packets = rate / path.packet, ln = std::log1p(-p);
		auto many = [ln](double count) { return std::expm1(std::min(-count * ln, 600.0)); };
		double b = p / many(params.counter), d = p / many(params.timer_s * packets);

		return {-std::expm1(params.notice_s * packets * ln),
			b, std::exp(params.stages * params.counter * ln) * b,
			d, std::exp(params.stages * params.timer_s * packets * ln) * d,
			-std::expm1(params.alpha_s * packets * ln)};
	}

	State slopes(const State &state, double rate_then, const FluidSeen &seen) const
	{
		FluidDcqcnShares s = shares(marked(seen.queue), rate_then);
		double packets = rate_then / path.packet, gap = state[1] - state[0];

		return {-state[0] * state[2] / (2 * params.notice_s) * s.a + gap / 2 * packets * (s.b + s.d),
			-gap / params.notice_s * s.a + params.increase * packets * (s.c + s.e),
			params.gain / params.alpha_s * (s.alpha - state[2])};
	}

	void bound(State &state, const FluidSeen &) const
	{
		state[0] = fluid_rate_bound(path, state[0]);
		state[1] = fluid_rate_bound(path, state[1]);
		state[2] = std::clamp(state[2], 0.0, 1.0);
	}
};

// Eq. 14, the fixed point's p in a closed form that counts for small p.
inline double fluid_dcqcn_small_p(const FluidDcqcn &law)
{
	const FluidDcqcnParams &c = law.params;
	double n = law.path.flows, packets = law.path.capacity / law.path.packet;
	double updates = 1 / c.counter + n / (c.timer_s * packets);

	return std::cbrt(c.increase / law.path.packet * n * n / (c.alpha_s * packets * packets) * updates * updates);
}

// Eq. 11, whose left side grows with p: by bisection.
inline double fluid_dcqcn_p(const FluidDcqcn &law)
{
	const FluidDcqcnParams &c = law.params;
	double rate = law.path.share(), low = 1e-8, high = 0.5;
	double packets = rate / law.path.packet, wanted = c.notice_s * c.notice_s * c.increase / law.path.packet * packets;

	for (int i = 0; i < 100; i++) {
		double p = std::sqrt(low * high);
		FluidDcqcnShares s = law.shares(p, rate);

		(s.a * s.a * s.alpha / ((s.b + s.d) * (s.c + s.e)) < wanted ? low : high) = p;
	}
	return low;
}

inline FluidPoint<FluidDcqcn::kStates> fluid_fixed_point(const FluidDcqcn &law)
{
	double rate = law.path.share(), p = fluid_dcqcn_p(law);
	FluidDcqcnShares s = law.shares(p, rate);
	double packets = rate / law.path.packet;
	// Eq. 6 is 0 there.
	double target = rate + law.params.notice_s * law.params.increase * packets * (s.c + s.e) / s.a;

	return {{rate, target, s.alpha}, law.queue_of(p)};
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_FLUID_DCQCN_H
