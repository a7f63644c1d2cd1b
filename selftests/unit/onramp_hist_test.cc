// SPDX-License-Identifier: GPL-2.0
// Histograms of delays: sch_onramp/onramp_hist.h

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sch_onramp/onramp_hist.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kMs = 1000000;
constexpr u64 kStart = 1000000000000000000;

void take(onramp_recent &recent, u64 now_ns, u64 delay_ns)
{
	onramp_recent_sample(&recent, now_ns, onramp_hist_bucket(delay_ns));
}

onramp_percentiles percentiles(const onramp_recent &recent)
{
	onramp_percentiles p;

	onramp_recent_percentiles(&recent, &p);
	return p;
}

// Within the width of a bucket, a fifth at most.
void expect_about(u64 got_ns, u64 ns)
{
	EXPECT_GE(got_ns, ns * 8 / 9) << ns;
	EXPECT_LE(got_ns, ns * 9 / 8) << ns;
}

TEST(Hist, middle__is_in_its_bucket_and_within_a_ninth)
{
	for (u32 i = 0; i < ONRAMP_HIST_BUCKETS; i++)
		EXPECT_EQ(onramp_hist_bucket(onramp_hist_middle_ns(i)), i);
	for (u64 ns = 1024; ns < 900 * kMs; ns += ns / 50)
		expect_about(onramp_hist_middle_ns(onramp_hist_bucket(ns)), ns);
}

TEST(Hist, bucket__never_falls_and_is_bounded)
{
	u32 before = 0;

	for (u64 ns = 0; ns < 2000 * kMs; ns += ns / 100 + 1) {
		EXPECT_GE(onramp_hist_bucket(ns), before);
		before = onramp_hist_bucket(ns);
	}
	EXPECT_EQ(onramp_hist_bucket(0), 0u);
	EXPECT_EQ(onramp_hist_bucket(1023), 0u);
	EXPECT_EQ(onramp_hist_bucket(1024), 1u);
	EXPECT_EQ(onramp_hist_bucket(~0ULL), ONRAMP_HIST_BUCKETS - 1u);
}

TEST(Recent, nothing__is_not_known)
{
	EXPECT_FALSE(percentiles(onramp_recent{}).known);
}

TEST(Recent, one_sample__is_all_percentiles)
{
	onramp_recent recent = {};

	take(recent, kStart, 77 * kUs);
	onramp_percentiles p = percentiles(recent);
	EXPECT_TRUE(p.known);
	expect_about(p.p50_ns, 77 * kUs);
	EXPECT_EQ(p.p50_ns, p.p90_ns);
	EXPECT_EQ(p.p90_ns, p.p99_ns);
}

TEST(Recent, percentiles__are_those_of_the_samples)
{
	std::mt19937 random(1);
	std::exponential_distribution<double> delay_us(0.02);
	std::vector<u64> all;
	onramp_recent recent = {};

	for (int i = 0; i < 3000; i++) {
		all.push_back(1000 + (u64)(delay_us(random) * kUs));
		take(recent, kStart + i * kMs, all.back());
	}
	std::sort(all.begin(), all.end());
	onramp_percentiles p = percentiles(recent);
	expect_about(p.p50_ns, all[1500]);
	expect_about(p.p90_ns, all[2700]);
	expect_about(p.p99_ns, all[2970]);
}

TEST(Recent, tail_of_one_percent__is_seen)
{
	onramp_recent recent = {};

	for (int i = 0; i < 1000; i++)
		take(recent, kStart + i * kMs, i % 50 ? 10 * kUs : 900 * kUs);
	expect_about(percentiles(recent).p90_ns, 10 * kUs);
	expect_about(percentiles(recent).p99_ns, 900 * kUs);
}

TEST(Recent, what_was_long_ago__is_forgotten)
{
	onramp_recent recent = {};
	u64 now = kStart;

	for (int i = 0; i < 1000; i++, now += 10 * kMs)
		take(recent, now, 5 * kMs);
	for (int i = 0; i < 1000; i++, now += 10 * kMs)
		take(recent, now, 20 * kUs);
	// The half as heavy past is a third.
	expect_about(percentiles(recent).p50_ns, 20 * kUs);
	expect_about(percentiles(recent).p90_ns, 5 * kMs);
	for (int i = 0; i < 6000; i++, now += 10 * kMs)
		take(recent, now, 20 * kUs);
	expect_about(percentiles(recent).p99_ns, 20 * kUs);
}

TEST(Recent, silence__leaves_only_what_comes_after)
{
	onramp_recent recent = {};

	for (int i = 0; i < 3000; i++)
		take(recent, kStart, 5 * kMs);
	take(recent, kStart + 3600000 * kMs, 20 * kUs);
	expect_about(percentiles(recent).p50_ns, 20 * kUs);
	expect_about(percentiles(recent).p99_ns, 20 * kUs);
}

TEST(Recent, few_samples__keep_their_tail)
{
	onramp_recent recent = {};

	// One in a second, each tenth long: nothing is lost by halving what is small.
	for (u64 i = 0; i < 60; i++)
		take(recent, kStart + i * 1000 * kMs, i % 10 ? 20 * kUs : 5 * kMs);
	expect_about(percentiles(recent).p50_ns, 20 * kUs);
	expect_about(percentiles(recent).p99_ns, 5 * kMs);
}

TEST(Recent, full_bucket__does_not_wrap)
{
	onramp_recent recent = {};

	// More in a second than a bucket holds, a tenth of them long.
	for (int i = 0; i < 1000000; i++)
		take(recent, kStart + i * kUs, i % 10 ? 20 * kUs : 5 * kMs);
	expect_about(percentiles(recent).p50_ns, 20 * kUs);
	expect_about(percentiles(recent).p99_ns, 5 * kMs);
	EXPECT_LT(recent.weight[onramp_hist_bucket(5 * kMs)],
		  recent.weight[onramp_hist_bucket(20 * kUs)] / 5);
}

}  // namespace
