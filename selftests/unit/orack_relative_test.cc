// SPDX-License-Identifier: GPL-2.0
// Clocks of peers: sch_onramp/orack/orack_relative.h

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_relative.h"

namespace {

constexpr u64 kMs = 1000000;
constexpr u64 kOwdNs = 10000;
constexpr u64 kStepNs = 10 * kMs;

// A path to a peer whose clock is off by anything and drifts. Queues come and go there,
// and on the way back.
class Peer {
 public:
	explicit Peer(double drift_us_per_s = 0, u64 offset_ns = 0x8000000000000000)
		: offset_ns_(offset_ns), drift_(drift_us_per_s)
	{
		orack_relative_init(&clock_);
	}

	// One packet that meets such queues; what the sample says it met.
	u64 Packet(u64 queue_ns, u64 back_ns, u64 lie_ns = 0)
	{
		u64 rx_ns = now_ns_ + kOwdNs + queue_ns + offset_ns_ + lie_ns +
			    static_cast<u64>(std::llround(drift_ * now_ns_ * 1e-6));
		u64 heard_ns = now_ns_ + 2 * kOwdNs + queue_ns + back_ns;

		u64 got = orack_relative_sample(&clock_, 1, heard_ns, now_ns_, rx_ns, queue_ns + back_ns);
		now_ns_ += kMs;
		return got;
	}

	// So many packets; the largest error of those after the first `settle'.
	u64 Run(int packets, int settle)
	{
		u64 worst = 0;

		for (int i = 0; i < packets; i++) {
			u64 queue = random_() % 4 ? random_() % 100000 : 0;
			u64 got = Packet(queue, random_() % 30000);
			if (i >= settle)
				worst = std::max(worst, got > queue ? got - queue : queue - got);
		}
		return worst;
	}

	orack_relative clock_;
	u64 now_ns_ = 5000 * kMs;
	u64 offset_ns_;

 private:
	double drift_;
	std::mt19937 random_{7};
};

TEST(orack_relative_sample, any_offset__finds_the_queue)
{
	for (u64 offset : {0ULL, 1ULL << 63, ~0ULL, ~0ULL - 5000 * kMs, 1700000000000000000ULL})
		EXPECT_LT(Peer(0, offset).Run(10000, 5000), 1000u) << offset;
}

TEST(orack_relative_sample, way_back_was_full_at_first__errs_by_no_more)
{
	EXPECT_LT(Peer().Run(10000, 0), 31000u);
}

TEST(orack_relative_sample, drift_of_50_us_per_s__is_followed_both_ways)
{
	EXPECT_LT(Peer(50).Run(60000, 4000), 10000u);
	EXPECT_LT(Peer(-50).Run(60000, 4000), 10000u);
}

TEST(orack_relative_sample, step_of_10_ms__is_never_a_queue)
{
	for (u64 step : {kStepNs, 0 - kStepNs}) {
		Peer peer(20);

		peer.Run(10000, 0);
		peer.offset_ns_ += step;
		// Not even the first packet shows more than its round trip had in it.
		EXPECT_LT(peer.Run(1000, 0), 101000u + 30000);
		EXPECT_LT(peer.Run(20000, 5000), 10000u);
	}
}

TEST(orack_relative_sample, steps_every_second__survived)
{
	Peer peer(50);
	u64 worst = 0;

	for (int i = 0; i < 60; i++) {
		peer.offset_ns_ += i % 2 ? kStepNs : 0 - kStepNs;
		worst = std::max(worst, peer.Run(1000, 50));
	}
	EXPECT_LT(worst, 101000u + 30000);
}

TEST(orack_relative_sample, other_clock__begins_anew)
{
	Peer peer;

	peer.Run(1000, 0);
	u32 epoch = orack_relative_epoch(&peer.clock_);
	u64 got = orack_relative_sample(&peer.clock_, 2, peer.now_ns_ + 50000, peer.now_ns_, 77, 20000);
	EXPECT_EQ(got, 20000u);
	EXPECT_EQ(peer.clock_.id, 2u);
	EXPECT_NE(orack_relative_epoch(&peer.clock_), epoch);
	EXPECT_TRUE(peer.clock_.known);
}

TEST(orack_relative_sample, begins_in_a_queue__round_trips_tell)
{
	Peer peer;

	EXPECT_EQ(peer.Packet(80000, 0), 80000u);
	EXPECT_EQ(peer.Packet(30000, 0), 30000u);
	EXPECT_EQ(peer.Packet(0, 0), 0u);
}

TEST(orack_relative_sample, lies__show_no_more_than_round_trips_have)
{
	Peer peer;
	std::mt19937_64 random(9);

	peer.Run(1000, 0);
	for (int i = 0; i < 100000; i++) {
		u64 queue = random() % 50000;
		u64 lie = random() % 2 ? random() % (1000 * kMs) : random();

		ASSERT_LE(peer.Packet(queue, 0, lie), queue + ORACK_RELATIVE_NOISE_NS);
	}
	// And honest packets are believed soon after.
	EXPECT_LT(peer.Run(20000, 10000), 10000u);
}

}  // namespace
