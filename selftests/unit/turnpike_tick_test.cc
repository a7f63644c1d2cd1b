// SPDX-License-Identifier: GPL-2.0
// What a peer's timestamps count: include/turnpike_tick.h

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "include/turnpike_tick.h"

namespace {

constexpr double kUsPerS = 1e6;

// A peer whose clock makes so many ticks a second, and ACKs that wait on their way.
class Peer {
 public:
	explicit Peer(double ticks_per_s, double begin_us = 1e9)
		: ticks_per_s_(ticks_per_s), begin_us_(begin_us), now_us_(begin_us) {}

	// An ACK after @step_us that waited @back_us
	tp_tick_unit Ack(double step_us, double back_us = 0)
	{
		now_us_ += step_us;
		double theirs = (now_us_ - back_us) / kUsPerS * ticks_per_s_ + 3e9;

		return tp_tick_sample(&tick_, (u32)(u64)now_us_, (u32)(u64)std::floor(theirs));
	}

	double PassedUs() const { return now_us_ - begin_us_; }

 private:
	double ticks_per_s_, begin_us_, now_us_;
	tp_tick tick_ = {};
};

tp_tick_unit After(double ticks_per_s, double step_us, double seconds)
{
	tp_tick_unit unit = TP_TICK_UNKNOWN;
	Peer peer(ticks_per_s);

	while (peer.PassedUs() < seconds * kUsPerS)
		unit = peer.Ack(step_us);
	return unit;
}

TEST(Tick, us__known_after_ten_milliseconds)
{
	Peer peer(1e6);

	peer.Ack(0);
	while (peer.Ack(100) == TP_TICK_UNKNOWN)
		ASSERT_LT(peer.PassedUs(), 2 * TP_TICK_WATCH_US);
	EXPECT_NEAR(peer.PassedUs(), TP_TICK_WATCH_US, 200);
	EXPECT_EQ(peer.Ack(100), TP_TICK_US);
}

TEST(Tick, coarse__known_after_forty_milliseconds)
{
	for (double ticks_per_s : {0., 1., 10., 100., 250., 1000.}) {
		Peer peer(ticks_per_s);

		peer.Ack(0);
		while (peer.Ack(100) == TP_TICK_UNKNOWN)
			ASSERT_LT(peer.PassedUs(), 10 * TP_TICK_WATCH_US) << ticks_per_s;
		EXPECT_NEAR(peer.PassedUs(), TP_TICK_COARSE_TIMES * TP_TICK_WATCH_US, 1000) << ticks_per_s;
		EXPECT_EQ(peer.Ack(100), TP_TICK_COARSE) << ticks_per_s;
	}
}

TEST(Tick, any__acks_that_come_seldom)
{
	for (double step_us : {1e4, 1e5, 1e6, 6e7}) {
		EXPECT_EQ(After(1e6, step_us, step_us * 1e-6 * 10), TP_TICK_US) << step_us;
		EXPECT_EQ(After(1e3, step_us, step_us * 1e-6 * 10), TP_TICK_COARSE) << step_us;
	}
}

TEST(Tick, other__is_neither)
{
	for (double ticks_per_s : {5e4, 2.5e5, 1e7, 1e9})
		EXPECT_EQ(After(ticks_per_s, 100, 1), TP_TICK_UNKNOWN) << ticks_per_s;
}

TEST(Tick, us__clocks_that_drift_and_wrap)
{
	for (double ticks_per_s : {0.99e6, 1e6, 1.01e6}) {
		Peer peer(ticks_per_s, 4294967296. - 5000);
		tp_tick_unit unit = TP_TICK_UNKNOWN;

		for (int i = 0; i < 200; i++)
			unit = peer.Ack(100);
		EXPECT_EQ(unit, TP_TICK_US) << ticks_per_s;
	}
}

// ACKs that are kept back and come all at once, again and again.
TEST(Tick, us__way_back_that_stalls)
{
	for (double stall_us : {5e3, 1.1e4, 5e4, 1e6}) {
		Peer peer(1e6);

		for (int stall = 0; stall < 20; stall++) {
			for (double back_us = stall_us; back_us > 0; back_us -= 50)
				ASSERT_NE(peer.Ack(back_us == stall_us ? stall_us : 0, back_us),
					  TP_TICK_COARSE) << stall_us;
		}
	}
}

// A queue on the way back that grows by any rate that a line leaves: @share of it is ACKs'.
TEST(Tick, us__way_back_that_fills)
{
	for (double share : {0.02, 0.1, 0.5, 0.9}) {
		double back_us = 0;
		Peer peer(1e6);

		while (peer.PassedUs() < 2e5) {
			ASSERT_NE(peer.Ack(100, back_us), TP_TICK_COARSE) << share;
			back_us += 100 * (1 - share);
		}
	}
}

TEST(Tick, us__queues_that_come_and_go)
{
	std::mt19937 random(3);

	for (int run = 0; run < 1000; run++) {
		Peer peer(1e6);
		tp_tick_unit unit = TP_TICK_UNKNOWN;

		for (int i = 0; i < 2000; i++) {
			unit = peer.Ack(random() % 200, random() % 30000);
			ASSERT_NE(unit, TP_TICK_COARSE);
		}
		ASSERT_EQ(unit, TP_TICK_US);
	}
}

TEST(Tick, verdict__is_final)
{
	for (double ticks_per_s : {1e3, 1e6}) {
		tp_tick tick = {};
		u32 now_us = 0, tsval = 0;
		tp_tick_unit unit = TP_TICK_UNKNOWN;

		while (unit == TP_TICK_UNKNOWN) {
			now_us += 1000;
			tsval += (u32)(ticks_per_s / 1000);
			unit = tp_tick_sample(&tick, now_us, tsval);
		}
		std::mt19937 random(4);
		for (int i = 0; i < 100000; i++)
			ASSERT_EQ(tp_tick_sample(&tick, random(), random()), unit);
	}
}

}  // namespace
