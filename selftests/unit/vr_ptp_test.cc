// SPDX-License-Identifier: GPL-2.0
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "selftests/vrack/vr_ptp.h"

namespace {

constexpr u64 SEC_NS = 1000000000;

u64 at(const vr_ptp &ptp, u64 count_ns)
{
	u64 frac;

	return vr_ptp_at(&ptp, count_ns, &frac);
}

s64 scaled(double ppm)
{
	return std::lround(ppm * 65536);
}

} // namespace

TEST(vr_ptp_at, never_steered__counts_as_the_counter)
{
	vr_ptp ptp;

	vr_ptp_init(&ptp, 5, 1000 * SEC_NS);
	EXPECT_EQ(at(ptp, 5), 1000 * SEC_NS);
	EXPECT_EQ(at(ptp, 5 + 86400 * SEC_NS), 87400 * SEC_NS);
}

TEST(vr_ptp_at, before_it_was_set__goes_back)
{
	vr_ptp ptp;

	vr_ptp_init(&ptp, 1000, 500000);
	EXPECT_EQ(at(ptp, 400), 499400U);
	vr_ptp_steer(&ptp, 1000, scaled(1000));
	EXPECT_EQ(at(ptp, 999), 499998U);	/* 499998.999 */
	EXPECT_EQ(at(ptp, 1), 499000U);		/* 499000.001 */
}

TEST(vr_ptp_steer, 50_ppm_for_a_day__4_32_s)
{
	vr_ptp ptp;

	vr_ptp_init(&ptp, 0, 10 * SEC_NS);
	vr_ptp_steer(&ptp, 0, scaled(50));
	EXPECT_NEAR((double)at(ptp, 86400 * SEC_NS) - 10e9, 86404.32e9, 1.0);
	vr_ptp_steer(&ptp, 0, scaled(-50));
	EXPECT_NEAR((double)at(ptp, 86400 * SEC_NS) - 10e9, 86395.68e9, 1.0);
}

TEST(vr_ptp_steer, the_finest_step__is_heard)
{
	vr_ptp ptp;

	vr_ptp_init(&ptp, 0, 0);
	vr_ptp_steer(&ptp, 0, 1);	/* 15.26e-12 */
	EXPECT_EQ(at(ptp, 1000 * SEC_NS), 1000 * SEC_NS + 15);
}

TEST(vr_ptp_steer, the_most__is_right_to_a_nanosecond)
{
	vr_ptp ptp;

	vr_ptp_init(&ptp, 0, 0);
	vr_ptp_steer(&ptp, 0, scaled(VR_PTP_MAX_PPB / 1000));
	EXPECT_NEAR((double)at(ptp, SEC_NS), 1e9 + VR_PTP_MAX_PPB, 1.0);
}

TEST(vr_ptp_steer, many_times__the_time_has_no_step_and_loses_nothing)
{
	std::mt19937_64 random(1);
	long double expect_ns = 7;
	u64 count_ns = 3, last_ns;
	vr_ptp ptp;
	s64 rate = 0;

	vr_ptp_init(&ptp, count_ns, 7);
	for (int i = 0; i < 100000; i++) {
		u64 run_ns = random() % SEC_NS;

		expect_ns += run_ns * (1 + rate / 65536e6L);
		count_ns += run_ns;
		last_ns = at(ptp, count_ns);
		rate = (s64)(random() % scaled(2000)) - scaled(1000);
		vr_ptp_steer(&ptp, count_ns, rate);
		ASSERT_EQ(at(ptp, count_ns), last_ns);
		ASSERT_NEAR((double)(last_ns - expect_ns), -0.5, 0.6 + i * 1e-5);
	}
}

TEST(vr_ptp_set, steered__keeps_its_rate)
{
	vr_ptp ptp;

	vr_ptp_init(&ptp, 0, 0);
	vr_ptp_steer(&ptp, 0, scaled(100));
	vr_ptp_set(&ptp, SEC_NS, 42);
	EXPECT_EQ(at(ptp, SEC_NS), 42U);
	EXPECT_NEAR((double)at(ptp, 2 * SEC_NS), 1000100042.0, 1.0);
}
