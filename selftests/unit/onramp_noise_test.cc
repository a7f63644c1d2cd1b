// SPDX-License-Identifier: GPL-2.0
// Delay of late hosts against delay of a queue: sch_onramp/onramp_noise.h
#include <gtest/gtest.h>

#include "sch_onramp/onramp_noise.h"

namespace {

constexpr u64 kUs = 1000;
constexpr u64 kThreshold = 50 * kUs;
constexpr u64 kRtt = 200 * kUs;

class Noise : public ::testing::Test {
protected:
	// What the flow is judged by when @delay comes @gap after the last.
	u64 Judged(u64 delay, u64 gap = 5 * kUs, u64 paused = 0)
	{
		onramp_delay d = { delay, note_ += paused };

		onramp_noise_sample(&n_, kThreshold, now_ += gap, kRtt, &d);
		return d.delay_ns;
	}

	// Interrupts that come late by @late, over a queue of @queue.
	u64 Wave(u64 late, u64 queue = 0, u64 step = 10 * kUs)
	{
		u64 judged = 0;

		for (u64 left = late;; left -= step) {
			judged = Judged(queue + left);
			if (left < step)
				return judged;
		}
	}

	onramp_noise n_ = {};
	u64 now_ = 1000 * kUs;
	u64 note_ = 0;
};

TEST_F(Noise, no_noise__each_delay_counts)
{
	for (u64 i = 0; i < 1000; i++)
		EXPECT_EQ(Judged(50 * kUs + i % 20 * kUs), 50 * kUs + i % 20 * kUs);
	EXPECT_FALSE(n_.on);
}

TEST_F(Noise, waves__are_judged_by_their_end)
{
	for (int i = 0; i < 32; i++)
		Wave(100 * kUs);
	EXPECT_TRUE(n_.on);
	EXPECT_EQ(Judged(300 * kUs), 0u);
}

TEST_F(Noise, waves__show_the_queue_below_them)
{
	for (int i = 0; i < 32; i++)
		Wave(100 * kUs, 70 * kUs);
	EXPECT_EQ(Judged(300 * kUs), 70 * kUs);
}

TEST_F(Noise, queue__that_grows_is_seen_after_one_wave)
{
	for (int i = 0; i < 32; i++)
		Wave(100 * kUs);
	EXPECT_EQ(Wave(100 * kUs, 400 * kUs), 0u);
	Judged(600 * kUs);
	EXPECT_EQ(Judged(590 * kUs), 400 * kUs);
}

TEST_F(Noise, few_waves__are_not_enough)
{
	for (int i = 0; i < 8; i++)
		Wave(100 * kUs);
	EXPECT_FALSE(n_.on);
	EXPECT_EQ(Judged(300 * kUs), 300 * kUs);
}

TEST_F(Noise, small_waves__are_none)
{
	for (int i = 0; i < 64; i++)
		Wave(kThreshold);
	EXPECT_FALSE(n_.on);
}

// A queue that grows by small steps may fall by much.
TEST_F(Noise, slow_rise__is_none)
{
	for (int i = 0; i < 64; i++) {
		for (u64 queue = 0; queue <= 100; queue += 25)
			Judged(queue * kUs);
		for (u64 queue = 100; queue > 0; queue -= 25)
			Judged((queue - 25) * kUs);
	}
	EXPECT_FALSE(n_.on);
}

// An incast again and again: all stop, and the queue falls by as much as each was paused.
TEST_F(Noise, fall__that_a_pause_made_is_a_queue)
{
	for (int i = 0; i < 64; i++) {
		Judged(0);
		Judged(300 * kUs);
		for (u64 left = 300; left; left -= 50)
			EXPECT_EQ(Judged((left - 50) * kUs, 50 * kUs, 50 * kUs), (left - 50) * kUs);
	}
	EXPECT_FALSE(n_.on);
}

TEST_F(Noise, rise__alone_is_a_queue)
{
	for (u64 i = 0; i < 64; i++)
		Judged(i * 100 * kUs);
	EXPECT_FALSE(n_.on);
}

// A round trip without a jump counts against it, and the flow is judged by each delay again.
TEST_F(Noise, end__after_some_quiet_round_trips)
{
	for (int i = 0; i < 32; i++)
		Wave(100 * kUs);
	EXPECT_TRUE(n_.on);
	for (int i = 0; i < 64; i++)
		Judged(10 * kUs, kRtt);
	EXPECT_FALSE(n_.on);
	EXPECT_EQ(Judged(300 * kUs), 300 * kUs);
}

TEST_F(Noise, least__is_forgotten_after_two_round_trips)
{
	for (int i = 0; i < 32; i++)
		Wave(100 * kUs);
	Judged(90 * kUs, kRtt);
	Judged(85 * kUs, kRtt);
	EXPECT_TRUE(n_.on);
	EXPECT_EQ(Judged(80 * kUs, kRtt), 80 * kUs);
}

// Reordered: its packet left before that of the longest delay.
TEST_F(Noise, fall__is_not_taken_from_an_older_packet)
{
	for (int i = 0; i < 64; i++) {
		onramp_delay late = { 100 * kUs, note_ += 20 * kUs }, old = { 0, note_ - 10 * kUs };

		onramp_noise_sample(&n_, kThreshold, now_ += kUs, kRtt, &late);
		onramp_noise_sample(&n_, kThreshold, now_ += kUs, kRtt, &old);
	}
	EXPECT_FALSE(n_.on);
}

} // namespace
