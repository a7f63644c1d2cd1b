// SPDX-License-Identifier: GPL-2.0
// How large a burst may be: sch_onramp/onramp_burst.h

#include <algorithm>

#include <gtest/gtest.h>

#include "sch_onramp/onramp_burst.h"

namespace {

constexpr u32 kMss = 1448;

TEST(Burst, bytes__are_half_a_threshold_at_the_rate)
{
	// of all thresholds an option can have, at all rates of NICs
	for (u64 threshold_ns = 1000; threshold_ns <= 1000000000; threshold_ns *= 10) {
		for (double rate = 1e6; rate <= 5e10; rate *= 1.7) {
			double exact = rate * threshold_ns / 2e9;

			if (exact < 2 * kMss || exact > ONRAMP_BURST_MAX_BYTES)
				continue;
			EXPECT_NEAR(onramp_burst_bytes(onramp_burst_mult(threshold_ns),
						       static_cast<u64>(rate), kMss),
				    exact, 1 + exact * 1.2e-4);
		}
	}
}

TEST(Burst, bytes__two_segments_at_least)
{
	EXPECT_EQ(onramp_burst_bytes(onramp_burst_mult(50000), 0, kMss), 2 * kMss);
	EXPECT_EQ(onramp_burst_bytes(onramp_burst_mult(1), 1000000, kMss), 2 * kMss);
	EXPECT_EQ(onramp_burst_bytes(0, ~0ULL, kMss), 2 * kMss);
}

TEST(Burst, bytes__what_a_device_takes_at_most)
{
	EXPECT_EQ(onramp_burst_bytes(onramp_burst_mult(1000000000), ~0ULL, kMss), 65536u);
	EXPECT_EQ(onramp_burst_bytes(onramp_burst_mult(50000), 1ULL << 34, kMss), 65536u);
	EXPECT_NEAR(onramp_burst_bytes(onramp_burst_mult(50000), 1250000000, kMss), 31250, 1);
}

TEST(Burst, bytes__mss_of_jumbo_frames)
{
	EXPECT_EQ(onramp_burst_bytes(onramp_burst_mult(50000), 1000, 8948), 2 * 8948u);
	EXPECT_EQ(onramp_burst_bytes(onramp_burst_mult(50000), 1000, 65535), 131070u);
}

TEST(Burst, paused_bytes__a_segment_and_a_quarter_of_a_threshold)
{
	const u64 mult = onramp_burst_mult(50000);

	EXPECT_NEAR(onramp_burst_paused_bytes(mult, 1250000000, kMss), kMss + 15625, 1);
	EXPECT_NEAR(onramp_burst_paused_bytes(mult, 625000000, kMss), kMss + 7812, 1);
	EXPECT_EQ(onramp_burst_paused_bytes(mult, 100000000, kMss), 2 * kMss);
	EXPECT_EQ(onramp_burst_paused_bytes(mult, 0, kMss), 2 * kMss);
	EXPECT_EQ(onramp_burst_paused_bytes(0, ~0ULL, kMss), 2 * kMss);
	EXPECT_EQ(onramp_burst_paused_bytes(onramp_burst_mult(1000000000), ~0ULL, kMss), 65536u);
}

TEST(Burst, rate__of_a_paused_flow_with_more_than_half_is_less)
{
	for (u64 line = 250000; line < 200000000000; line *= 3) {
		const u64 per_line = onramp_burst_per_line(line);

		for (double share = 0; share <= 2; share += 1.0 / 16) {
			double rate = share * line, times = share <= 0.5 ? 1 : 1.5 - std::min(share, 1.0);

			EXPECT_NEAR(onramp_burst_rate(per_line, u64(rate)), rate * times,
				    2 + rate * 1e-3) << share << " of " << line;
		}
	}
}

TEST(Burst, rate__line_not_known)
{
	EXPECT_EQ(onramp_burst_rate(onramp_burst_per_line(0), 123456789), 123456789u);
}

TEST(Burst, alone__with_more_than_seven_eighths_of_the_line)
{
	for (u64 line = 250000; line < 200000000000; line *= 3) {
		const u64 per_line = onramp_burst_per_line(line);

		EXPECT_FALSE(onramp_burst_is_alone(per_line, line / 2)) << line;
		EXPECT_FALSE(onramp_burst_is_alone(per_line, line / 1000 * 870)) << line;
		EXPECT_TRUE(onramp_burst_is_alone(per_line, line / 1000 * 880)) << line;
		EXPECT_TRUE(onramp_burst_is_alone(per_line, 2 * line)) << line;
	}
	EXPECT_FALSE(onramp_burst_is_alone(onramp_burst_per_line(0), 123456789));
}

// Each sends a burst when the queue has gone; their own lines are of 10 Gbit/s.
TEST(Burst, two_flows_in_step__become_equal)
{
	const u64 mult = onramp_burst_mult(50000), per_line = onramp_burst_per_line(1250000000);

	for (double path : {1.25e9, 6.25e8, 3.125e8}) {
		double share = 0.8;

		for (int i = 0; i < 40; i++) {
			u64 rates[] = {u64(share * path), u64((1 - share) * path)};
			double bursts[2];

			for (int j = 0; j < 2; j++)
				bursts[j] = onramp_burst_paused_bytes(
					mult, onramp_burst_rate(per_line, rates[j]), kMss);
			share = bursts[0] / (bursts[0] + bursts[1]);
		}
		EXPECT_NEAR(share, 0.5, 0.01) << path;
	}
}

}  // namespace
