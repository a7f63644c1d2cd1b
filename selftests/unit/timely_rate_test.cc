// SPDX-License-Identifier: GPL-2.0
// The rate engine, branch by branch: tcp_timely/timely_rate.h.

#include <cmath>
#include <vector>

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

TEST(TimelyRate, timely_rate_sample__first_sample_is_only_remembered)
{
	Engine e(verbatim(), 1000000000);

	EXPECT_EQ(e.feed(700000), 1000000000u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_FIRST);
	EXPECT_EQ(e.out.rtt_diff_q, 0);
}

TEST(TimelyRate, timely_rate_sample__low_adds_a_step)
{
	Engine e(verbatim(), 1000000000);

	e.feed(30000);
	EXPECT_EQ(e.feed(49999), 1010000000u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_LOW);
}

TEST(TimelyRate, timely_rate_sample__high_decreases_whatever_the_gradient)
{
	Engine e(verbatim(), 1000000000);

	e.feed(2000000);
	EXPECT_NEAR(e.feed(1000000), 600000000, 10);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
	EXPECT_LT(e.gradient_micro(), 0);
}

TEST(TimelyRate, timely_rate_sample__hai_from_the_fifth_event)
{
	Engine e(verbatim(), 1000000000);
	u64 before;

	e.feed(60000);
	for (int i = 1; i <= 4; i++) {
		before = e.state.rate_bps;
		EXPECT_EQ(e.feed(60000 - i), before + 10000000);
		EXPECT_EQ(e.out.branch, TIMELY_BRANCH_INC);
	}
	before = e.state.rate_bps;
	EXPECT_EQ(e.feed(59990), before + 50000000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HAI);
	EXPECT_EQ(e.feed(59980), before + 100000000);
}

TEST(TimelyRate, timely_rate_sample__any_other_branch_restarts_hai)
{
	for (u64 other_ns : {40000, 600000, 61000}) {
		Engine e(verbatim(), 1000000000);

		e.feed(60000);
		for (int i = 1; i <= 4; i++)
			e.feed(60000 - i);
		e.feed(other_ns);
		EXPECT_NE(e.out.branch, TIMELY_BRANCH_INC);
		e.feed(other_ns > 60000 ? 51000 : 60000);
		EXPECT_NE(e.out.branch, TIMELY_BRANCH_HAI) << other_ns;
	}
}

TEST(TimelyRate, timely_rate_sample__steep_gradient_stops_at_the_floor)
{
	Engine e(verbatim(), 1000000000);

	e.feed(50000);
	EXPECT_EQ(e.feed(499000), 1000000u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_DEC);
}

TEST(TimelyRate, timely_rate_sample__patched_blends_without_hai)
{
	Engine e(verbatim(TIMELY_VARIANT_PATCHED), 1000000000);

	e.feed(75000);
	for (int i = 0; i < 8; i++) {
		u64 before = e.state.rate_bps;

		// Gradient 0: w = 1/2, error = 1/2.
		EXPECT_NEAR(e.feed(75000),
			    before * (1 - 0.008 * 0.5 * 0.5) + 5000000, 100);
		EXPECT_EQ(e.out.branch, TIMELY_BRANCH_BLEND);
	}
}

TEST(TimelyRate, timely_rate_sample__no_overflow_at_the_extremes)
{
	for (const timely_preset &preset : timely_presets) {
		timely_params p = preset.params;

		p.max_rate_bps = 1600 * TIMELY_GBPS;
		for (u64 rate_bps : {u64(p.min_rate_bps), u64(400 * TIMELY_GBPS),
				     u64(1600 * TIMELY_GBPS)}) {
			for (u64 gap_ns : {u64(0), u64(1), u64(5000),
					   u64(10000000000), ~u64(0) / 2}) {
				Engine e(p, rate_bps);

				for (int i = 0; i < 40; i++) {
					e.coalesce_ns = i % 3 ? 0 : ~u32(0);
					e.app_limited = i % 2;
					e.acked_bytes = i % 5 ? 1448 : 0xffffffff;
					e.feed(i % 2 ? 1000 : 10000000000, gap_ns);
					ASSERT_GE(e.out.rate_bps, p.min_rate_bps);
					ASSERT_LE(e.out.rate_bps, p.max_rate_bps);
				}
			}
		}
	}
}

TEST(TimelyRate, timely_rate_sample__grows_at_400_gbit_without_wrapping)
{
	Engine e(shipped(), 399 * TIMELY_GBPS);
	u64 before = e.state.rate_bps;

	for (int i = 0; i < 100000; i++) {
		u64 rate_bps = e.feed(1000, 1000);

		if (e.out.branch == TIMELY_BRANCH_DRAIN)
			continue;
		ASSERT_GE(rate_bps, before);
		before = rate_bps;
	}
	EXPECT_EQ(before, 400 * TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_sample__cap_holds_and_floor_wins)
{
	Engine e(shipped(), 10 * TIMELY_GBPS);

	e.cap_bps = 2 * TIMELY_GBPS;
	EXPECT_EQ(e.feed(20000), 2 * TIMELY_GBPS);
	EXPECT_EQ(e.feed(20000), 2 * TIMELY_GBPS);
	e.cap_bps = 10;
	EXPECT_EQ(e.feed(20000), e.p.min_rate_bps);
}

TEST(TimelyRate, timely_rate_sample__below_floor_changes_nothing)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.p.rtt_floor_us = 10;
	e.feed(20000);
	e.feed(9999);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_DROPPED);
	EXPECT_EQ(e.state.prev_rtt_ns, 20000u);
	EXPECT_EQ(e.out.rate_bps, TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_sample__elapsed_gradient_is_the_slope)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.elapsed_gradient = 1;
	e.p.alpha_milli = 1000;
	e.feed(60000);
	e.feed(70000, 100000);  // 10 us more in 100 us
	EXPECT_NEAR(e.gradient_micro(), 100000, 1);
	// A quarter of min_rtt later, that much is forgotten: 3/4 * 0.1 + 5 us / 20 us.
	e.feed(75000, 5000);
	EXPECT_NEAR(e.gradient_micro(), 325000, 1);
}

// A queue that grows by 1 us in 10 us looks the same to flows of any rate.
TEST(TimelyRate, timely_rate_sample__elapsed_gradient_is_the_same_at_any_spacing)
{
	for (u64 gap_ns : {1000, 4000, 20000, 30000, 100000}) {
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.elapsed_gradient = 1;
		for (u64 t_ns = 0; t_ns < 1000000; t_ns += gap_ns)
			e.feed(60000 + t_ns / 10, gap_ns);
		EXPECT_NEAR(e.gradient_micro(), 100000, 2000) << gap_ns;
	}
}

TEST(TimelyRate, timely_rate_sample__scaled_step_per_min_rtt)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.scale_updates = 1;
	e.feed(30000);
	EXPECT_NEAR(e.feed(30000, 5000), TIMELY_GBPS + 2500000, 10);
	EXPECT_NEAR(e.feed(30000, 500000), TIMELY_GBPS + 12500000, 10);
}

TEST(TimelyRate, timely_rate_sample__scaled_step_per_rtt_up_to_scale_max)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.scale_updates = 1;
	e.p.decrease_once = 1;
	e.p.scale_max = 3;
	e.feed(40000);
	EXPECT_NEAR(e.feed(40000, 20000), TIMELY_GBPS + 5000000, 10);
	EXPECT_NEAR(e.feed(40000, 80000), TIMELY_GBPS + 25000000, 10);
	EXPECT_NEAR(e.feed(40000, 800000), TIMELY_GBPS + 55000000, 10);
}

TEST(TimelyRate, timely_rate_sample__step_grows_as_root_of_rate)
{
	timely_params p = verbatim();

	p.root_step = 1;
	for (double rate : {1e6, 25e6, 5e8, 1e10, 4e11})
		EXPECT_NEAR(timely_step_bps(&p, u64(rate)) /
				    (1e7 * std::sqrt(rate / 5e8)),
			    1, 0.02)
			<< rate;
}

TEST(TimelyRate, timely_rate_sample__decrease_is_bounded)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.max_decrease_milli = 150;
	e.p.max_high_milli = 500;
	e.feed(60000);
	EXPECT_NEAR(e.feed(160000), 850000000, 10);
	EXPECT_NEAR(e.feed(10000000), 425000000, 10);
}

TEST(TimelyRate, timely_rate_sample__one_decrease_per_round_trip_the_deepest)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.decrease_once = 1;
	e.p.beta_milli = 1000;
	e.feed(500000);
	// Above t_high by 20%, 50%, 20% within one RTT: half, once.
	EXPECT_NEAR(e.feed(625000, 100000), 800000000, 10);
	EXPECT_NEAR(e.feed(1000000, 100000), 500000000, 10);
	EXPECT_NEAR(e.feed(625000, 100000), 500000000, 10);
	// Sent after it: a new one, from the rate of now.
	EXPECT_NEAR(e.feed(1000000, 900000), 250000000, 10);
}

TEST(TimelyRate, timely_rate_sample__draining_queue_is_left_alone)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.high_drain = 1;
	e.feed(900000);
	e.feed(800000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
	EXPECT_EQ(e.out.rate_bps, TIMELY_GBPS);
	e.feed(900000);
	EXPECT_LT(e.out.rate_bps, TIMELY_GBPS);
}

TEST(TimelyRate, timely_rate_sample__beta_high_above_t_high_only)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.beta_high_milli = 400;
	e.feed(1000000);
	EXPECT_NEAR(e.feed(1000000), 800000000, 10);
}

TEST(TimelyRate, timely_rate_sample__hai_needs_its_time)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.hai_low = 1;
	e.p.hai_us = 1000;
	e.feed(30000);
	for (int i = 0; i < 9; i++) {
		e.feed(30000);
		ASSERT_EQ(e.out.branch, TIMELY_BRANCH_LOW) << i;
	}
	e.feed(30000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HAI);
	e.feed(600000);
	e.feed(30000, 10000000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_LOW);  // five events still
}

TEST(TimelyRate, timely_rate_sample__hai_off)
{
	Engine e(verbatim(), TIMELY_GBPS);

	e.p.hai_events = 0;
	e.feed(60000);
	for (int i = 0; i < 20; i++) {
		e.feed(60000);
		ASSERT_EQ(e.out.branch, TIMELY_BRANCH_INC);
	}
}

TEST(TimelyRate, timely_rate_sample__rare_events_count_less)
{
	// In round trips of 20 us: at rare_rtts, 16 and 81 times as far apart.
	const std::vector<std::pair<u64, double>> cases = {
		{80000, 1}, {80100, 1}, {1280000, 0.5}, {6480000, 1 / 3.0}};

	for (auto [gap_ns, part] : cases) {
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.scale_updates = 1;
		e.p.scale_max = 3;
		e.p.rare_rtts = 4;
		e.feed(20000);
		e.feed(20000, gap_ns);
		EXPECT_NEAR(e.out.rate_bps - double(TIMELY_GBPS),
			    part * 3 * e.p.delta_bps, 0.001 * e.p.delta_bps)
			<< gap_ns;
	}
}

TEST(TimelyRate, timely_rate_sample__rare_events_start_no_hai)
{
	for (u64 gap_ns : {240000, 240100}) {
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.rare_rtts = 4;
		e.p.hai_low = 1;
		for (int i = 0; i < 20; i++)
			e.feed(20000, gap_ns);
		EXPECT_EQ(e.out.branch == TIMELY_BRANCH_HAI, gap_ns == 240000);
	}
}

TEST(TimelyRate, timely_rate_sample__gradient_stays_within_its_bits)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	e.feed(TIMELY_RTT_MAX_NS);
	EXPECT_GT(e.out.rtt_diff_q, 0);
	e.feed(20000);
	EXPECT_LT(e.out.rtt_diff_q, 0);
}

TEST(TimelyRate, timely_rate_sample__app_limited_grows_above_80_percent_only)
{
	for (u32 acked_bytes : {9900, 10100}) {  // of 12500 in 100 us
		Engine e(verbatim(), TIMELY_GBPS);

		e.p.app_limit_milli = 800;
		e.app_limited = true;
		e.acked_bytes = acked_bytes;
		e.feed(30000);
		e.feed(30000);
		EXPECT_EQ(e.out.rate_bps > TIMELY_GBPS, acked_bytes > 10000);
	}
}

// Bytes of a burst of 1448-byte segments.
u32 burst_bytes(const timely_params &p, u64 rate_bps, u64 calm_us = 0)
{
	timely_state s = {};

	s.rate_bps = rate_bps;
	s.hai_count = calm_us ? 1 : 0;
	s.hai_span_us = calm_us;
	return timely_burst_bytes(&s, &p, 1448);
}

TEST(TimelyRate, timely_burst_bytes__follows_the_rate_in_pairs)
{
	timely_params p = shipped();

	EXPECT_EQ(burst_bytes(p, 1000000), 2 * 1448u);
	EXPECT_EQ(burst_bytes(p, 400 * TIMELY_GBPS), 10 * 1448u);
	for (u64 rate_bps = 1000000; rate_bps < 10 * TIMELY_GBPS;
	     rate_bps += 77777777)
		ASSERT_EQ(burst_bytes(p, rate_bps) % (2 * 1448), 0u);
	p.burst_us = 0;
	EXPECT_EQ(burst_bytes(p, 1000000), 10 * 1448u);
}

TEST(TimelyRate, timely_burst_bytes__grows_while_there_is_no_queue)
{
	timely_params p = shipped();

	// 200 Mbit/s: 40 us are less than a segment, 240 us four, 1 ms seventeen.
	EXPECT_EQ(burst_bytes(p, 200 * TIMELY_MBPS, 10000), 2 * 1448u);
	EXPECT_EQ(burst_bytes(p, 200 * TIMELY_MBPS, 512 * 240), 4 * 1448u);
	p.seg_bytes = 65536;
	EXPECT_EQ(burst_bytes(p, 200 * TIMELY_MBPS, 512 * 1000), 16 * 1448u);
	EXPECT_EQ(burst_bytes(p, 200 * TIMELY_MBPS, TIMELY_HAI_SPAN_MAX_US), 16 * 1448u);
}

TEST(TimelyRate, timely_burst_bytes__a_queue_makes_them_small_at_once)
{
	Engine e(shipped(), 200 * TIMELY_MBPS);

	e.cap_bps = 200 * TIMELY_MBPS;

	for (int i = 0; i < 5000; i++)
		e.feed(20000);
	EXPECT_EQ(timely_burst_bytes(&e.state, &e.p, 1448), 10 * 1448u);
	e.feed(200000);
	EXPECT_EQ(timely_burst_bytes(&e.state, &e.p, 1448), 2 * 1448u);
}

TEST(TimelyRate, timely_burst_bytes__of_the_papers_do_not_grow)
{
	timely_params p = verbatim();

	p.burst_us = 40;
	EXPECT_EQ(burst_bytes(p, 200 * TIMELY_MBPS, 512 * 1000), 2 * 1448u);
}

TEST(TimelyRate, timely_state__fits_its_budget)
{
	EXPECT_LE(sizeof(timely_state), 64u);
}

}  // namespace
