// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "selftests/vrack/vr_hist.h"

TEST(vr_hist, index__is_within_one_percent_everywhere)
{
	std::mt19937_64 random(1);

	for (int i = 0; i < 1000000; i++) {
		u64 ns = random() >> (64 - 1 - random() % VR_HIST_OCTAVES);
		u32 index = vr_hist_index(ns);
		u64 low = vr_hist_floor(index), high = vr_hist_floor(index + 1);

		ASSERT_LE(low, ns);
		ASSERT_GT(high, ns);
		ASSERT_LE((double)(high - 1 - low), 0.01 * (double)low) << ns;
	}
}

TEST(vr_hist, index__buckets_leave_no_gap)
{
	for (u32 i = 0; i + 1 < VR_HIST_BUCKETS; i++) {
		EXPECT_EQ(vr_hist_index(vr_hist_floor(i)), i);
		EXPECT_EQ(vr_hist_index(vr_hist_floor(i + 1) - 1), i);
	}
}

TEST(vr_hist, index__largest_values_share_the_last_bucket)
{
	EXPECT_EQ(vr_hist_index(~0ULL), VR_HIST_BUCKETS - 1);
	EXPECT_EQ(vr_hist_index(1ULL << VR_HIST_OCTAVES), VR_HIST_BUCKETS - 1);
}

TEST(vr_hist, add__count_sum_and_maximum_are_exact)
{
	auto h = std::make_unique<vr_hist>();

	for (u64 ns : {0ULL, 7ULL, 1000ULL, 123456789ULL})
		vr_hist_add(h.get(), ns);
	EXPECT_EQ(h->count, 4U);
	EXPECT_EQ(h->sum_ns, 123457796U);
	EXPECT_EQ(h->max_ns, 123456789U);
}
