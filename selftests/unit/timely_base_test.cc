// SPDX-License-Identifier: GPL-2.0
// The base RTT of a flow's own path: tcp_timely/timely_base.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

TEST(TimelyBase, timely_path_lower__takes_two_samples_in_a_row)
{
	timely_state s{};
	auto base = [&](u64 rtt_ns) {
		timely_path_lower(&s, rtt_ns, 0);
		s.prev_rtt_ns = rtt_ns;
		return s.base_ns;
	};

	s.base_ns = 30000;
	EXPECT_EQ(base(20000), 30000u);
	EXPECT_EQ(base(30000), 30000u);  // none in a row
	EXPECT_EQ(base(20000), 30000u);
	EXPECT_EQ(base(25000), 25000u);  // the longer of both
	EXPECT_EQ(base(20000), 25000u);
	EXPECT_EQ(base(20000), 20000u);
}

// Once for each half of the window, by a part of what the longer of two halves is below the base.
TEST(TimelyBase, timely_path_lower__takes_the_least_of_some_interrupts_by_parts)
{
	timely_state s{};
	auto base = [&](u64 old_ns, u64 new_ns) {
		s.low_old_ns = old_ns;
		s.low_new_ns = new_ns;
		timely_path_lower(&s, s.base_ns, 20000);
		return s.base_ns;
	};

	s.base_ns = 30000;
	s.low_events = TIMELY_NOISE_EVENTS - 1;
	EXPECT_EQ(base(14000, 14000), 30000u);
	s.low_events = TIMELY_NOISE_EVENTS;
	EXPECT_EQ(base(14000, 12000), 26000u);
	EXPECT_EQ(base(14000, 12000), 26000u);  // the same half
	s.low_events = TIMELY_NOISE_EVENTS;
	EXPECT_EQ(base(26000, 12000), 26000u);
	s.low_events = TIMELY_NOISE_EVENTS;
	EXPECT_EQ(base(12000, 60000), 26000u);
	// More than the luck at once.
	s.low_events = 0;
	s.base_ns = 100000;
	s.prev_rtt_ns = 13000;
	timely_path_lower(&s, 12000, 20000);
	EXPECT_EQ(s.base_ns, 100000u);
	timely_path_lower(&s, 12000, 20000);
	EXPECT_EQ(s.base_ns, 33000u);
	timely_path_lower(&s, 12000, 20000);
	EXPECT_EQ(s.base_ns, 33000u);
	// Nothing is known of a half that is longer than the filter counts.
	s.base_ns = TIMELY_LOW_MAX_NS + 16000;
	s.low_events = TIMELY_NOISE_EVENTS;
	EXPECT_EQ(base(TIMELY_LOW_MAX_NS, 12000), TIMELY_LOW_MAX_NS + 16000);
}

TEST(TimelyBase, timely_path_sample__the_first_is_the_base_if_none_is_known)
{
	timely_params p = shipped();
	timely_state s{};

	timely_path_sample(&s, &p, 1000000000, 70000, 0, 0);
	EXPECT_EQ(s.base_ns, 70000u);
	timely_path_start(&s, 20000);
	timely_path_sample(&s, &p, 1000000000, 70000, 0, 0);
	EXPECT_EQ(s.base_ns, 20000u);
}

// All within one tick of the watch, which lets what is remembered rise, too.
TEST(TimelyBase, timely_path_sample__near_samples_a_round_trip_apart_raise_what_is_remembered)
{
	const u64 tick_ns = 1ULL << TIMELY_PATH_TICK_SHIFT;
	timely_params p = shipped();
	timely_state s{};

	timely_path_start(&s, 20000);
	s.rate_bps = TIMELY_GBPS;
	timely_path_sample(&s, &p, 1000 * tick_ns, 20000, 0, 0);
	u32 packed = s.near_rate;

	s.rate_bps = 8 * TIMELY_GBPS;
	timely_path_sample(&s, &p, 1000 * tick_ns + 19999, 20000, 19999, 0);
	EXPECT_EQ(s.near_rate, packed);
	timely_path_sample(&s, &p, 1000 * tick_ns + 39999, 20000, 20000, 0);
	EXPECT_EQ(s.near_rate, packed + 1);
}

TEST(TimelyBase, timely_path_sample__begins_a_drain_when_one_is_due)
{
	Engine e(shipped(), TIMELY_GBPS);

	while (!e.state.draining && e.now_ns < 1100000000)
		e.feed(60000);
	EXPECT_NEAR(double(e.now_ns), 1004e6, 0.3e6);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_DRAIN);
}

// timely_pi keeps a queue of its reference: it stands there for seconds, and is no part of the path.
TEST(TimelyBase, timely_path_near_ns__holds_the_reference_of_timely_pi)
{
	Engine e(shipped(TIMELY_VARIANT_PI), TIMELY_GBPS);
	u64 at_ns = 20000 + e.p.t_low_us * 1000;

	for (int i = 0; i < 100; i++)
		e.feed(20000);
	for (int i = 0; i < 20000; i++) {
		e.state.rate_bps = 100000000;	// little of the link, which others hold
		e.feed(at_ns);
	}
	EXPECT_EQ(e.state.base_ns, 20000u);
	for (int i = 0; i < 20000; i++) {
		e.state.rate_bps = 10000000;
		e.feed(at_ns + e.p.t_low_us * 1000);
	}
	EXPECT_GT(e.state.base_ns, 60000u);
}

// A path that gets longer: no sample near the base, a drain, another base.
TEST(TimelyBase, timely_path_sample__longer_path_is_found)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (int i = 0; i < 100; i++)
		e.feed(20000);
	EXPECT_EQ(e.state.base_ns, 20000u);
	for (int i = 0; i < 5000; i++)
		e.feed(120000);
	EXPECT_EQ(e.state.base_ns, 120000u);
	EXPECT_GT(e.state.rate_bps, TIMELY_GBPS);
}

// A silence is no path that got longer: no drain at the first sample after it.
TEST(TimelyBase, timely_path_sample__silence_is_no_longer_path)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (int i = 0; i < 100; i++)
		e.feed(20000);
	e.feed(60000, 400000000);
	EXPECT_NE(e.out.branch, TIMELY_BRANCH_DRAIN);
	EXPECT_EQ(e.state.base_ns, 20000u);
	EXPECT_FALSE(e.state.draining);
}

// A flow's base does not hang on its luckiest interrupt, and one from a start in a queue is soon left.
TEST(TimelyBase, timely_path_sample__coalesced_interrupts_lower_the_base_slowly)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.coalesce_ns = 50000;
	e.state.base_ns = 70000;
	for (int i = 0; i < 100; i++)
		e.feed(i > 48 && i < 57 ? 38000 : 100000);
	EXPECT_EQ(e.state.base_ns, 62000u);
	for (int i = 0; i < 400; i++)
		e.feed(40000);
	EXPECT_LT(e.state.base_ns, 41000u);
}

// Uniform waits of 50 us have mean spikes of a sixth of that.
TEST(TimelyBase, timely_path_luck_ns__shows_in_spikes_where_the_peers_interrupts_wait)
{
	timely_state s{};

	s.spike_ns = 20000 / 6;
	EXPECT_EQ(timely_path_luck_ns(&s, 0), 0u) << "noise of 20 us";
	s.spike_ns = 50000 / 6;
	EXPECT_EQ(timely_path_luck_ns(&s, 0), TIMELY_NOISE_NEAR * (50000 / 6 - 3500u));
	EXPECT_EQ(timely_path_luck_ns(&s, 50000), 100000u) << "both NICs";
}

TEST(TimelyBase, timely_path_sample__the_peers_interrupts_lower_the_base_slowly)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.state.base_ns = 70000;
	for (int i = 0; i < 100; i++) {
		e.state.spike_ns = 50000 / 6;
		e.feed(i > 48 && i < 57 ? 38000 : 100000);
	}
	EXPECT_EQ(e.state.base_ns, 62000u);
}

TEST(TimelyBase, timely_path_sample__one_lucky_sample_is_no_base)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (int i = 0; i < 1000; i++)
		e.feed(i % 100 == 50 ? 15000 : 70000);
	EXPECT_GT(e.state.base_ns, 19999u);
}

}  // namespace
