// SPDX-License-Identifier: GPL-2.0
// What is noise and no queue: tcp_timely/timely_noise.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

TEST(TimelyNoise, timely_rate_sample__noise_is_no_queue)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 22000, 60000, 300);
	for (int i = 0; i < 20; i++) {
		shake(e, 22000, 60000, 2);
		ASSERT_NE(e.out.branch, TIMELY_BRANCH_HIGH);
		ASSERT_NE(e.out.branch, TIMELY_BRANCH_DEC);
	}
	e.p.noise_max_us = 0;
	shake(e, 22000, 60000, 2);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyNoise, timely_rate_sample__queue_under_noise_is_seen)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 22000, 20000, 300);
	shake(e, 222000, 20000, 20);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyNoise, timely_rate_sample__noise_whose_least_is_the_base_takes_nothing)
{
	for (u64 width_ns : {20000, 60000}) {
		Engine e(shipped(), TIMELY_GBPS);

		shake(e, 20000, width_ns, 2000);
		EXPECT_GT(e.state.rate_bps, TIMELY_GBPS) << width_ns;
	}
}

TEST(TimelyNoise, timely_rate_sample__noise_hides_a_queue_for_a_window_only)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 20000, 20000, 300);
	u64 rate_bps = e.state.rate_bps;
	shake(e, 120000, 20000, 2 * TIMELY_NOISE_EVENTS + 1);
	EXPECT_LT(e.state.rate_bps, rate_bps);
}

TEST(TimelyNoise, timely_rate_sample__rising_queue_is_no_noise)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (u64 rtt_ns = 20000; rtt_ns < 80000; rtt_ns += 500)
		e.feed(rtt_ns);
	EXPECT_EQ(e.state.jitter_q, 0u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyNoise, timely_rate_sample__jitter_stays_within_its_bits)
{
	Engine e(shipped(), TIMELY_GBPS);
	u64 last = 0;

	for (int i = 0; i < 1000; i++) {
		e.feed(i % 2 ? TIMELY_RTT_MAX_NS : 20000);
		ASSERT_GE(e.state.jitter_q, last);
		last = e.state.jitter_q;
	}
	EXPECT_GT(last >> TIMELY_JITTER_SHIFT, 200000u);
	/* every second sample counts, of which each is the largest */
	EXPECT_NEAR(e.state.spike_ns, TIMELY_SPIKE_MAX_NS / 2, TIMELY_SPIKE_MAX_NS / 64);
}

}  // namespace
