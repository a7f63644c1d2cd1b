// SPDX-License-Identifier: GPL-2.0
// Back to the rate from before a burst of other flows: tcp_timely/timely_return.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

constexpr u64 kBaseNs = 20000;
constexpr u64 kRttNs = 30000;
constexpr u64 kNearNs = 6000;

// At 8 Gbit/s near the base for so long that the watch knows the rate.
Engine Settled()
{
	Engine e(shipped(), 8 * TIMELY_GBPS);

	e.state.drained = TIMELY_PATH_DRAINS;  // the next is a second away
	e.cap_bps = 8 * TIMELY_GBPS;
	for (int i = 0; i < 8; i++)
		e.feed(kBaseNs, kRttNs);
	return e;
}

// A burst of others takes what stays above part of the rate.
void Burst(Engine &e, double part)
{
	while (e.state.rate_bps > part * e.cap_bps)
		e.feed(200000, 200000);
}

double Part(const Engine &e)
{
	return (double)e.state.rate_bps / e.cap_bps;
}

TEST(TimelyReturn, timely_rate_sample__burst_that_is_gone_costs_some_round_trips)
{
	Engine e = Settled();

	Burst(e, 0.3);
	for (int i = 0; i < 4; i++)
		e.feed(kBaseNs, kRttNs);
	EXPECT_GT(Part(e), 0.85);
	EXPECT_LT(Part(e), 1.02);
}

TEST(TimelyReturn, timely_rate_sample__without_the_switch_it_costs_milliseconds)
{
	Engine e = Settled();

	e.p.climb_back = 0;
	Burst(e, 0.3);
	for (int i = 0; i < 4; i++)
		e.feed(kBaseNs, kRttNs);
	EXPECT_LT(Part(e), 0.35);
}

// Cuts between the thresholds are not undone: they make shares even.
TEST(TimelyReturn, timely_rate_sample__without_a_long_queue_nothing_returns)
{
	Engine e = Settled();

	e.p.noise_max_us = 0;
	e.state.rate_bps = TIMELY_GBPS;
	e.feed(kBaseNs + 50000, kRttNs);
	EXPECT_FALSE(e.state.burst);
	e.feed(kBaseNs, kRttNs);
	EXPECT_FALSE(e.state.climb);
	e.feed(kBaseNs + 55000, kRttNs);
	EXPECT_TRUE(e.state.burst);
}

TEST(TimelyReturn, timely_rate_sample__queue_ends_the_climb)
{
	Engine e = Settled();

	e.p.noise_max_us = 0;
	Burst(e, 0.1);
	e.feed(kBaseNs, kRttNs);
	EXPECT_TRUE(e.state.climb);
	for (int i = 0; i < 2; i++)
		e.feed(kBaseNs + 100000, kBaseNs / 4);
	EXPECT_FALSE(e.state.climb);
	EXPECT_LT(Part(e), 0.5);
}

TEST(TimelyReturn, timely_fell__needs_an_eighth_within_some_milliseconds)
{
	timely_state s{};
	auto fell = [&](double part, u64 after_ns = 1000000) {
		s.rate_bps = part * 8 * TIMELY_GBPS;
		return timely_fell(&s, after_ns, kNearNs);
	};

	s.near_rate = timely_rate_pack(8 * TIMELY_GBPS);
	u64 known_bps = timely_rate_unpack(s.near_rate);
	double known = (double)known_bps / (8 * TIMELY_GBPS);

	EXPECT_FALSE(fell(2));
	EXPECT_FALSE(fell(known));
	EXPECT_FALSE(fell(known * 0.9));
	EXPECT_TRUE(fell(known * 0.88));
	EXPECT_TRUE(fell(known * 0.5, 8ULL << TIMELY_PATH_TICK_SHIFT));
	EXPECT_FALSE(fell(known * 0.5, 9ULL << TIMELY_PATH_TICK_SHIFT));
}

// Spikes of 3 us are half of what is near the base.
TEST(TimelyReturn, timely_fell__beyond_what_noise_explains)
{
	timely_state s{};

	s.near_rate = timely_rate_pack(8 * TIMELY_GBPS);
	s.spike_ns = 3000;
	s.rate_bps = timely_rate_unpack(s.near_rate) * 0.65;
	EXPECT_FALSE(timely_fell(&s, 1000000, kNearNs));
	s.rate_bps = timely_rate_unpack(s.near_rate) * 0.6;
	EXPECT_TRUE(timely_fell(&s, 1000000, kNearNs));
}

TEST(TimelyReturn, timely_fell__of_the_fastest_flow_on_the_longest_path)
{
	timely_state s{};

	s.rate_bps = 200 * TIMELY_GBPS;
	s.near_rate = timely_rate_pack(400 * TIMELY_GBPS);
	EXPECT_TRUE(timely_fell(&s, 1000000, TIMELY_BASE_MAX_NS >> TIMELY_PATH_NEAR_SHIFT));
}

TEST(TimelyReturn, timely_return__not_with_rare_samples_in_a_drain_or_at_the_start)
{
	Engine e = Settled();

	e.state.rate_bps = TIMELY_GBPS;
	e.state.burst = 1;
	timely_return(&e.state, &e.p, e.now_ns, kNearNs, kRttNs, kRttNs * e.p.rare_rtts * TIMELY_RETURN_RARE + 1);
	EXPECT_FALSE(e.state.climb);
	EXPECT_FALSE(e.state.burst);
	e.state.draining = 1;
	e.state.burst = 1;
	timely_return(&e.state, &e.p, e.now_ns, kNearNs, kRttNs, kRttNs);
	EXPECT_FALSE(e.state.climb);
	e.state.draining = 0;
	e.state.drained = 0;
	e.state.burst = 1;
	timely_return(&e.state, &e.p, e.now_ns, kNearNs, kRttNs, kRttNs);
	EXPECT_FALSE(e.state.climb);
	e.state.drained = 1;
	e.state.in_round = 1;
	e.state.burst = 1;
	timely_return(&e.state, &e.p, e.now_ns, kNearNs, kRttNs, kRttNs);
	EXPECT_TRUE(e.state.climb);
	EXPECT_FALSE(e.state.in_round);
}

}  // namespace
