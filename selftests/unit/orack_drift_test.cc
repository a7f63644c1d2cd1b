// SPDX-License-Identifier: GPL-2.0
// How far a clock has drifted: sch_onramp/orack/orack_drift.h.

#include <cmath>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_drift.h"

namespace {

constexpr u64 kSecond = 1000000000;

TEST(OrackDrift, orack_drift_ns__is_the_drift_times_the_time)
{
	for (s32 ppt : {-1000000000, -30000000, -1000, 0, 1000, 200000000, 1000000000}) {
		for (u64 ns : {u64(0), u64(1000), kSecond / 100, kSecond, 12 * kSecond, 86400 * kSecond}) {
			double due_ns = double(ppt) * 1e-12 * double(ns);
			double error_ns = 2 + std::fabs(double(ppt)) * 1e-12 * 1024 + 15e-12 * double(ns);

			EXPECT_NEAR(orack_drift_ns(orack_drift_q(ppt), ns), due_ns, error_ns) << ppt << " " << ns;
		}
	}
}

TEST(OrackDrift, orack_drift_ns__is_good_for_a_window)
{
	EXPECT_NEAR(orack_drift_ns(orack_drift_q(30000000), 12 * kSecond), 360000, 1);
	EXPECT_NEAR(orack_drift_ns(orack_drift_q(-30000000), 12 * kSecond), -360000, 1);
	EXPECT_NEAR(orack_drift_ns(orack_drift_q(7000), 12 * kSecond), 84, 2);
}

TEST(OrackDrift, orack_drift_ns__ends_after_a_day)
{
	EXPECT_EQ(orack_drift_ns(orack_drift_q(1000000000), UINT64_MAX), orack_drift_ns(orack_drift_q(1000000000), 86400 * kSecond));
}

}  // namespace
