// SPDX-License-Identifier: GPL-2.0
// The longest time without a packet: sch_onramp/onramp_bound.h

#include <gtest/gtest.h>

#include "sch_onramp/onramp_bound.h"

namespace {

constexpr u64 kMax = 1000;

TEST(Bound, hold__ends_when_the_rules_say)
{
	onramp_bound bound = {};

	EXPECT_EQ(onramp_bound_hold(&bound, 10, 500, kMax), 500u);
	EXPECT_EQ(onramp_bound_hold(&bound, 500, 500, kMax), 500u);
}

TEST(Bound, hold__is_cut_at_the_bound)
{
	onramp_bound bound = {};

	EXPECT_EQ(onramp_bound_hold(&bound, 10, 5000, kMax), 10 + kMax);
}

TEST(Bound, hold__that_starts_again_and_again_ends)
{
	onramp_bound bound = {};
	u64 now = 10;

	// Every hold is short, and each time there is another.
	for (u32 i = 0; i < 1000 && onramp_bound_hold(&bound, now, now + 7, kMax) > now; i++)
		now += 7;
	EXPECT_GE(now, 10 + kMax);
	EXPECT_LT(now, 10 + kMax + 7);
}

TEST(Bound, hold__counts_anew_once_a_packet_left)
{
	onramp_bound bound = {};

	EXPECT_EQ(onramp_bound_hold(&bound, 10, 5000, kMax), 10 + kMax);
	onramp_bound_sent(&bound);
	EXPECT_EQ(onramp_bound_hold(&bound, 900, 5000, kMax), 900 + kMax);
}

TEST(Bound, hold__none_starts_no_count)
{
	onramp_bound bound = {};

	EXPECT_EQ(onramp_bound_hold(&bound, 10, 10, kMax), 10u);
	EXPECT_EQ(onramp_bound_hold(&bound, 800, 5000, kMax), 800 + kMax);
}

}  // namespace
