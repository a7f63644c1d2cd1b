// SPDX-License-Identifier: GPL-2.0
// When to look for the base RTT: tcp_timely/timely_watch.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr u64 kNowNs = 5000000000;
constexpr u64 kMs = 1000000;
// A tick of the watch is 1.05 ms, one of the drain 4.1 us.
constexpr u64 kTickNs = 1ULL << TIMELY_PATH_TICK_SHIFT;

// Near its base at kNowNs, at 1 Gbit/s.
timely_state Watched(u32 drained = 0)
{
	timely_state s{};

	timely_path_start(&s, 20000);
	s.rate_bps = TIMELY_GBPS;
	s.drained = drained;
	s.drain_tick = timely_drain_tick(kNowNs);
	timely_path_is_near(&s, kNowNs, kMs);
	return s;
}

TEST(TimelyWatch, timely_rate_pack__is_right_to_an_eighth)
{
	for (u64 rate_bps = 8; rate_bps < 1ULL << 40; rate_bps = rate_bps * 9 / 8 + 1) {
		u32 packed = timely_rate_pack(rate_bps);
		u64 rounded_bps = timely_rate_unpack(packed);

		ASSERT_LT(packed, 512u);
		ASSERT_LE(rounded_bps, rate_bps);
		ASSERT_GT(9 * rounded_bps, 8 * rate_bps - 8);
	}
	EXPECT_EQ(timely_rate_unpack(0), 0u);
}

TEST(TimelyWatch, timely_path_origin_ns__short_paths_count_as_twenty_us)
{
	timely_params p = shipped();
	timely_state s{};
	auto origin = [&](u32 base_ns) {
		s.base_ns = base_ns;
		return timely_path_origin_ns(&s, &p);
	};

	EXPECT_EQ(origin(5000), 8000u);
	EXPECT_EQ(origin(18000), 20000u);
	EXPECT_EQ(origin(300000), 300000u);
	p.own_bursts = 0;
	EXPECT_EQ(origin(5000), 20000u);
}

TEST(TimelyWatch, timely_drain_since_ns__over_the_end_of_the_tick)
{
	u64 span_ns = (u64)(TIMELY_DRAIN_TICK_MASK + 1) << TIMELY_DRAIN_TICK_SHIFT;
	timely_state s{};

	s.drain_tick = timely_drain_tick(span_ns - 8192);
	EXPECT_EQ(timely_drain_since_ns(&s, span_ns + 8192), 16384u);
}

TEST(TimelyWatch, timely_path_is_near__in_a_drain_the_rate_before_it_counts)
{
	timely_state s = Watched();

	s.draining = 1;
	s.high_rate_bps = TIMELY_GBPS;
	s.rate_bps = TIMELY_MBPS;
	timely_path_is_near(&s, kNowNs, kMs);
	EXPECT_GT(timely_rate_unpack(s.near_rate), TIMELY_GBPS / 9 * 8);
}

TEST(TimelyWatch, timely_path_is_near__what_it_remembers_rises_by_an_eighth_and_falls_at_once)
{
	timely_state s = Watched();
	u32 packed = s.near_rate;

	s.rate_bps = 8 * TIMELY_GBPS;
	timely_path_is_near(&s, kNowNs, kMs);
	EXPECT_EQ(s.near_rate, packed + 1);
	s.rate_bps = TIMELY_GBPS / 8;
	timely_path_is_near(&s, kNowNs, kMs);
	EXPECT_EQ(s.near_rate, packed - 24);
}

TEST(TimelyWatch, timely_path_is_near__what_it_remembers_rises_once_in_a_round_trip_or_a_tick)
{
	timely_state s = Watched();
	u32 packed = s.near_rate;

	s.rate_bps = 8 * TIMELY_GBPS;
	timely_path_is_near(&s, kNowNs, s.base_ns - 1);
	EXPECT_EQ(s.near_rate, packed);
	timely_path_is_near(&s, kNowNs, s.base_ns);
	EXPECT_EQ(s.near_rate, packed + 1);
	timely_path_is_near(&s, kNowNs + kTickNs, s.base_ns - 1);
	EXPECT_EQ(s.near_rate, packed + 2);
}

TEST(TimelyWatch, timely_path_is_lost__needs_the_time_and_the_rate)
{
	timely_state s = Watched();

	s.rate_bps = TIMELY_GBPS / 8;
	EXPECT_FALSE(timely_path_is_lost(&s, kNowNs + 200 * kMs));
	EXPECT_TRUE(timely_path_is_lost(&s, kNowNs + 250 * kMs + kTickNs));
	s.rate_bps = TIMELY_GBPS / 2;
	EXPECT_FALSE(timely_path_is_lost(&s, kNowNs + 250 * kMs + kTickNs));
}

TEST(TimelyWatch, timely_path_is_lost__on_a_long_path_after_round_trips)
{
	timely_state s = Watched();

	s.base_ns = 10 * kMs;
	s.rate_bps = TIMELY_GBPS / 8;
	EXPECT_FALSE(timely_path_is_lost(&s, kNowNs + 1270 * kMs));
	EXPECT_TRUE(timely_path_is_lost(&s, kNowNs + 1280 * kMs + kTickNs));
}

// From the second drain on it is enough that no sample came near since the one before.
TEST(TimelyWatch, timely_path_is_lost__sooner_while_drains_come_early)
{
	timely_state s = Watched(1);

	s.rate_bps = TIMELY_GBPS / 8;
	EXPECT_FALSE(timely_path_is_lost(&s, kNowNs + 15 * kMs));
	EXPECT_TRUE(timely_path_is_lost(&s, kNowNs + 16 * kMs + kTickNs));
}

TEST(TimelyWatch, timely_path_wants_drain__each_four_times_later_then_once_a_second)
{
	for (u32 drained = 0; drained <= TIMELY_PATH_DRAINS; drained++) {
		timely_state s = Watched(drained);
		u64 due_ns = drained < TIMELY_PATH_DRAINS ? 4 * kMs << (2 * drained) : 1000 * kMs;

		s.path_events = TIMELY_PATH_EVENTS;
		EXPECT_FALSE(timely_path_wants_drain(&s, kNowNs + due_ns - 8192)) << drained;
		EXPECT_TRUE(timely_path_wants_drain(&s, kNowNs + due_ns + 8192)) << drained;
		s.path_events--;
		EXPECT_FALSE(timely_path_wants_drain(&s, kNowNs + due_ns + 8192)) << drained;
	}
}

}  // namespace
