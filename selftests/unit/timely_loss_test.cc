// SPDX-License-Identifier: GPL-2.0
// Losses, timeouts and silences: tcp_timely/timely_loss.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

TEST(TimelyLoss, timely_rate_loss__halves_and_undo_restores)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_loss(&e.state, &e.p, e.now_ns, true);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS);
}

TEST(TimelyLoss, timely_rate_loss__of_little_with_a_short_queue_cuts_little)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_loss(&e.state, &e.p, e.now_ns, false);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 1000 * (1000 - e.p.loss_milli));
}

// The queue is short below the same threshold as everywhere, on a short path and by the papers' law.
TEST(TimelyLoss, timely_rate_loss__short_is_below_the_lower_threshold)
{
	for (bool path_law : {true, false}) {
		for (u64 rtt_ns : {30000, 50000}) {
			timely_params p = shipped();
			timely_state s;

			p.path_law = path_law;
			// A base of 5 us counts as 8.
			p.t_low_us = path_law ? 34 : 42;
			timely_rate_start(&s, &p, TIMELY_GBPS, 5000);
			s.prev_rtt_ns = rtt_ns;
			timely_rate_loss(&s, &p, 1000000, false);
			EXPECT_EQ(s.rate_bps, TIMELY_GBPS / 1000 * (rtt_ns < 42000 ? 1000 - p.loss_milli : 500));
		}
	}
}

TEST(TimelyLoss, timely_rate_loss__with_a_long_queue_halves)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(200000);
	timely_rate_loss(&e.state, &e.p, e.now_ns, false);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
}

// 1538 bytes in 20 us and 100 more are 102.5 Mbit/s.
TEST(TimelyLoss, timely_rate_keep_up__slow_flow_climbs_to_a_frame_in_a_round_trip)
{
	Engine e(shipped(), 10 * TIMELY_MBPS);
	int events = 0;

	e.feed(20000);
	timely_rate_loss(&e.state, &e.p, e.now_ns, true);
	timely_rate_keep_up(&e.state, &e.p, 0);
	EXPECT_EQ(e.state.rate_bps, 5 * TIMELY_MBPS);
	while (e.state.climb && events < 100) {
		e.feed(20000);
		events++;
	}
	EXPECT_LE(events, 10);
	EXPECT_GE(e.state.rate_bps, 102 * TIMELY_MBPS);
	EXPECT_LE(e.state.rate_bps, 110 * TIMELY_MBPS);
}

// A climb puts off drains, so one to a rate that a flow may not have would put them off for good.
TEST(TimelyLoss, timely_rate_keep_up__ends_at_what_the_flow_may_have)
{
	for (bool by_cap : {true, false}) {
		Engine e(shipped(), 10 * TIMELY_MBPS);

		if (by_cap)
			e.cap_bps = 50 * TIMELY_MBPS;
		else
			e.p.max_rate_bps = 50 * TIMELY_MBPS;
		e.feed(20000);
		timely_rate_loss(&e.state, &e.p, e.now_ns, true);
		timely_rate_keep_up(&e.state, &e.p, e.cap_bps);
		for (int i = 0; i < 12; i++)
			e.feed(20000);
		EXPECT_FALSE(e.state.climb) << by_cap;
		EXPECT_EQ(e.state.rate_bps, 50 * TIMELY_MBPS) << by_cap;
	}
}

TEST(TimelyLoss, timely_rate_keep_up__fast_flow_keeps_its_cut)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_loss(&e.state, &e.p, e.now_ns, true);
	timely_rate_keep_up(&e.state, &e.p, 0);
	EXPECT_FALSE(e.state.climb);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
}

TEST(TimelyLoss, timely_rate_keep_up__not_with_a_queue_nor_without_a_sample_nor_by_the_papers_law)
{
	Engine queue(shipped(), 10 * TIMELY_MBPS), unknown(shipped(), 10 * TIMELY_MBPS), papers(shipped(), 10 * TIMELY_MBPS);

	queue.feed(20000);
	queue.feed(200000);
	papers.p.path_law = 0;
	papers.feed(20000);
	for (Engine* e : {&queue, &unknown, &papers}) {
		timely_rate_loss(&e->state, &e->p, e->now_ns, true);
		timely_rate_keep_up(&e->state, &e->p, 0);
		EXPECT_FALSE(e->state.climb);
	}
}

TEST(TimelyLoss, timely_rate_rto__climbs_to_half_the_former_rate_in_a_few_events)
{
	Engine e(shipped(), TIMELY_GBPS);
	int events = 0;

	timely_rate_rto(&e.state, &e.p);
	while (e.state.rate_bps < TIMELY_GBPS / 2 && events < 100) {
		e.feed(20000);
		events++;
	}
	/* the first only sets the previous RTT, then 1 Mbit/s doubles 9 times */
	EXPECT_LE(events, 11);
	e.feed(20000);
	EXPECT_LT(e.state.rate_bps, TIMELY_GBPS * 6 / 10);
}

TEST(TimelyLoss, timely_rate_got_through__doubles_once_a_round_trip)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_rto(&e.state, &e.p);
	u64 now_ns = e.now_ns + 1000000;
	timely_rate_got_through(&e.state, &e.p, now_ns, 20000, 0);
	EXPECT_EQ(e.state.rate_bps, 2 * e.p.min_rate_bps);
	timely_rate_got_through(&e.state, &e.p, now_ns, 20000, 0);
	EXPECT_EQ(e.state.rate_bps, 2 * e.p.min_rate_bps);
	for (int i = 1; i < 100; i++)
		timely_rate_got_through(&e.state, &e.p, now_ns + i * 20000, 20000, 0);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
}

TEST(TimelyLoss, timely_rate_rto__climb_ends_when_the_queue_grows)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_rto(&e.state, &e.p);
	e.feed(20000);
	e.feed(20000);
	e.feed(55000);
	u64 rate_bps = e.state.rate_bps;
	e.feed(20000);
	EXPECT_LT(e.state.rate_bps, rate_bps * 3 / 2);
}

// Drains are due 4 ms after the first sample, in the midst of this climb.
TEST(TimelyLoss, timely_rate_rto__climb_is_not_ended_by_a_drain)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_rto(&e.state, &e.p);
	for (int i = 0; i < 10; i++)
		e.feed(20000, 2000000);
	EXPECT_FALSE(e.state.draining);
	EXPECT_GE(e.state.rate_bps, TIMELY_GBPS / 2);
	for (int i = 0; i < 3; i++)
		e.feed(20000, 2000000);
	EXPECT_TRUE(e.state.draining);
}

TEST(TimelyLoss, timely_rate_recovered__leaves_nothing_to_undo)
{
	Engine e(shipped(), TIMELY_GBPS);

	timely_rate_loss(&e.state, &e.p, e.now_ns, true);
	timely_rate_recovered(&e.state);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS / 2);
}

TEST(TimelyLoss, timely_rate_rto__restarts_from_the_floor)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	timely_rate_rto(&e.state, &e.p);
	EXPECT_EQ(e.state.rate_bps, e.p.min_rate_bps);
	e.feed(900000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_FIRST);
	timely_rate_undo(&e.state);
	EXPECT_EQ(e.state.rate_bps, TIMELY_GBPS);
}

TEST(TimelyLoss, timely_rate_idle__never_raises_and_forgets_the_gradient)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	e.feed(50000);
	timely_rate_idle(&e.state, &e.p, 2 * TIMELY_GBPS);
	EXPECT_LE(e.state.rate_bps, TIMELY_GBPS);
	timely_rate_idle(&e.state, &e.p, 300 * TIMELY_MBPS);
	EXPECT_EQ(e.state.rate_bps, 300 * TIMELY_MBPS);
	EXPECT_EQ(e.state.rtt_diff_q, 0);
	e.feed(20000);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_FIRST);
}

}  // namespace
