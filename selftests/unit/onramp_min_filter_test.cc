// SPDX-License-Identifier: GPL-2.0
// The least of a delay's samples: sch_onramp/onramp_min_filter.h

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sch_onramp/onramp_min_filter.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kMs = 1000000;
constexpr u64 kSecond = 1000000000;

TEST(onramp_min_filter_sample, many__least_of_five_to_ten_seconds)
{
	std::mt19937 random(3);
	onramp_min_filter f;
	std::vector<std::pair<u64, u64>> seen;

	onramp_min_filter_init(&f);
	for (u64 now = kSecond; now < 60 * kSecond; now += 20 * kMs) {
		u64 rtt = 20 * kUs + random() % (1000 * kUs);
		u64 got, least_five = ~0ULL, least_ten = ~0ULL;

		seen.emplace_back(now, rtt);
		got = onramp_min_filter_sample(&f, now, rtt);
		for (auto [time, value] : seen) {
			if (now - time <= 5 * kSecond)
				least_five = std::min(least_five, value);
			if (now - time <= 10 * kSecond + 20 * kMs)
				least_ten = std::min(least_ten, value);
		}
		EXPECT_LE(got, least_five);
		EXPECT_GE(got, least_ten);
	}
}

TEST(onramp_min_filter_sample, after_idling__what_was_is_forgotten)
{
	onramp_min_filter f;

	onramp_min_filter_init(&f);
	EXPECT_EQ(onramp_min_filter_sample(&f, kSecond, 20 * kUs), 20 * kUs);
	EXPECT_EQ(onramp_min_filter_sample(&f, 60 * kSecond, 90 * kUs), 90 * kUs);
}

TEST(onramp_min_filter_raise, what_was__is_of_another_path)
{
	onramp_min_filter f;

	onramp_min_filter_init(&f);
	onramp_min_filter_sample(&f, kSecond, 20 * kUs);
	onramp_min_filter_sample(&f, 7 * kSecond, 30 * kUs);
	onramp_min_filter_raise(&f, 150 * kUs);
	EXPECT_EQ(onramp_min_filter_sample(&f, 7 * kSecond + 1, 160 * kUs), 150 * kUs);
	EXPECT_EQ(onramp_min_filter_sample(&f, 7 * kSecond + 2, 120 * kUs), 120 * kUs);
	onramp_min_filter_raise(&f, 100 * kUs);
	EXPECT_EQ(onramp_min_filter_sample(&f, 7 * kSecond + 3, 160 * kUs), 120 * kUs);
}

}  // namespace
