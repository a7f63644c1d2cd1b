// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <random>

#include "selftests/vrack/vr_queue_rules.h"

namespace {

vr_admission admission()
{
	vr_admission a = {};

	a.buffer_bytes = 1000000;
	a.frame_bytes = 1518;
	a.alpha_milli = 1000;
	a.color = VR_RED;
	return a;
}

}  // namespace

TEST(vr_police_pass, bucket__passes_its_burst_and_then_its_rate)
{
	struct vr_police p = {1000000000, 15000, 0};
	const u64 frame_ps = 1500 * 8 * 1000;	// at 1 Gbit/s
	int passed = 0;

	for (int i = 0; i < 20; i++)
		passed += vr_police_pass(&p, 1500, 1000000);
	EXPECT_EQ(passed, 10);
	EXPECT_FALSE(vr_police_pass(&p, 1500, 1000000 + frame_ps - 1));
	EXPECT_TRUE(vr_police_pass(&p, 1500, 1000000 + frame_ps));
	EXPECT_FALSE(vr_police_pass(&p, 64, 1000000 + frame_ps));

	// Frames of 10 Gbit/s for 10 ms: the burst and a tenth of them.
	p = {1000000000, 15000, 0};
	passed = 0;
	for (int i = 0; i < 8333; i++)
		passed += vr_police_pass(&p, 1500, i * frame_ps / 10);
	EXPECT_EQ(passed, 10 + 833);
}

TEST(vr_police_pass, idle_time__fills_the_bucket_once)
{
	struct vr_police p = {1000000000, 3000, 0};
	int passed = 0;

	for (int i = 0; i < 3; i++)
		passed += vr_police_pass(&p, 1500, 0);
	for (int i = 0; i < 5; i++)
		passed += vr_police_pass(&p, 1500, VR_PS_PER_SEC);
	EXPECT_EQ(passed, 4);
}

TEST(vr_police_pass, without_a_rate__passes_all)
{
	struct vr_police p = {};

	for (int i = 0; i < 1000; i++)
		ASSERT_TRUE(vr_police_pass(&p, 9018, 0));
}

TEST(vr_admit, empty_switch__admits)
{
	vr_admission a = admission();

	EXPECT_EQ(vr_admit(&a), VR_ADMIT);
}

TEST(vr_admit, queue_at_alpha_times_free__drops)
{
	vr_admission a = admission();

	a.used_bytes = a.queue_bytes = 500000;
	EXPECT_EQ(vr_admit(&a), VR_DROP_DT);
	a.queue_bytes = 499999;
	EXPECT_EQ(vr_admit(&a), VR_ADMIT);
	a.alpha_milli = 500;
	EXPECT_EQ(vr_admit(&a), VR_DROP_DT);
	a.alpha_milli = 0;
	EXPECT_EQ(vr_admit(&a), VR_ADMIT);
}

TEST(vr_admit, buffer_full__drops_even_lossless)
{
	vr_admission a = admission();

	a.used_bytes = a.buffer_bytes - a.frame_bytes + 1;
	a.lossless = 1;
	EXPECT_EQ(vr_admit(&a), VR_DROP_BUFFER);
	a.used_bytes--;
	EXPECT_EQ(vr_admit(&a), VR_ADMIT);
}

// Red frames up to the threshold, green ones beyond it.
void expect_color_threshold(vr_admission a)
{
	a.color_k_bytes = 100000;
	a.queue_bytes = 100000 - a.frame_bytes;
	EXPECT_EQ(vr_admit(&a), VR_ADMIT);
	a.queue_bytes++;
	EXPECT_EQ(vr_admit(&a), VR_DROP_COLOR);
	a.color = VR_GREEN;
	EXPECT_EQ(vr_admit(&a), VR_ADMIT);
}

TEST(vr_admit, color_threshold__red_only)
{
	expect_color_threshold(admission());
}

TEST(vr_admit, color_threshold__red_with_pfc_too)
{
	vr_admission a = admission();

	a.lossless = 1;
	a.limit_bytes = 50000;
	expect_color_threshold(a);
	a.alpha_milli = 1;
	expect_color_threshold(a);
}

TEST(vr_admit, fixed_limit__counts_the_frame_itself)
{
	vr_admission a = admission();

	a.limit_bytes = 10000;
	a.queue_bytes = 10000 - a.frame_bytes;
	EXPECT_EQ(vr_admit(&a), VR_ADMIT);
	a.queue_bytes++;
	EXPECT_EQ(vr_admit(&a), VR_DROP_LIMIT);
}

TEST(vr_ecn_mark, step__above_k_only)
{
	vr_ecn e = {};

	e.k_bytes = 80000;
	EXPECT_FALSE(vr_ecn_mark(&e, 80000, 0));
	EXPECT_TRUE(vr_ecn_mark(&e, 80001, ~0U));
}

TEST(vr_ecn_mark, off__never)
{
	vr_ecn e = {};

	EXPECT_FALSE(vr_ecn_mark(&e, ~0U, 0));
}

TEST(vr_ecn_mark, ramp__follows_its_line)
{
	vr_ecn e = {};
	std::mt19937 random(1);

	e.kmin_bytes = 100000;
	e.kmax_bytes = 400000;
	e.pmax_milli = 800;
	for (u64 queue : {100000ULL, 175000ULL, 250000ULL, 399999ULL}) {
		double expected = 0.8 * (double)(queue - 100000) / 300000;
		int marks = 0;

		for (int i = 0; i < 200000; i++)
			marks += vr_ecn_mark(&e, queue, random());
		EXPECT_NEAR(marks / 200000.0, expected, 0.005) << queue;
	}
	EXPECT_TRUE(vr_ecn_mark(&e, 400000, ~0U));
}

TEST(vr_pfc, hysteresis__between_xon_and_xoff_nothing)
{
	EXPECT_EQ(vr_pfc(100, 100, 50, 0), VR_PFC_NONE);
	EXPECT_EQ(vr_pfc(101, 100, 50, 0), VR_PFC_XOFF);
	EXPECT_EQ(vr_pfc(51, 100, 50, 1), VR_PFC_NONE);
	EXPECT_EQ(vr_pfc(50, 100, 50, 1), VR_PFC_XON);
}

namespace {

vr_pi pi_marker()
{
	vr_pi pi = {};

	pi.ref_bytes = 50000;
	pi.k1_micro = 2000;
	pi.k2_milli = 2000;
	pi.error = -(1 << VR_PI_ERROR_SHIFT);
	return pi;
}

double probability(const vr_pi &pi)
{
	return (double)pi.mark / (double)VR_PI_ONE;
}

}  // namespace

TEST(vr_pi_update, queue_at_its_reference__leaves_p)
{
	vr_pi pi = pi_marker();

	pi.mark = VR_PI_ONE / 100;
	pi.error = 0;
	vr_pi_update(&pi, 50000, VR_PI_PERIOD_PS);
	EXPECT_EQ(pi.mark, VR_PI_ONE / 100);
}

TEST(vr_pi_update, growth__counts_by_k1_and_what_stands_by_k2)
{
	vr_pi pi = pi_marker();

	// e from -1 to 1 in 10 us
	vr_pi_update(&pi, 100000, VR_PI_PERIOD_PS);
	EXPECT_NEAR(probability(pi), 0.002 * 2 + 2 * 1 * 10e-6, 1e-8);
	vr_pi_update(&pi, 100000, 2 * VR_PI_PERIOD_PS);
	EXPECT_NEAR(probability(pi), 0.002 * 2 + 2 * 1 * 20e-6, 1e-8);
}

TEST(vr_pi_update, before_its_period__does_nothing)
{
	vr_pi pi = pi_marker();

	vr_pi_update(&pi, 100000, VR_PI_PERIOD_PS - 1);
	EXPECT_EQ(pi.mark, 0);
}

TEST(vr_pi_update, bounds__none_and_all)
{
	vr_pi pi = pi_marker();

	vr_pi_update(&pi, 0, VR_PI_PERIOD_PS);
	EXPECT_EQ(pi.mark, 0);
	pi.k1_micro = pi.k2_milli = 1000000;
	vr_pi_update(&pi, ~0U, 1ULL << 60);
	EXPECT_EQ(pi.mark, VR_PI_ONE);
	EXPECT_TRUE(vr_pi_mark(&pi, ~0U));
	pi.mark = 0;
	EXPECT_FALSE(vr_pi_mark(&pi, 0));
}
