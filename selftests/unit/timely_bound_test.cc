// SPDX-License-Identifier: GPL-2.0
// Bounds of the rate and of its changes: tcp_timely/timely_bound.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr u64 kNowNs = 1000000000;
constexpr u64 kRttNs = 100000;

TEST(TimelyBound, timely_clamp_rate__cap_and_top_and_least)
{
	timely_params p = shipped();

	EXPECT_EQ(timely_clamp_rate(&p, 0, TIMELY_GBPS), TIMELY_GBPS);
	EXPECT_EQ(timely_clamp_rate(&p, 500 * TIMELY_MBPS, TIMELY_GBPS), 500 * TIMELY_MBPS);
	EXPECT_EQ(timely_clamp_rate(&p, 0, 2 * p.max_rate_bps), p.max_rate_bps);
	EXPECT_EQ(timely_clamp_rate(&p, 0, 0), p.min_rate_bps);
	EXPECT_EQ(timely_clamp_rate(&p, 1, TIMELY_GBPS), p.min_rate_bps);
}

TEST(TimelyBound, timely_above_floor__a_frame_in_eight_longer_round_trips)
{
	timely_params p = shipped();
	timely_sample sample{};

	EXPECT_EQ(timely_above_floor(&p, &sample, 0, 400000), 1538 * 8 * TIMELY_GBPS / (500000 * 8));
	EXPECT_EQ(timely_above_floor(&p, &sample, TIMELY_GBPS, 400000), TIMELY_GBPS);
	sample.frame_bytes = 9038;
	EXPECT_EQ(timely_above_floor(&p, &sample, 0, 400000), 9038 * 8 * TIMELY_GBPS / (500000 * 8));
	p.path_law = 0;
	EXPECT_EQ(timely_above_floor(&p, &sample, 0, 400000), 0u);
}

TEST(TimelyBound, timely_may_grow__app_limited_needs_most_of_its_rate)
{
	timely_params p = shipped();
	timely_state s{};
	timely_sample sample{};
	auto may = [&](u32 bytes, u64 elapsed_ns) {
		sample.acked_bytes = bytes;
		return timely_may_grow(&s, &p, &sample, elapsed_ns);
	};

	s.rate_bps = TIMELY_GBPS;  // 12500 bytes in 100 us
	EXPECT_TRUE(may(0, 100000));
	sample.app_limited = true;
	EXPECT_TRUE(may(10000, 100000));
	EXPECT_FALSE(may(9999, 100000));
	EXPECT_TRUE(may(0, 0));
	p.app_limit_milli = 0;
	EXPECT_TRUE(may(0, 100000));
}

timely_verdict Cut(u64 down_q, u32 bound_milli = 1000)
{
	timely_verdict v{};

	v.down_q = down_q;
	v.bound_milli = bound_milli;
	return v;
}

TEST(TimelyBound, timely_round_cut_bps__takes_the_deepest_of_a_round_trip)
{
	timely_verdict eighth = Cut(TIMELY_ONE / 8), quarter = Cut(TIMELY_ONE / 4);
	timely_state s{};

	s.rate_bps = 800;
	EXPECT_EQ(timely_round_cut_bps(&s, kNowNs, kRttNs, &eighth), 100u);
	s.rate_bps = 700;
	EXPECT_EQ(timely_round_cut_bps(&s, kNowNs + kRttNs, kRttNs, &eighth), 0u);
	EXPECT_EQ(timely_round_cut_bps(&s, kNowNs + kRttNs, kRttNs, &quarter), 100u);
	s.rate_bps = 600;
	EXPECT_EQ(timely_round_cut_bps(&s, kNowNs + kRttNs + 1, kRttNs, &quarter), 150u);
}

TEST(TimelyBound, timely_round_cut_bps__no_event_takes_more_than_its_bound)
{
	timely_verdict v = Cut(TIMELY_ONE, 500);
	timely_state s{};

	s.rate_bps = 1000;
	EXPECT_EQ(timely_round_cut_bps(&s, kNowNs, kRttNs, &v), 500u);
}

TEST(TimelyBound, timely_event_cut_bps__by_weight_and_bound)
{
	timely_verdict v = Cut(TIMELY_ONE / 2), bounded = Cut(TIMELY_ONE / 2, 125);
	timely_state s{};

	s.rate_bps = 1024;
	EXPECT_EQ(timely_event_cut_bps(&s, &v, TIMELY_ONE), 512u);
	EXPECT_EQ(timely_event_cut_bps(&s, &v, 3 * TIMELY_ONE), 512u);
	EXPECT_EQ(timely_event_cut_bps(&s, &v, TIMELY_ONE / 4), 128u);
	EXPECT_EQ(timely_event_cut_bps(&s, &bounded, TIMELY_ONE), 128u);
}

TEST(TimelyBound, timely_apply__grows_and_cuts_within_cap_and_floor)
{
	timely_params p = shipped();
	timely_sample sample{};
	timely_verdict up{}, down = Cut(TIMELY_ONE, 1000);
	timely_state s{};

	up.up_bps = 10 * TIMELY_MBPS;
	s.rate_bps = TIMELY_GBPS;
	sample.now_ns = kNowNs;
	timely_apply(&s, &p, &sample, kRttNs / 2, kRttNs, &up);
	EXPECT_EQ(s.rate_bps, 1005 * TIMELY_MBPS);
	sample.cap_bps = TIMELY_GBPS;
	timely_apply(&s, &p, &sample, kRttNs, kRttNs, &up);
	EXPECT_EQ(s.rate_bps, TIMELY_GBPS);
	timely_apply(&s, &p, &sample, kRttNs, kRttNs, &down);
	EXPECT_EQ(s.rate_bps, 1538 * 8 * TIMELY_GBPS / (200000 * 8));
}

}  // namespace
