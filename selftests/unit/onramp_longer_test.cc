// SPDX-License-Identifier: GPL-2.0
// When a path got longer: sch_onramp/onramp_longer.h

#include <gtest/gtest.h>

#include "include/turnpike_types.h"
#include "sch_onramp/onramp_longer.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kMs = 1000000;
constexpr u64 kT = 50 * kUs;

class Longer : public ::testing::Test {
 protected:
	// Samples of queues between two, one each millisecond: what the way got longer by, in the end.
	u64 Run(u64 ms, u64 low_ns, u64 high_ns)
	{
		u64 by_ns = 0;

		for (u64 i = 0; i < ms && !by_ns; i++) {
			now_ns_ += kMs;
			by_ns = onramp_longer_sample(&longer_, now_ns_, i % 7 ? high_ns : low_ns, kT);
		}
		return by_ns;
	}

	onramp_longer longer_{};
	u64 now_ns_ = 1000 * kMs;
};

TEST_F(Longer, queue_above_the_threshold_for_half_a_second__is_the_way)
{
	u64 begin_ns = now_ns_;

	EXPECT_EQ(Run(1000, 100 * kUs, 180 * kUs), 100 * kUs);
	EXPECT_NEAR(double(now_ns_ - begin_ns), 500.0 * kMs, 2.0 * kMs);
}

TEST_F(Longer, queue_that_comes_below_the_threshold__is_a_queue)
{
	EXPECT_EQ(Run(5000, kT - 1, 900 * kUs), 0u);
}

TEST_F(Longer, queue_of_the_threshold__is_above_it)
{
	EXPECT_EQ(Run(1000, kT, kT), kT);
}

TEST_F(Longer, found_once__is_not_found_again_at_once)
{
	EXPECT_GT(Run(1000, 100 * kUs, 100 * kUs), 0u);
	EXPECT_EQ(Run(499, 100 * kUs, 100 * kUs), 0u);
}

TEST_F(Longer, few_samples__no_verdict)
{
	for (int i = 1; i < ONRAMP_LONGER_SAMPLES; i++)
		EXPECT_EQ(onramp_longer_sample(&longer_, i * 400 * kMs, 90 * kUs, kT), 0u);
	EXPECT_EQ(onramp_longer_sample(&longer_, ONRAMP_LONGER_SAMPLES * 400 * kMs, 90 * kUs, kT),
		  90 * kUs);
}

// What was between the two nobody saw.
TEST_F(Longer, silence__begins_anew)
{
	EXPECT_EQ(Run(400, 100 * kUs, 100 * kUs), 0u);
	now_ns_ += 600 * kMs;
	EXPECT_EQ(Run(400, 100 * kUs, 100 * kUs), 0u);
}

}  // namespace
