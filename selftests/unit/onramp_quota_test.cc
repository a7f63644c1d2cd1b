// SPDX-License-Identifier: GPL-2.0
// Which namespace's flows have control blocks: sch_onramp/onramp_quota.h

#include <gtest/gtest.h>

#include "sch_onramp/onramp_quota.h"

namespace {

// Takes all that the namespace may have; returns how many it has.
u32 Fill(u32 &own, u32 &others)
{
	while (onramp_quota_has(false, own, others, ONRAMP_CTL_MAX)) {
		own++;
		others++;
	}
	return own;
}

TEST(onramp_quota_has, first_namespace__whatever_others_have)
{
	EXPECT_TRUE(onramp_quota_has(true, ONRAMP_CTL_MAX - 1, ONRAMP_CTL_MAX, ONRAMP_CTL_MAX));
	EXPECT_FALSE(onramp_quota_has(true, ONRAMP_CTL_MAX, 0, ONRAMP_CTL_MAX));
}

TEST(onramp_quota_has, one_of_the_others__leaves_half)
{
	u32 own = 0, others = 0;

	EXPECT_EQ(Fill(own, others), ONRAMP_CTL_MAX / 2);
}

TEST(onramp_quota_has, many_that_take_all__leave_some_to_who_comes)
{
	u32 others = 0, last = 0;

	for (int i = 0; i < 10; i++) {
		u32 own = 0;

		last = Fill(own, others);
	}
	EXPECT_GE(last, ONRAMP_CTL_MAX >> 10);
	EXPECT_LT(others, ONRAMP_CTL_MAX);
}

TEST(onramp_quota_has, full__is_full)
{
	EXPECT_FALSE(onramp_quota_has(false, 0, ONRAMP_CTL_MAX, ONRAMP_CTL_MAX));
	EXPECT_FALSE(onramp_quota_has(false, 0, ~u32{0}, ONRAMP_CTL_MAX));
}

// The limit may be lowered below what there is.
TEST(onramp_quota_has, limit_below_what_there_is__none)
{
	EXPECT_FALSE(onramp_quota_has(true, 9, 0, 8));
	EXPECT_FALSE(onramp_quota_has(false, 0, 9, 8));
	EXPECT_FALSE(onramp_quota_has(false, 0, 0, 0));
	EXPECT_TRUE(onramp_quota_has(false, 3, 4, 8));
}

}  // namespace
