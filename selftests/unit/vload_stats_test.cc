// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace vload;

TEST(vload_stats, percentile__interpolates_between_ranks)
{
	std::vector<double> values = {10, 20, 30, 40};

	EXPECT_DOUBLE_EQ(stats_percentile(values, 0), 10);
	EXPECT_DOUBLE_EQ(stats_percentile(values, 0.5), 25);
	EXPECT_DOUBLE_EQ(stats_percentile(values, 0.9), 37);
	EXPECT_DOUBLE_EQ(stats_percentile(values, 1), 40);
}

TEST(vload_stats, percentile__single_value)
{
	EXPECT_DOUBLE_EQ(stats_percentile({7}, 0.999), 7);
}

TEST(vload_stats, percentile__quantile_out_of_range)
{
	EXPECT_DOUBLE_EQ(stats_percentile({1, 2}, -1), 1);
	EXPECT_DOUBLE_EQ(stats_percentile({1, 2}, 2), 2);
}

TEST(vload_stats, summarize__sorts)
{
	std::vector<double> values(1001);
	std::iota(values.rbegin(), values.rend(), 0);
	Summary s = stats_summarize(values);

	EXPECT_EQ(s.count, 1001u);
	EXPECT_DOUBLE_EQ(s.mean, 500);
	EXPECT_DOUBLE_EQ(s.min, 0);
	EXPECT_DOUBLE_EQ(s.p50, 500);
	EXPECT_DOUBLE_EQ(s.p90, 900);
	EXPECT_DOUBLE_EQ(s.p99, 990);
	EXPECT_DOUBLE_EQ(s.p999, 999);
	EXPECT_DOUBLE_EQ(s.max, 1000);
}

TEST(vload_stats, summarize__nothing)
{
	EXPECT_EQ(stats_summarize({}).count, 0u);
}

TEST(vload_stats, jain__equal_shares)
{
	EXPECT_DOUBLE_EQ(*stats_jain({5, 5, 5, 5}), 1);
}

TEST(vload_stats, jain__one_takes_all)
{
	EXPECT_DOUBLE_EQ(*stats_jain({8, 0, 0, 0}), 0.25);
}

TEST(vload_stats, jain__seven_and_three)
{
	EXPECT_NEAR(*stats_jain({7, 3}), 100.0 / 116.0, 1e-12);
}

TEST(vload_stats, jain__nothing_moved)
{
	EXPECT_FALSE(stats_jain({}));
	EXPECT_FALSE(stats_jain({0, 0}));
}
