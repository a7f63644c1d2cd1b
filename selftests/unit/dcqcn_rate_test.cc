// SPDX-License-Identifier: GPL-2.0
// The sender of DCQCN by its steps, and at rest against the fluid model of ECNDELAY16.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "selftests/cc/dcqcn_rate.h"

namespace {

constexpr u64 us = 1000, start_ns = 1000000000;

// ECNDELAY16 table 1, at 40 Gbit/s
constexpr dcqcn_params params = {
	.line_bps = 40000000000ULL,
	.floor_bps = 10000000,
	.ai_bps = 40000000,
	.hai_bps = 200000000,
	.cnp_ns = 50 * us,
	.alpha_ns = 55 * us,
	.timer_ns = 55 * us,
	.count_bytes = 10000000,
};

dcqcn_state started()
{
	dcqcn_state s;

	dcqcn_start(&s, &params, start_ns);
	return s;
}

// One whose rate was cut from @bps by a tenth, at start_ns.
dcqcn_state cut(u64 bps)
{
	dcqcn_state s = started();

	s.current_bps = bps;
	s.alpha = DCQCN_ALPHA_ONE / 5;
	dcqcn_marked(&s, &params, start_ns);
	return s;
}

/* Equation 11: the marks a packet with which a flow of @packets_per_s is at rest. */
double resting_marks(double packets_per_s, double packet_bytes)
{
	const double tau = 50e-6, timer = 55e-6 * packets_per_s, bytes = 1e7 / packet_bytes;
	const double ai = 40e6 / 8 / packet_bytes;
	double low = 1e-8, high = 0.5;

	for (int i = 0; i < 200; i++) {
		double p = std::sqrt(low * high), l = std::log1p(-p);
		double a = -std::expm1(tau * packets_per_s * l), alpha = -std::expm1(timer * l);
		double b = p / std::expm1(std::min(-bytes * l, 600.0)), c = std::exp(5 * bytes * l) * b;
		double d = p / std::expm1(-timer * l), e = std::exp(5 * timer * l) * d;

		(a * a * alpha / ((b + d) * (c + e)) < tau * tau * ai * packets_per_s ? low : high) = p;
	}
	return low;
}

// The mean rate of a flow of which each packet is marked with the same probability.
double mean_bps(double marks, u32 packet_bytes)
{
	dcqcn_state s = started();
	std::mt19937_64 random(1);
	std::uniform_real_distribution<> uniform;
	double now_ns = start_ns, sent = 0, since_ns = 0;

	s.current_bps = s.target_bps = 4000000000ULL;
	s.alpha = DCQCN_ALPHA_ONE / 8;
	for (int i = 0; i < 4000000; i++) {
		now_ns += packet_bytes * 8e9 / (double)s.current_bps;
		if (i == 500000)
			since_ns = now_ns;
		sent += since_ns > 0 ? packet_bytes * 8 : 0;
		dcqcn_advance(&s, &params, packet_bytes, (u64)now_ns);
		if (uniform(random) < marks)
			dcqcn_marked(&s, &params, (u64)now_ns);
	}
	return sent * 1e9 / (now_ns - since_ns);
}

}  // namespace

TEST(dcqcn_marked, first_mark__halves_the_line_rate)
{
	dcqcn_state s = started();

	dcqcn_marked(&s, &params, start_ns);
	EXPECT_EQ(s.current_bps, params.line_bps / 2);
	EXPECT_EQ(s.target_bps, params.line_bps);
	EXPECT_EQ(s.alpha, DCQCN_ALPHA_ONE);
}

TEST(dcqcn_marked, second_mark_within_the_period__is_nothing)
{
	dcqcn_state s = cut(10000000000ULL);

	EXPECT_EQ(s.current_bps / 1000, 9000000U);
	dcqcn_marked(&s, &params, start_ns + 50 * us - 1);
	EXPECT_EQ(s.current_bps / 1000, 9000000U);
	dcqcn_marked(&s, &params, start_ns + 50 * us);
	EXPECT_LT(s.current_bps, 8200000000U);
	EXPECT_NEAR((double)s.target_bps, 9e9, 100);
}

TEST(dcqcn_marked, alpha__moves_up_by_g)
{
	dcqcn_state s = cut(10000000000ULL);

	EXPECT_NEAR(s.alpha / (double)DCQCN_ALPHA_ONE, 0.2 + 0.8 / 256, 1e-6);
}

TEST(dcqcn_marked, floor__holds)
{
	dcqcn_state s = started();

	for (int i = 0; i < 100; i++)
		dcqcn_marked(&s, &params, start_ns + i * 50 * us);
	EXPECT_EQ(s.current_bps, params.floor_bps);
}

TEST(dcqcn_advance, alpha__decays_by_g_each_period)
{
	dcqcn_state s = started();

	dcqcn_advance(&s, &params, 0, start_ns + 2 * 55 * us);
	EXPECT_NEAR(s.alpha / (double)DCQCN_ALPHA_ONE, std::pow(255.0 / 256, 2), 1e-6);
}

TEST(dcqcn_advance, five_stages__recover_towards_the_target)
{
	dcqcn_state s = cut(10000000000ULL);

	dcqcn_advance(&s, &params, 0, start_ns + 5 * 55 * us);
	EXPECT_NEAR((double)s.current_bps, 10e9 - 1e9 / 32, 1000);
	EXPECT_EQ(s.target_bps, 10000000000ULL);
}

TEST(dcqcn_advance, sixth_stage__raises_the_target_by_ai)
{
	dcqcn_state s = cut(10000000000ULL);

	dcqcn_advance(&s, &params, 0, start_ns + 6 * 55 * us);
	EXPECT_EQ(s.target_bps, 10000000000ULL + params.ai_bps);
	dcqcn_advance(&s, &params, 0, start_ns + 7 * 55 * us);
	EXPECT_EQ(s.target_bps, 10000000000ULL + 2 * params.ai_bps);
}

TEST(dcqcn_advance, both_counters_beyond_recovery__raise_by_hai)
{
	dcqcn_state s = cut(10000000000ULL);

	for (int i = 0; i < 6; i++)
		dcqcn_advance(&s, &params, params.count_bytes, start_ns);
	EXPECT_EQ(s.target_bps, 10000000000ULL + params.ai_bps);
	dcqcn_advance(&s, &params, 0, start_ns + 6 * 55 * us);
	EXPECT_EQ(s.target_bps, 10000000000ULL + params.ai_bps * 6 + params.hai_bps);
}

TEST(dcqcn_advance, line_rate__is_the_most)
{
	dcqcn_state s = cut(40000000000ULL);

	dcqcn_advance(&s, &params, 0, start_ns + 2000 * 55 * us);
	EXPECT_LE(s.current_bps, params.line_bps);
	EXPECT_EQ(s.target_bps, params.line_bps);
}

TEST(dcqcn_advance, long_idle__ends_and_leaves_no_debt)
{
	dcqcn_state s = started();

	dcqcn_advance(&s, &params, 0, start_ns + 3600ULL * 1000000 * us);
	EXPECT_LT(s.alpha, DCQCN_ALPHA_ONE / 40);
	EXPECT_LT(start_ns + 3600ULL * 1000000 * us - s.ticked_ns, 55 * us);
}

// A fortieth to a half of 40 Gbit/s, as of 40 to 2 flows that share a link.  The model takes the
// target's lead over the rate for independent of the time since the last cut.  Yet the lead is
// largest just after a cut, when no other may follow, so cuts cost less: rates are a fifth higher.
TEST(dcqcn_rate, at_rest__is_a_fifth_above_the_fluid_models)
{
	for (double share : {2, 4, 10, 20, 40}) {
		double bps = 40e9 / share, marks = resting_marks(bps / 8000, 1000);

		EXPECT_NEAR(mean_bps(marks, 1000) / bps, 1.2, 0.05) << share << " flows, marks " << marks;
	}
}
