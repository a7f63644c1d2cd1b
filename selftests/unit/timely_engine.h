// SPDX-License-Identifier: GPL-2.0
// One flow of the rate engine, for its tests: an event at a time.
#ifndef TURNPIKE_SELFTESTS_TIMELY_ENGINE_H
#define TURNPIKE_SELFTESTS_TIMELY_ENGINE_H

#include <string>

#include <gtest/gtest.h>

#include "tcp_timely/timely_presets.h"

namespace timely_test {

inline timely_params preset(const std::string &name, u8 variant)
{
	for (const timely_preset &p : timely_presets)
		if (name == p.name && p.variant == variant)
			return p.params;
	ADD_FAILURE() << "no preset " << name;
	return {};
}

inline timely_params verbatim(u8 variant = TIMELY_VARIANT_TIMELY)
{
	return preset("verbatim", variant);
}

inline timely_params shipped(u8 variant = TIMELY_VARIANT_TIMELY)
{
	return preset("default", variant);
}

class Engine {
public:
	Engine(const timely_params &p, u64 rate_bps) : p(p)
	{
		timely_rate_start(&state, &p, rate_bps, 20000);
	}

	// One event, gap_ns after the last.
	u64 feed(u64 rtt_ns, u64 gap_ns = 100000)
	{
		now_ns += gap_ns;

		timely_sample sample{
			.now_ns = now_ns,
			.rtt_ns = rtt_ns,
			.cap_bps = cap_bps,
			.acked_bytes = acked_bytes,
			.frame_bytes = 0,
			.frame_ns = 0,
			.burst_ns = 0,
			.coalesce_ns = coalesce_ns,
			.back_load = 0,
			.app_limited = app_limited,
		};
		timely_rate_sample(&state, &p, &sample, &out);
		return out.rate_bps;
	}

	s64 gradient_micro() const
	{
		return timely_gradient_micro(out.rtt_diff_q, out.unit_ns);
	}

	timely_params p;
	timely_state state;
	timely_outcome out{};
	u64 now_ns = 1000000000;
	u32 coalesce_ns = 0;
	u64 cap_bps = 0;
	u32 acked_bytes = 16384;
	bool app_limited = false;
};

// RTTs that jump back and forth between low and low + width.
inline void shake(Engine &e, u64 low_ns, u64 width_ns, int events)
{
	for (int i = 0; i < events; i++)
		e.feed(low_ns + (i % 2 ? width_ns : 0));
}

}  // namespace timely_test

#endif  // TURNPIKE_SELFTESTS_TIMELY_ENGINE_H
