// SPDX-License-Identifier: GPL-2.0
// How much one event is worth: tcp_timely/timely_step.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr u64 kRttNs = 20000;

TEST(TimelyStep, timely_step_bps__grows_as_the_root_of_the_rate)
{
	timely_params p = shipped();

	EXPECT_EQ(timely_step_bps(&p, TIMELY_STEP_REF_BPS), p.delta_bps);
	EXPECT_EQ(timely_step_bps(&p, 4 * TIMELY_STEP_REF_BPS), 2 * p.delta_bps);
	EXPECT_EQ(timely_step_bps(&p, TIMELY_STEP_REF_BPS / 16), p.delta_bps / 4);
	p.root_step = 0;
	EXPECT_EQ(timely_step_bps(&p, 4 * TIMELY_STEP_REF_BPS), p.delta_bps);
}

TEST(TimelyStep, timely_update_weight__is_round_trips_up_to_a_bound)
{
	timely_params p = shipped();

	EXPECT_EQ(timely_update_weight(&p, kRttNs / 2, kRttNs), TIMELY_ONE / 2);
	EXPECT_EQ(timely_update_weight(&p, kRttNs, kRttNs), TIMELY_ONE);
	EXPECT_EQ(timely_update_weight(&p, 3 * kRttNs, kRttNs), p.scale_max * TIMELY_ONE);
	p.scale_updates = 0;
	EXPECT_EQ(timely_update_weight(&p, kRttNs / 2, kRttNs), TIMELY_ONE);
}

// By the papers a step is due in each min_rtt, whatever the RTT is.
TEST(TimelyStep, timely_update_weight__without_decrease_once_counts_min_rtts)
{
	timely_params p = preset("paper_10g", TIMELY_VARIANT_TIMELY);

	EXPECT_EQ(timely_update_weight(&p, p.min_rtt_us * 500, 10 * kRttNs), TIMELY_ONE / 2);
}

TEST(TimelyStep, timely_update_weight__of_rare_events_is_less)
{
	timely_params p = shipped();
	u64 edge_ns = kRttNs * p.rare_rtts;

	EXPECT_EQ(timely_update_weight(&p, edge_ns, kRttNs), p.scale_max * TIMELY_ONE);
	// sixteen times too far apart: the fourth root of that
	EXPECT_EQ(timely_update_weight(&p, 16 * edge_ns, kRttNs), p.scale_max * TIMELY_ONE / 2);
}

// Returns at which event HAI begins, 0: never.
int HaiBegins(const timely_params &p, u64 rtt_ns, u64 elapsed_ns)
{
	timely_state s{};

	s.prev_rtt_ns = rtt_ns;
	for (int i = 1; i <= 1000; i++) {
		if (timely_count_hai(&s, &p, elapsed_ns))
			return i;
	}
	return 0;
}

TEST(TimelyStep, timely_count_hai__needs_events_and_time)
{
	timely_params p = shipped();

	EXPECT_EQ(HaiBegins(p, kRttNs, 200000), 50);	// 10 ms
	EXPECT_EQ(HaiBegins(p, kRttNs, 100000), 100);
	EXPECT_EQ(HaiBegins(p, 3000000, 5000000), 20);	// 32 round trips
	EXPECT_EQ(HaiBegins(p, kRttNs, 5000000), 0);	// too rare
	p.hai_us = 0;
	p.path_law = 0;
	EXPECT_EQ(HaiBegins(p, kRttNs, 100000), 5);
	p.hai_events = 0;
	EXPECT_EQ(HaiBegins(p, kRttNs, 100000), 0);
}

TEST(TimelyStep, timely_hai_bps__is_a_part_of_the_rate_at_least)
{
	timely_params p = shipped();

	EXPECT_EQ(timely_hai_bps(&p, 1000000, 64 * TIMELY_MBPS), 5000000u);
	EXPECT_EQ(timely_hai_bps(&p, 1000000, 6400 * TIMELY_MBPS), 100000000u);
	p.path_law = 0;
	EXPECT_EQ(timely_hai_bps(&p, 1000000, 6400 * TIMELY_MBPS), 5000000u);
}

}  // namespace
