// SPDX-License-Identifier: GPL-2.0
// Thresholds of a flow's own path: tcp_timely/timely_path.h.

#include <algorithm>

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

// The law by name: thresholds are of the queue over the base, on every path.
TEST(TimelyPath, timely_path_find__thresholds_follow_the_base)
{
	struct {
		u64 base_ns, from_ns, swing_ns;
	} const paths[] = {{8000, 11000, 0}, {17000, 20000, 0}, {18000, 20000, 0}, {20000, 20000, 0}, {40000, 40000, 0},
			   {72000, 72000, 500}, {200000, 200000, 2500}, {3000000, 3000000, 2500}};

	for (auto [base_ns, from_ns, swing_ns] : paths) {
		timely_params p = shipped();
		timely_state s;
		timely_path path;
		timely_sample sample{};

		timely_rate_start(&s, &p, 10 * TIMELY_GBPS, base_ns);
		sample.frame_ns = 1230;
		timely_path_find(&path, &s, &p, &sample);
		EXPECT_EQ(path.low_ns, from_ns + 24000 + swing_ns);
		EXPECT_EQ(path.high_ns, from_ns + 54000 + swing_ns);
		p = timely_presets[1].params;
		timely_path_find(&path, &s, &p, &sample);
		EXPECT_EQ(path.low_ns, std::max(base_ns, u64{20000}) + 15000);
	}
}

// What the law has besides: for each of the room's reasons, the lower threshold.
TEST(TimelyPath, timely_path_find__room_for_what_a_path_has)
{
	timely_params p = shipped();
	timely_state s;
	timely_path path;
	timely_sample sample{};

	timely_rate_start(&s, &p, TIMELY_GBPS / 10, 400000);
	sample.rtt_ns = 400000;
	timely_path_find(&path, &s, &p, &sample);
	// Two frames at 100 Mbit/s are 246 us, and the base has more. And 2.5 us for the queue's swing.
	EXPECT_EQ(path.low_ns, 400000u + 246080 + 2500);
	EXPECT_EQ(path.high_ns, path.low_ns + 124290);
	s.rate_bps = TIMELY_GBPS;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 24608 + 2500);
	// Half of what a burst of sixteen full frames has more than two.
	sample.frame_ns = 1230;
	sample.burst_ns = 16 * 1230;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 24608 + 2500 - 7 * 1230);
	sample.burst_ns = 0;
	// Eight jumbo frames at 10 Gbit/s.
	sample.frame_ns = 7230;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 8 * 7230 + 2500);
	EXPECT_EQ(path.slack_ns, 2 * 7230u);
	sample.coalesce_ns = 50000;
	timely_path_find(&path, &s, &p, &sample);
	EXPECT_EQ(path.low_ns, 400000u + 8 * 7230 + 75000);
	EXPECT_EQ(path.base_ns, 450000u);
	EXPECT_EQ(path.unit_ns, 450000u);
	EXPECT_EQ(path.waits_ns, 75000u);
	EXPECT_EQ(timely_path_window_ns(&path, &sample), path.high_ns + 50000);
}

TEST(TimelyPath, timely_path_find__room_for_the_way_back)
{
	timely_params p = shipped();
	timely_state s;
	timely_path path;
	timely_sample sample{};
	auto room_us = [&](u32 back_load) {
		sample.back_load = back_load;
		timely_path_find(&path, &s, &p, &sample);
		return (path.low_ns - 20000) / 1000;
	};

	timely_rate_start(&s, &p, TIMELY_GBPS, 20000);
	EXPECT_EQ(room_us(64), p.t_low_us);  // ACKs alone: a sixteenth
	EXPECT_EQ(room_us(64 + 128), p.t_low_us * 5 / 2);
	EXPECT_EQ(room_us(64 + 256), p.t_low_us * 4);
	EXPECT_EQ(room_us(1024), p.t_low_us * 4);
}

// Own bursts lower the thresholds, and not this one; a NIC that coalesces raises both.
TEST(TimelyPath, timely_path_watch_bursts__above_the_threshold_without_own_bursts)
{
	timely_params p = shipped();
	timely_state s;
	timely_path path;
	timely_sample sample{};
	auto burst = [&](u64 rtt_ns) {
		s.burst = 0;
		timely_path_find(&path, &s, &p, &sample);
		timely_path_watch_bursts(&s, &path, &sample, rtt_ns);
		return s.burst;
	};

	timely_rate_start(&s, &p, TIMELY_GBPS, 20000);
	sample.frame_ns = 1230;
	EXPECT_FALSE(burst(74000));
	EXPECT_TRUE(burst(74001));
	sample.burst_ns = 16 * 1230;
	EXPECT_FALSE(burst(74000));
	EXPECT_TRUE(burst(74001));
	sample.coalesce_ns = 20000;
	EXPECT_FALSE(burst(104000));
	EXPECT_TRUE(burst(104001));
}

// Flows whose cuts the path's law bounds: what empties the queue in a round trip.
TEST(TimelyRate, timely_rate_sample__long_path_is_cut_by_its_queue)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_start(&e.state, &e.p, TIMELY_GBPS, 3000000);
	e.feed(3060000);
	e.feed(3060000, 3000000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
	EXPECT_GE(e.state.rate_bps, TIMELY_GBPS / 3060 * 3000);
}

// A frame in eight round trips, a tenth of a millisecond added to each.
TEST(TimelyRate, timely_rate_sample__floor_of_the_path)
{
	Engine e(shipped(), 2 * TIMELY_MBPS);

	e.feed(20000);
	for (int i = 0; i < 100; i++)
		e.feed(400000, 400000);
	EXPECT_EQ(e.state.rate_bps, 1538 * 8 * TIMELY_GBPS / (500000 * 8));
}

}  // namespace
