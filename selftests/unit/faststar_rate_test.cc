// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "selftests/cc/faststar_rate.h"

namespace {

constexpr faststar_params params = {
	.line_bps = 10000000000ULL,
	.floor_bps = 1000000,
	.alpha_bps = 50000000,
	.gamma_milli = 500,
};

}  // namespace

TEST(faststar_rate, empty_queue__adds_gamma_alpha)
{
	EXPECT_EQ(faststar_rate(&params, 500000000, 20, 20), 525000000U);
}

TEST(faststar_rate, fixed_point__rtt_is_d_r_over_r_minus_alpha)
{
	// 500 Mbit/s and alpha 50: 18 us * 500 / 450
	EXPECT_EQ(faststar_rate(&params, 500000000, 18, 20), 500000000U);
}

TEST(faststar_rate, long_queue__falls_towards_the_share_of_the_base_rtt)
{
	EXPECT_EQ(faststar_rate(&params, 1000000000, 20, 200), 575000000U);
}

TEST(faststar_rate, small_rate__doubles_at_most)
{
	EXPECT_EQ(faststar_rate(&params, 2000000, 20, 20), 4000000U);
}

TEST(faststar_rate, bounds__line_and_floor)
{
	faststar_params none = params;

	EXPECT_EQ(faststar_rate(&params, 9990000000ULL, 20, 20), params.line_bps);
	none.alpha_bps = 0;
	EXPECT_EQ(faststar_rate(&none, 1000000, 1, 1000), 1000000U);
}
