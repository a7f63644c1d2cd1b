// SPDX-License-Identifier: GPL-2.0
// Paths that stay empty: tcp_timely/timely_empty.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

// A slow flow that finds the path empty again and again takes more.
TEST(TimelyEmpty, timely_rate_sample__slow_flow_takes_an_empty_path)
{
	Engine e(shipped(), 30000000);
	auto growth = [&](u64 rtt_ns) {
		e.state.drained = TIMELY_PATH_DRAINS;  // the next is a second away
		u64 rate_bps = e.state.rate_bps;

		e.feed(rtt_ns, 800000);
		return double(e.state.rate_bps) / rate_bps - 1;
	};

	for (int i = 0; i < TIMELY_SLOW_EVENTS; i++)
		EXPECT_LT(growth(20000), 0.02);
	EXPECT_GT(growth(20000), 0.02);
	EXPECT_LT(growth(20000), 0.07);
	EXPECT_LT(growth(32000), 0.02);  // not empty
	EXPECT_LT(growth(20000), 0.02);
}

// The growth of two paths that stay empty.
TEST(TimelyEmpty, timely_rate_sample__empty_path_is_filled_in_equal_time)
{
	double grown[2];
	int i = 0;

	for (u64 base_ns : {20000, 80000}) {
		Engine e(shipped(), TIMELY_GBPS);

		e.state.base_ns = base_ns;
		e.state.drained = TIMELY_PATH_DRAINS;  // the next is a second away
		for (u64 ns = 0; ns < 3000000; ns += base_ns)
			e.feed(base_ns, base_ns);
		grown[i++] = e.state.rate_bps - double(TIMELY_GBPS);
	}
	EXPECT_GT(grown[1], 0.5 * grown[0]);  // by the round trip it were a fourth
	EXPECT_LT(grown[1], 2 * grown[0]);
}

TEST(TimelyEmpty, timely_empty_bps__steps_by_the_base_up_to_a_bound)
{
	timely_path path{};
	auto steps = [&](u64 base_ns) {
		path.base_ns = base_ns;
		return timely_empty_bps(&path, 1000000, 10 * TIMELY_GBPS) / 1000000;
	};

	EXPECT_EQ(steps(5000), 1u);  // never less than without
	EXPECT_EQ(steps(20000), 3u);
	EXPECT_EQ(steps(80000), 12u);
	EXPECT_EQ(steps(100000000), 12u);  // 100 ms are no reason for thousands
}

TEST(TimelyEmpty, timely_empty_bps__a_step_is_a_part_of_the_rate)
{
	timely_path path{};

	path.base_ns = 65000;
	EXPECT_EQ(timely_empty_bps(&path, 1250000, 512000000), 10 * 500000u);
	EXPECT_EQ(timely_empty_bps(&path, 1250000, 51200000), 1250000u);
}

// The same run of samples: on a quiet path long enough, on a noisy one not yet.
TEST(TimelyEmpty, timely_stays_empty__noise_makes_it_take_longer)
{
	Engine e(shipped(), TIMELY_GBPS);
	timely_path path{};

	path.base_ns = 20000;
	path.low_ns = 44000;
	e.state.hai_count = 20;
	e.state.hai_span_us = TIMELY_EMPTY_NS / 1000;
	EXPECT_TRUE(timely_stays_empty(&e.state, &path, 20000));
	EXPECT_FALSE(timely_stays_empty(&e.state, &path, 27000));
	e.state.jitter_q = 10000 << TIMELY_JITTER_SHIFT;
	EXPECT_FALSE(timely_stays_empty(&e.state, &path, 20000));
	e.state.hai_span_us *= 2;
	EXPECT_TRUE(timely_stays_empty(&e.state, &path, 20000));
}

}  // namespace
