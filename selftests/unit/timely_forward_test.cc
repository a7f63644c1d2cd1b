// SPDX-License-Identifier: GPL-2.0
// The RTT less the queue of the way back: tcp_timely/timely_forward.h
//
// The reference is a path of which everything is known, in double precision: two queues,
// and a receiver's clock with an offset, a drift and a tick of its own.

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tcp_timely/timely_forward.h"

namespace {

constexpr double kEmptyUs = 10;		// each way without queues
constexpr double kStepUs = 100;		// between two ACKs

class Path {
 public:
	double drift_us_per_s = 0;
	double ticks_per_us = 1;	// of the receiver's clock
	double offset_us = 3e8;
	double now_us = 1e9;		// ours

	// An ACK that met these queues; the signal less the least RTT. Negative: not known.
	double Ack(double there_us, double back_us)
	{
		double left_us = now_us - kEmptyUs - back_us;
		double theirs_us = left_us + offset_us + drift_us_per_s * left_us * 1e-6;
		double rtt_us = 2 * kEmptyUs + there_us + back_us;
		timely_forward_ack ack;
		u64 back_ns = 0;

		ack.now_ns = std::llround(now_us * 1e3);
		ack.now_us = ack.now_ns / 1000;
		ack.tsval = (u32)(u64)std::floor(theirs_us * ticks_per_us);
		ack.excess_us = (u32)std::floor(rtt_us) - (u32)(2 * kEmptyUs);
		known = timely_forward_back(&forward, &ack, &back_ns);
		now_us += kStepUs;
		return known ? there_us + back_us - back_ns * 1e-3 : -1;
	}

	void Watch()
	{
		for (int i = 0; i < 200 && !known; i++)
			Ack(0, 0);
	}

	timely_forward forward = {};
	bool known = false;
};

// Queues that come and go, each by itself: the errors of the signal after a while.
struct Errors {
	double low = 0, high = 0;	// the worst
	double mean = 0;		// of their sizes
};

Errors Traffic(Path &path, double seconds, double settle_s)
{
	double begin_us = path.now_us;
	std::mt19937 random(5);
	Errors errors;
	int count = 0;

	while (path.now_us < begin_us + seconds * 1e6) {
		double there_us = random() % 3 ? random() % 60000 * 1e-3 : 0;
		double back_us = random() % 3 ? random() % 90000 * 1e-3 : 0;
		double signal_us = path.Ack(there_us, back_us);

		if (path.now_us < begin_us + settle_s * 1e6)
			continue;
		EXPECT_TRUE(path.known);
		errors.low = std::min(errors.low, signal_us - there_us);
		errors.high = std::max(errors.high, signal_us - there_us);
		errors.mean += std::abs(signal_us - there_us);
		count++;
	}
	errors.mean /= count;
	return errors;
}

TEST(TimelyForward, back__is_the_queue_of_the_way_back)
{
	Path path;
	Errors errors = Traffic(path, 20, 0.1);

	EXPECT_GT(errors.low, -1);
	EXPECT_LT(errors.high, 1);
}

TEST(TimelyForward, back__clocks_that_drift)
{
	for (double drift_us_per_s : {-100., -20., 20., 100.}) {
		Path path;

		path.drift_us_per_s = drift_us_per_s;
		// Until drift is seen minima of a second ago are taken as they were. What
		// they are off shows with the next empty path.
		Errors begin = Traffic(path, 2, 0.1);
		EXPECT_GT(begin.low, -1 - std::abs(drift_us_per_s)) << drift_us_per_s;
		EXPECT_LT(begin.high, 1 + std::abs(drift_us_per_s)) << drift_us_per_s;
		EXPECT_LT(begin.mean, 2) << drift_us_per_s;
		Errors later = Traffic(path, 20, 4);
		EXPECT_GT(later.low, -5) << drift_us_per_s;
		EXPECT_LT(later.high, 5) << drift_us_per_s;
		EXPECT_LT(later.mean, 2) << drift_us_per_s;
	}
}

TEST(TimelyForward, back__timestamps_that_wrap)
{
	Path path;

	path.offset_us = 4294967296. - 1e9 - 5e6;
	Errors errors = Traffic(path, 10, 0.1);
	EXPECT_GT(errors.low, -1);
	EXPECT_LT(errors.high, 1);
}

TEST(TimelyForward, back__our_clock_that_wraps)
{
	Path path;

	path.now_us = 4294967296. - 5e6;
	Errors errors = Traffic(path, 10, 0.1);
	EXPECT_GT(errors.low, -1);
	EXPECT_LT(errors.high, 1);
}

TEST(TimelyForward, back__peers_clock_is_set)
{
	for (double step_us : {-1e7, -10000., 10000., 1e7}) {
		Path path;

		Traffic(path, 2, 0.1);
		path.offset_us += step_us;
		Errors errors = Traffic(path, 2, 0.2);
		EXPECT_GT(errors.low, -3) << step_us;
		EXPECT_LT(errors.high, 3) << step_us;
	}
}

// What makes timely_patched's queue no part of the path.
TEST(TimelyForward, back__queue_that_never_empties_on_the_way_there_counts)
{
	std::mt19937 random(6);
	Path path;

	path.Watch();
	for (int i = 0; i < 600000; i++) {
		double there_us = 50 + random() % 20;

		ASSERT_NEAR(path.Ack(there_us, random() % 2 ? random() % 90 : 0), there_us, 1);
	}
}

TEST(TimelyForward, back__queue_that_never_empties_on_the_way_back_counts_in_the_end)
{
	std::mt19937 random(7);
	double last_us = 0;
	Path path;

	path.Watch();
	for (int i = 0; i < 100000; i++) {
		double back_us = 50 + random() % 40;

		last_us = path.Ack(10, back_us);
		// half a second of it does not
		if (i < 4900) {
			ASSERT_NEAR(last_us, 10, 1);
		}
		ASSERT_LT(last_us, 11 + back_us);
	}
	EXPECT_GT(last_us, 55);
}

// An ACK sent ahead of its time, as TCP paces: the base it leaves lasts no longer than
// until the queue there is short.
TEST(TimelyForward, back__timestamp_ahead_of_its_time)
{
	Path path;

	Traffic(path, 2, 0.1);
	path.offset_us += 30;
	path.Ack(40, 0);
	path.offset_us -= 30;
	EXPECT_NEAR(path.Ack(40, 0), 10, 1.5);
	path.Ack(0, 0);
	EXPECT_NEAR(path.Ack(40, 0), 40, 2.5);
}

TEST(TimelyForward, watch__ten_milliseconds)
{
	Path path;
	double begin_us = path.now_us;

	path.Watch();
	EXPECT_TRUE(path.known);
	EXPECT_NEAR(path.now_us - begin_us, TP_TICK_WATCH_US, 2 * kStepUs);
}

TEST(TimelyForward, watch__other_units_are_never_used)
{
	for (double ticks_per_us : {0., 1e-3, 4e-3, 0.25, 4., 1000.}) {
		Path path;

		path.ticks_per_us = ticks_per_us;
		for (int i = 0; i < 100000; i++) {
			path.Ack(i % 50, i % 70);
			ASSERT_FALSE(path.known) << ticks_per_us;
		}
	}
}

TEST(TimelyForward, watch__queues_of_milliseconds_do_not_hide_the_unit)
{
	Path path;

	for (int i = 0; i < 1000; i++)
		path.Ack(0, i % 20 * 200);
	EXPECT_TRUE(path.known);
}

TEST(TimelyForward, back__any_input__stays_within_the_round_trip)
{
	std::mt19937_64 random(9);
	timely_forward forward = {};
	u64 now_ns = 1000000000;
	u32 tsval = 0;

	for (int i = 0; i < 1000000; i++) {
		bool wild = random() % 16 == 0;
		timely_forward_ack ack;
		u64 back_ns;

		now_ns += random() % (wild ? 1ULL << 36 : 100000);
		tsval += random() % (wild ? 1ULL << 32 : 100);
		ack.now_ns = now_ns;
		ack.now_us = now_ns / 1000;
		ack.tsval = tsval;
		ack.excess_us = random() % 2000;
		if (timely_forward_back(&forward, &ack, &back_ns)) {
			ASSERT_LE(back_ns, ack.excess_us * 1000ULL + TP_BASE_TICKS_NS);
		}
	}
}

}  // namespace
