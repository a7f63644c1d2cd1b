// SPDX-License-Identifier: GPL-2.0
// What one event asks for: tcp_timely/timely_decide.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr u64 kLowNs = 50000;
constexpr u64 kHighNs = 500000;
constexpr s64 kUs = 1000LL << TIMELY_DIFF_SHIFT;

timely_path Path()
{
	timely_path path{};

	path.base_ns = 20000;
	path.low_ns = kLowNs;
	path.high_ns = kHighNs;
	path.unit_ns = 20000;
	return path;
}

timely_verdict Judged(const timely_params &p, u64 rtt_ns, s64 diff_q)
{
	timely_path path = Path();
	timely_verdict v{};
	timely_state s{};

	s.rate_bps = TIMELY_GBPS;
	s.prev_rtt_ns = rtt_ns;
	s.rtt_diff_q = diff_q;
	timely_judge(&s, &p, &path, rtt_ns, 20000, &v);
	return v;
}

TEST(TimelyDecide, timely_judge__thresholds_choose_the_branch)
{
	timely_params p = verbatim(), patched = verbatim(TIMELY_VARIANT_PATCHED);

	EXPECT_EQ(Judged(p, kLowNs - 1, kUs).branch, TIMELY_BRANCH_LOW);
	EXPECT_EQ(Judged(p, kLowNs, kUs).branch, TIMELY_BRANCH_DEC);
	EXPECT_EQ(Judged(p, kHighNs, kUs).branch, TIMELY_BRANCH_DEC);
	EXPECT_EQ(Judged(p, kHighNs + 1, -kUs).branch, TIMELY_BRANCH_HIGH);
	EXPECT_EQ(Judged(p, kLowNs, 0).branch, TIMELY_BRANCH_INC);
	EXPECT_EQ(Judged(p, kLowNs, -kUs).branch, TIMELY_BRANCH_INC);
	EXPECT_EQ(Judged(patched, kLowNs - 1, kUs).branch, TIMELY_BRANCH_LOW);
	EXPECT_EQ(Judged(patched, kLowNs, kUs).branch, TIMELY_BRANCH_BLEND);
	EXPECT_EQ(Judged(patched, kHighNs + 1, kUs).branch, TIMELY_BRANCH_HIGH);
}

// Algorithm 1: beta times the gradient.
TEST(TimelyDecide, timely_judge_gradient__cuts_by_the_slope)
{
	timely_params p = verbatim();
	timely_verdict v = Judged(p, kLowNs, 5 * kUs);	// 5 us in 20

	EXPECT_EQ(v.up_bps, 0u);
	EXPECT_EQ(v.down_q, TIMELY_ONE / 4 * p.beta_milli / 1000);
	v = Judged(p, kLowNs, -5 * kUs);
	EXPECT_EQ(v.up_bps, p.delta_bps);
	EXPECT_EQ(v.down_q, 0u);
}

TEST(TimelyDecide, timely_high_factor_q__grows_with_the_queue_above_the_threshold)
{
	timely_params p = verbatim();
	timely_path path = Path();

	EXPECT_EQ(timely_high_factor_q(&p, &path, kHighNs), 0u);
	EXPECT_EQ(timely_high_factor_q(&p, &path, 2 * kHighNs), TIMELY_ONE / 2 * p.beta_milli / 1000);
	p.beta_high_milli = 250;
	EXPECT_EQ(timely_high_factor_q(&p, &path, 2 * kHighNs), TIMELY_ONE / 8);
}

TEST(TimelyDecide, timely_judge_high__lets_a_falling_queue_fall)
{
	timely_params p = shipped();

	p.path_law = 0;
	EXPECT_EQ(Judged(p, 2 * kHighNs, -5 * kUs).down_q, 0u);
	EXPECT_EQ(Judged(p, 2 * kHighNs, 0).down_q, TIMELY_ONE / 2 * p.beta_high_milli / 1000);
	p.high_drain = 0;
	EXPECT_EQ(Judged(p, 2 * kHighNs, -5 * kUs).down_q, TIMELY_ONE / 2 * p.beta_high_milli / 1000);
}

TEST(TimelyDecide, timely_drain_weight_q__is_none_at_a_quarter_of_the_drain_rate)
{
	EXPECT_EQ(timely_drain_weight_q(0), TIMELY_ONE);
	EXPECT_EQ(timely_drain_weight_q(-(s64)TIMELY_ONE / 8), TIMELY_ONE / 2);
	EXPECT_EQ(timely_drain_weight_q(-(s64)TIMELY_ONE / 4), 0u);
	EXPECT_EQ(timely_drain_weight_q(-(s64)TIMELY_ONE), 0u);
}

// Equation 30 of ECNDELAY16.
TEST(TimelyDecide, timely_blend_weight_q__is_a_line_between_quarters)
{
	EXPECT_EQ(timely_blend_weight_q(-(s64)TIMELY_ONE), 0u);
	EXPECT_EQ(timely_blend_weight_q(-(s64)TIMELY_ONE / 8), TIMELY_ONE / 4);
	EXPECT_EQ(timely_blend_weight_q(0), TIMELY_ONE / 2);
	EXPECT_EQ(timely_blend_weight_q((s64)TIMELY_ONE / 8), TIMELY_ONE * 3 / 4);
	EXPECT_EQ(timely_blend_weight_q((s64)TIMELY_ONE), TIMELY_ONE);
}

TEST(TimelyDecide, timely_blend_factor_q__is_the_error_by_weight)
{
	timely_params p = verbatim(TIMELY_VARIANT_PATCHED);

	EXPECT_EQ(timely_blend_factor_q(&p, kLowNs, kLowNs, TIMELY_ONE), 0u);
	EXPECT_EQ(timely_blend_factor_q(&p, kLowNs, 2 * kLowNs, TIMELY_ONE),
		  TIMELY_ONE * p.beta_milli / 1000);
	EXPECT_EQ(timely_blend_factor_q(&p, kLowNs, 2 * kLowNs, TIMELY_ONE / 2),
		  TIMELY_ONE / 2 * p.beta_milli / 1000);
	EXPECT_EQ(timely_blend_factor_q(&p, 0, kLowNs, TIMELY_ONE), 0u);
}

TEST(TimelyDecide, timely_bounded_q__a_thousand_is_no_bound)
{
	EXPECT_EQ(timely_bounded_q(3 * TIMELY_ONE, 1000), 3 * TIMELY_ONE);
	EXPECT_EQ(timely_bounded_q(3 * TIMELY_ONE, 500), TIMELY_ONE / 2);
	EXPECT_EQ(timely_bounded_q(TIMELY_ONE / 4, 500), TIMELY_ONE / 4);
}

TEST(TimelyDecide, timely_bound_by_queue__no_cut_takes_more_than_the_queue)
{
	timely_params p = shipped();
	timely_path path = Path();
	timely_verdict v{};
	auto cut = [&](u64 rtt_ns) {
		v.down_q = TIMELY_ONE / 2;
		v.bound_milli = 1000;
		timely_bound_by_queue(&p, &path, rtt_ns, &v);
		return v.down_q;
	};

	path.base_ns = 300000;
	EXPECT_EQ(cut(400000), TIMELY_ONE / 4);
	EXPECT_EQ(cut(900000), TIMELY_ONE / 2);
	EXPECT_EQ(cut(200000), 0u);
	p.path_law = 0;
	EXPECT_EQ(cut(400000), TIMELY_ONE / 2);
}

// On a long path, by a steep gradient: 2 % of queue are at most 2 % of the rate.
TEST(TimelyDecide, timely_judge__is_bounded_by_the_queue)
{
	timely_params p = shipped();
	timely_path path = Path();
	timely_verdict v{};
	timely_state s{};

	path.base_ns = 490000;
	path.low_ns = 495000;
	path.high_ns = 525000;
	s.rtt_diff_q = 20 * kUs;
	timely_judge(&s, &p, &path, 500000, 20000, &v);
	EXPECT_EQ(v.branch, TIMELY_BRANCH_DEC);
	EXPECT_EQ(v.down_q, TIMELY_ONE / 50);
}

// A slow flow: one empty sample after the other, and any other begins anew.
TEST(TimelyDecide, timely_judge_slow__takes_more_after_empty_samples_in_a_row)
{
	timely_params p = shipped();
	timely_path path = Path();
	timely_state s{};
	auto up = [&](u64 rtt_ns) {
		timely_verdict v{};

		timely_judge_slow(&s, &p, &path, rtt_ns, 800000, &v);
		return v.up_bps;
	};

	s.rate_bps = 30000000;
	for (int i = 1; i < TIMELY_SLOW_EVENTS; i++)
		EXPECT_EQ(up(20000), 0u);
	EXPECT_EQ(up(20000), 30000000u >> TIMELY_SLOW_SHIFT);
	EXPECT_EQ(up(kLowNs - 1), 0u);
	EXPECT_EQ(up(20000), 0u);
}

}  // namespace
