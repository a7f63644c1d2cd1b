// SPDX-License-Identifier: GPL-2.0
// How a flow finds the base RTT of its path anew: tcp_timely/timely_drain.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr u64 kNowNs = 5000000000;
constexpr u64 kUs = 1000;

struct Drain : testing::Test {
	Drain() : p(shipped())
	{
		timely_path_start(&s, 20 * kUs);
		s.rate_bps = 10 * TIMELY_GBPS;
		timely_path_is_near(&s, kNowNs, 1000000);
	}

	// A sample, as timely_path_sample() counts it.
	void Sample(u64 now_ns, u64 rtt_ns)
	{
		s.path_events++;
		timely_path_drain(&s, &p, now_ns, rtt_ns);
	}

	// Two round trips, and the samples that end it.
	void Ends(u64 begun_ns, u64 rtt_ns)
	{
		Sample(begun_ns + 3 * rtt_ns, rtt_ns);
		Sample(begun_ns + 3 * rtt_ns, rtt_ns);
		EXPECT_FALSE(s.draining);
	}

	timely_params p;
	timely_state s{};
};

TEST_F(Drain, timely_path_drain_bps__two_frames_a_round_trip_and_half_the_rate_at_most)
{
	EXPECT_EQ(timely_path_drain_bps(&p, TIMELY_GBPS, 100 * kUs), 2 * 1538 * 8 * 10000u);
	EXPECT_EQ(timely_path_drain_bps(&p, 100 * TIMELY_MBPS, 100 * kUs), 50 * TIMELY_MBPS);
	EXPECT_EQ(timely_path_drain_bps(&p, p.min_rate_bps, 100 * kUs), p.min_rate_bps);
	EXPECT_EQ(timely_path_drain_bps(&p, TIMELY_GBPS, 0), TIMELY_GBPS / 2);
}

TEST_F(Drain, timely_path_drain__ends_after_two_round_trips_and_two_samples)
{
	timely_path_begin_drain(&s, &p, kNowNs, 20 * kUs);
	EXPECT_TRUE(s.draining);
	EXPECT_LT(s.rate_bps, 2 * TIMELY_GBPS);
	// of data sent before: they do not count, however many they are
	for (int i = 0; i < 10; i++)
		Sample(kNowNs + 30 * kUs, 20 * kUs);
	EXPECT_TRUE(s.draining);
	Sample(kNowNs + 45 * kUs, 20 * kUs);
	EXPECT_TRUE(s.draining);
	Sample(kNowNs + 50 * kUs, 20 * kUs);
	EXPECT_FALSE(s.draining);
	EXPECT_EQ(s.rate_bps, 10 * TIMELY_GBPS);
	EXPECT_EQ(s.drained, 1u);
}

TEST_F(Drain, timely_path_begin_drain__a_base_that_is_not_lost_stays)
{
	timely_path_begin_drain(&s, &p, kNowNs + 1000 * kUs, 500 * kUs);
	EXPECT_EQ(s.base_ns, 20 * kUs);
	EXPECT_FALSE(s.climb);
}

// A start in a queue: the rate of then was too high by as much as the RTT.
TEST_F(Drain, timely_path_end_drain__the_first_takes_the_queue_of_the_start_back)
{
	timely_path_begin_drain(&s, &p, kNowNs, 740 * kUs);
	Ends(kNowNs, 740 * kUs);
	EXPECT_NEAR(double(s.rate_bps), 1e9, 0.02e9);  // 20 and t_high are 74 us
	s.rate_bps = 10 * TIMELY_GBPS;
	timely_path_begin_drain(&s, &p, kNowNs + 5000 * kUs, 740 * kUs);
	Ends(kNowNs + 5000 * kUs, 740 * kUs);
	EXPECT_EQ(s.rate_bps, 10 * TIMELY_GBPS);
}

// The path got longer: the cuts since then were wrong.
TEST_F(Drain, timely_path_end_drain__after_a_lost_base_climbs_to_the_rate_of_then)
{
	u64 later_ns = kNowNs + 300000 * kUs;

	s.rate_bps = 100 * TIMELY_MBPS;
	timely_path_begin_drain(&s, &p, later_ns, 500 * kUs);
	EXPECT_EQ(s.base_ns, 500 * kUs);
	EXPECT_TRUE(s.climb);
	Ends(later_ns, 500 * kUs);
	EXPECT_TRUE(s.climb);
	EXPECT_GT(s.high_rate_bps, 5 * TIMELY_GBPS);
}

// It was a queue: the base that the drain found is less.
TEST_F(Drain, timely_path_end_drain__after_a_queue_climbs_nowhere)
{
	u64 later_ns = kNowNs + 300000 * kUs;

	s.rate_bps = 100 * TIMELY_MBPS;
	timely_path_begin_drain(&s, &p, later_ns, 500 * kUs);
	s.base_ns = 20 * kUs;
	s.drained = 1;
	Ends(later_ns, 500 * kUs);
	EXPECT_FALSE(s.climb);
	EXPECT_EQ(s.rate_bps, 100 * TIMELY_MBPS);
}

TEST_F(Drain, timely_path_leave_drain__gives_the_rate_back)
{
	timely_path_leave_drain(&s);
	EXPECT_EQ(s.rate_bps, 10 * TIMELY_GBPS);
	timely_path_begin_drain(&s, &p, kNowNs, 20 * kUs);
	s.climb = 1;
	timely_path_leave_drain(&s);
	EXPECT_FALSE(s.draining);
	EXPECT_FALSE(s.climb);
	EXPECT_EQ(s.rate_bps, 10 * TIMELY_GBPS);
}

}  // namespace
