// SPDX-License-Identifier: GPL-2.0
// The standing queue that a base has in it, by round trips: sch_onramp/onramp_standing_queue.h

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "include/turnpike_base.h"
#include "sch_onramp/onramp_standing_queue.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kMs = 1000000;
constexpr u64 kSecond = 1000000000;

// A flow that begins while a queue stands, with the queue's least known to the host.
class StandingQueue : public ::testing::Test {
 protected:
	void SetUp() override
	{
		standing_.samples = 0;
		tp_base_init(&base_);
	}

	// Largest error of the queueing delay in the last millisecond of `ms'.
	u64 Run(int ms, u64 low_us, u64 high_us, u64 back_us, double drift_us_per_s = 0)
	{
		u64 worst = 0, end = now_ + ms * kMs;

		while (now_ < end) {
			u64 queue = (low_us + random_() % (high_us - low_us + 1)) * kUs;
			u64 back = random_() % 8 ? random_() % (back_us + 1) * kUs : 0;
			s64 raw = s64(7 * kMs + queue) + s64(drift_us_per_s * 1e-6 * now_);
			u64 got = tp_base_sample(&base_, now_, raw);
			u64 standing = onramp_standing_queue_sample(&standing_, now_, queue + back,
								    got);

			if (standing)
				tp_base_lower(&base_, standing);
			got += standing;
			if (end - now_ < kMs)
				worst = std::max(worst, got < queue ? queue - got : got - queue);
			now_ += 50 * kUs;
		}
		return worst;
	}

	std::mt19937 random_{11};
	tp_base base_;
	onramp_standing_queue standing_;
	u64 now_ = 17 * kSecond;
};

TEST_F(StandingQueue, latecomer__finds_the_standing_queue)
{
	EXPECT_GT(Run(5, 40, 80, 0), 30 * kUs);
	EXPECT_LE(Run(40, 40, 80, 0), 2 * ONRAMP_STANDING_QUEUE_NOISE_NS);
}

TEST_F(StandingQueue, latecomer_with_queue_on_the_way_back__finds_it_too)
{
	Run(20, 40, 80, 100);
	EXPECT_LE(Run(40, 40, 80, 100), 2 * ONRAMP_STANDING_QUEUE_NOISE_NS);
}

TEST_F(StandingQueue, standing_for_seconds__does_not_become_the_base)
{
	Run(20, 0, 80, 0);
	EXPECT_LE(Run(9000, 40, 80, 0), 2 * ONRAMP_STANDING_QUEUE_NOISE_NS);
}

TEST_F(StandingQueue, clocks_drift__delay_stays_right)
{
	Run(3000, 0, 80, 50, 50);
	EXPECT_LE(Run(3000, 40, 80, 50, 50), 10 * kUs);
}

TEST_F(StandingQueue, true_base__is_let_be)
{
	Run(10, 0, 80, 100);
	s64 line = base_.line_raw_ns;

	Run(400, 0, 80, 100);
	EXPECT_GE(base_.line_raw_ns, line - s64(ONRAMP_STANDING_QUEUE_NOISE_NS));
}

TEST(onramp_standing_queue_sample, few_samples__no_verdict)
{
	onramp_standing_queue s = {};

	for (int i = 0; i < ONRAMP_STANDING_QUEUE_SAMPLES - 1; i++)
		EXPECT_EQ(onramp_standing_queue_sample(&s, kSecond * (1 + i), 90 * kUs, 0), 0u);
	EXPECT_EQ(onramp_standing_queue_sample(&s, kSecond * 100, 90 * kUs, 0), 90 * kUs);
}

// The delay over the base may be the larger one: drift that is not seen yet.
TEST(onramp_standing_queue_sample, less_than_nothing__is_nothing)
{
	onramp_standing_queue s = {};

	for (int i = 0; i < 100; i++)
		EXPECT_EQ(onramp_standing_queue_sample(&s, kSecond + i * kMs, 10 * kUs, 90 * kUs),
			  0u);
}

}  // namespace
