// SPDX-License-Identifier: GPL-2.0
// Fixed-point arithmetic of the rate engine: tcp_timely/timely_math.h.

#include <gtest/gtest.h>

#include "tcp_timely/timely_math.h"

namespace {

TEST(TimelyMath, timely_less__is_never_below_zero)
{
	EXPECT_EQ(timely_less(5, 3), 2u);
	EXPECT_EQ(timely_less(3, 3), 0u);
	EXPECT_EQ(timely_less(3, ~0ULL), 0u);
}

TEST(TimelyMath, timely_within__bounds_both_signs)
{
	EXPECT_EQ(timely_within(7, 10), 7);
	EXPECT_EQ(timely_within(11, 10), 10);
	EXPECT_EQ(timely_within(-11, 10), -10);
}

TEST(TimelyMath, timely_abs__of_the_least_number)
{
	EXPECT_EQ(timely_abs(-3), 3u);
	EXPECT_EQ(timely_abs(INT64_MIN), 1ULL << 63);
}

TEST(TimelyMath, timely_div_away__rounds_away_from_zero)
{
	EXPECT_EQ(timely_div_away(0, 8), 0);
	EXPECT_EQ(timely_div_away(16, 8), 2);
	EXPECT_EQ(timely_div_away(17, 8), 3);
	EXPECT_EQ(timely_div_away(1, 1000), 1);
	EXPECT_EQ(timely_div_away(-1, 1000), -1);
	EXPECT_EQ(timely_div_away(-17, 8), -3);
}

TEST(TimelyMath, timely_sqrt__is_the_root_rounded_down)
{
	EXPECT_EQ(timely_sqrt(0), 0u);
	for (u64 root = 1; root < 1ULL << 32; root = root * 5 / 3 + 1) {
		EXPECT_EQ(timely_sqrt(root * root), root);
		EXPECT_EQ(timely_sqrt(root * root - 1), root - 1);
		EXPECT_EQ(timely_sqrt(root * root + 2 * root), root);
	}
	EXPECT_EQ(timely_sqrt(~0ULL), ~0U);
}

TEST(TimelyMath, timely_part_of__keeps_the_sign)
{
	EXPECT_EQ(timely_part_of(1000, 1, 4), 250);
	EXPECT_EQ(timely_part_of(-1000, 1, 4), -250);
	EXPECT_EQ(timely_part_of(1000, 0, 4), 0);
	EXPECT_EQ(timely_part_of(-1000, 10000000000, 10000000000), -1000);
}

}  // namespace
