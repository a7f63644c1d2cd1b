// SPDX-License-Identifier: GPL-2.0
#include <cmath>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "selftests/vrack/vr_walk.h"

namespace {

constexpr u64 STEP_PS = VR_WALK_STEP_PS;

vr_walk begun(u64 seed, u32 sigma_ppb, u32 tau_ms, u64 ps = 0)
{
	vr_walk w = {};

	vr_walk_begin(&w, seed, sigma_ppb, tau_ms, ps);
	return w;
}

/* The rate of each step in ppb, as the clock shows it. */
std::vector<double> rates(vr_walk &w, u64 steps)
{
	std::vector<double> out;
	s64 before = vr_walk_ahead_fs(&w, 0);

	for (u64 k = 1; k <= steps; k++) {
		s64 now = vr_walk_ahead_fs(&w, k * STEP_PS);

		out.push_back((now - before) / 1e3);	/* fs in 1 ms are 10^-12 */
		before = now;
	}
	return out;
}

double covariance(const std::vector<double> &v, size_t lag)
{
	double sum = 0;

	for (size_t i = lag; i < v.size(); i++)
		sum += v[i] * v[i - lag];
	return sum / (v.size() - lag);
}

} // namespace

TEST(vr_walk, long_run__variance_and_memory_are_those_asked_for)
{
	for (u32 tau_ms : {10, 100}) {
		vr_walk w = begun(7, 100, tau_ms);
		/* 10000 independent rates: 1.4 % of the variance on deviation */
		std::vector<double> v = rates(w, 20000ULL * tau_ms);
		double a = 1 - 1.0 / tau_ms;

		EXPECT_NEAR(covariance(v, 0), 1e4, 600) << tau_ms;
		EXPECT_NEAR(covariance(v, tau_ms) / covariance(v, 0), std::pow(a, tau_ms), 0.05)
			<< tau_ms;
		for (double rate : v)
			ASSERT_LE(std::fabs(rate), 1000) << tau_ms;
	}
}

TEST(vr_walk, first_rate__is_of_the_same_deviation)
{
	double sum = 0;

	for (u64 seed = 0; seed < 4000; seed++) {
		vr_walk w = begun(seed, 100, 1000000);
		double rate = rates(w, 1)[0];

		sum += rate * rate;
	}
	EXPECT_NEAR(sum / 4000, 1e4, 900);	/* four times 2.2 % */
}

TEST(vr_walk, same_seed__same_walk_however_it_is_asked)
{
	vr_walk often = begun(3, 500, 50), seldom = begun(3, 500, 50), other = begun(4, 500, 50);

	rates(often, 5000);
	EXPECT_EQ(vr_walk_ahead_fs(&often, 5000 * STEP_PS), vr_walk_ahead_fs(&seldom, 5000 * STEP_PS));
	EXPECT_NE(vr_walk_ahead_fs(&often, 5000 * STEP_PS), vr_walk_ahead_fs(&other, 5000 * STEP_PS));
}

TEST(vr_walk, the_past__is_what_it_was)
{
	vr_walk w = begun(9, 10000, 10);
	std::vector<s64> seen;

	for (u64 k = 0; k < 1000; k++)
		seen.push_back(vr_walk_ahead_fs(&w, k * STEP_PS + STEP_PS / 3));
	for (u64 k = 1000 - VR_WALK_KEPT; k < 1000; k++)
		EXPECT_EQ(vr_walk_ahead_fs(&w, k * STEP_PS + STEP_PS / 3), seen[k]) << k;
}

TEST(vr_walk, at_the_end_of_a_step__no_jump)
{
	vr_walk w = begun(5, 10000, 10);

	for (u64 k = 1; k < 2000; k++) {
		s64 before = vr_walk_ahead_fs(&w, k * STEP_PS - 1);
		s64 after = vr_walk_ahead_fs(&w, k * STEP_PS);

		/* 60 ppm of a picosecond, and rounding */
		ASSERT_LE(std::llabs(after - before), 2) << k;
	}
}

TEST(vr_walk, changed_or_ended__the_clock_does_not_step)
{
	u64 ps = 1234 * STEP_PS + 567890123;
	vr_walk w = begun(5, 10000, 10);
	s64 ahead = vr_walk_ahead_fs(&w, ps);

	ASSERT_NE(ahead, 0);
	vr_walk_begin(&w, 6, 300, 1000, ps);
	EXPECT_NEAR(vr_walk_ahead_fs(&w, ps), ahead, 1);
	vr_walk_begin(&w, 6, 0, 1000, ps);
	EXPECT_NEAR(vr_walk_ahead_fs(&w, ps), ahead, 2);
	EXPECT_EQ(vr_walk_ahead_fs(&w, 9999 * STEP_PS), vr_walk_ahead_fs(&w, ps));
}

TEST(vr_walk, none__is_nowhere)
{
	vr_walk w = begun(1, 0, 1000);

	EXPECT_EQ(vr_walk_ahead_fs(&w, 0), 0);
	EXPECT_EQ(vr_walk_ahead_fs(&w, 86400000 * STEP_PS), 0);
}
