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

// Each sends a burst when the queue has gone.
TEST(Burst, two_flows_in_step__become_equal)
{
	const u64 line = 1250000000, per_line = onramp_burst_per_line(line);
	double share = 0.7;

	for (int i = 0; i < 40; i++) {
		double one = onramp_burst_rate(per_line, u64(share * line));
		double other = onramp_burst_rate(per_line, u64((1 - share) * line));

		share = one / (one + other);
	}
	EXPECT_NEAR(share, 0.5, 0.01);
}

}  // namespace
