// SPDX-License-Identifier: GPL-2.0
// Base delay and clocks: include/turnpike_base.h

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "include/turnpike_base.h"

namespace {

constexpr u64 kMs = 1000000;
constexpr s64 kUs = 1000;

// A path with a queue that comes and goes, seen through clocks that drift.
class Path {
 public:
	explicit Path(double drift_us_per_s) : drift_(drift_us_per_s) { tp_base_init(&base_); }

	// Samples for so long, a millisecond apart; the largest error of those after the
	// first `settle' milliseconds.
	double Run(int ms, int settle, double offset_us = 0)
	{
		double worst = 0;

		for (int i = 0; i < ms; i++) {
			double queue_us = random_() % 4 ? random_() % 100 : 0;
			s64 raw = std::llround((7e6 + offset_us + drift_ * now_ * 1e-9 + queue_us) * 1e3);
			double got_us = tp_base_sample(&base_, now_, raw) * 1e-3;

			now_ += kMs;
			if (i >= settle)
				worst = std::max(worst, std::abs(got_us - queue_us));
		}
		return worst;
	}

	void Idle(int seconds) { now_ += seconds * 1000 * kMs; }

	tp_base base_;
	u64 now_ = 5000 * kMs;

 private:
	double drift_;
	std::mt19937 random_{11};
};

TEST(tp_base_sample, no_drift__finds_the_queue)
{
	EXPECT_LT(Path(0).Run(20000, 100), 1);
}

TEST(tp_base_sample, drift_of_50_us_per_s__is_followed_both_ways)
{
	EXPECT_LT(Path(50).Run(60000, 4000), 10);
	EXPECT_LT(Path(-50).Run(60000, 4000), 10);
	EXPECT_LT(Path(20).Run(60000, 4000), 5);
}

TEST(tp_base_sample, drift_from_the_start__errs_by_less_than_100_us)
{
	EXPECT_LT(Path(50).Run(4000, 0), 100);
}

TEST(tp_base_sample, step_of_10_ms__is_taken_within_a_quarter_second)
{
	Path up(0), down(0);

	up.Run(5000, 0);
	up.Run(250, 250, 10000);
	EXPECT_LT(up.Run(5000, 0, 10000), 101);
	EXPECT_EQ(up.base_.steps, 1u);
	down.Run(5000, 0);
	EXPECT_LT(down.Run(5000, 20, -10000), 1);
}

TEST(tp_base_sample, queue_that_stands_a_second__is_no_base)
{
	Path path(0);
	double least = 1e9;

	path.Run(5000, 0);
	for (int i = 0; i < 1000; i++, path.now_ += kMs) {
		// It moves, as a regulated queue does.
		s64 raw = 7000000 * kUs + (60 + i * 7 % 60) * kUs;

		least = std::min(least, tp_base_sample(&path.base_, path.now_, raw) * 1e-3);
	}
	EXPECT_GE(least, 59);
}

TEST(tp_base_sample, idle_for_hours__begins_anew)
{
	Path path(50);

	path.Run(5000, 0);
	path.Idle(4 * 3600);
	EXPECT_LT(path.Run(10000, 4000), 101);
}

TEST(tp_base_sample, any_input__never_negative_nor_undefined)
{
	std::mt19937_64 random(5);
	tp_base base;
	u64 now = 1;

	tp_base_init(&base);
	for (int i = 0; i < 100000; i++) {
		now += random() % (2000 * kMs);
		u64 queue = tp_base_sample(&base, now, (s64)(random() % (1ULL << 43)) - (1LL << 42));

		ASSERT_LT(queue, 1ULL << 45);
	}
}

TEST(tp_base_sample_rtt, queue_longer_than_the_round_trip__is_another_clock)
{
	tp_base base = {};
	u64 now = 5000 * kMs;

	tp_base_init(&base);
	EXPECT_EQ(tp_base_sample_rtt(&base, now, 0, 20 * kUs), 0u);
	// what another connection took for the base was 80 ms off
	EXPECT_EQ(tp_base_sample_rtt(&base, now + kUs, 80000 * kUs, 30 * kUs), 0u);
	EXPECT_EQ(tp_base_sample_rtt(&base, now + 2 * kUs, 80015 * kUs, 35 * kUs), 15000u);
	EXPECT_EQ(base.steps, 1u);
}

TEST(tp_base_sample_rtt, base_too_short__is_made_longer)
{
	tp_base base = {};
	u64 now = 5000 * kMs;

	tp_base_init(&base);
	tp_base_sample_rtt(&base, now, 50 * kUs, 20 * kUs);
	tp_base_lower(&base, 15 * kUs);
	EXPECT_EQ(tp_base_sample_rtt(&base, now + kUs, 60 * kUs, 20 * kUs), 22000u);
	EXPECT_EQ(tp_base_sample_rtt(&base, now + 2 * kUs, 55 * kUs, 20 * kUs), 17000u);
	EXPECT_EQ(base.steps, 0u);
}

TEST(tp_base_sample_rtt, queue_within_the_round_trip__is_a_queue)
{
	tp_base base = {};
	u64 now = 5000 * kMs;

	tp_base_init(&base);
	for (u64 i = 0; i < 30000; i++) {
		// queues that come and go, of up to 3 ms, and a round trip that is nothing else
		u64 queue_ns = i * 7 % 30 * 100 * kUs;

		now += kMs;
		ASSERT_EQ(tp_base_sample_rtt(&base, now, (s64)queue_ns, queue_ns), queue_ns);
	}
	// ticks at both ends: up to two microseconds more than there is
	EXPECT_EQ(tp_base_sample_rtt(&base, now, 42 * kUs, 40 * kUs), 42 * kUs);
	EXPECT_EQ(base.steps, 0u);
}

}  // namespace
