// SPDX-License-Identifier: GPL-2.0
// What is noise and no queue: tcp_timely/timely_noise.h.

#include "selftests/unit/timely_engine.h"

namespace {

using namespace timely_test;

TEST(TimelyNoise, timely_rate_sample__noise_is_no_queue)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 22000, 60000, 300);
	for (int i = 0; i < 20; i++) {
		shake(e, 22000, 60000, 2);
		ASSERT_NE(e.out.branch, TIMELY_BRANCH_HIGH);
		ASSERT_NE(e.out.branch, TIMELY_BRANCH_DEC);
	}
	e.p.noise_max_us = 0;
	shake(e, 22000, 60000, 2);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyNoise, timely_rate_sample__queue_under_noise_is_seen)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 22000, 20000, 300);
	shake(e, 222000, 20000, 20);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

TEST(TimelyNoise, timely_rate_sample__noise_whose_least_is_the_base_takes_nothing)
{
	for (u64 width_ns : {20000, 60000}) {
		Engine e(shipped(), TIMELY_GBPS);

		shake(e, 20000, width_ns, 2000);
		EXPECT_GT(e.state.rate_bps, TIMELY_GBPS) << width_ns;
	}
}

TEST(TimelyNoise, timely_rate_sample__noise_hides_a_queue_for_a_window_only)
{
	Engine e(shipped(), TIMELY_GBPS);

	shake(e, 20000, 20000, 300);
	u64 rate_bps = e.state.rate_bps;
	shake(e, 120000, 20000, 2 * TIMELY_NOISE_EVENTS + 1);
	EXPECT_LT(e.state.rate_bps, rate_bps);
}

// Eight ACKs by one interrupt, which was late: the first is a sample of noise, and the least is one of the path.
TEST(TimelyNoise, timely_rate_sample__events_of_one_interrupt_are_one_sample)
{
	Engine e(shipped(), TIMELY_GBPS);

	/* so many that no half of the window ends here: that may lower the base */
	shake(e, 20000, 20000, 302);
	e.feed(160000, 100000);
	timely_state before = e.state;
	for (int i = 1; i < 2 * TIMELY_NOISE_EVENTS; i++) {
		e.feed(160000 - i * 1000, 0);
		ASSERT_EQ(e.out.branch, TIMELY_BRANCH_MERGED);
	}
	EXPECT_LT(e.state.spike_ns, before.spike_ns) << "what they differ by is little";
	EXPECT_EQ(e.state.prev_rtt_ns, 160000u);
	EXPECT_EQ(e.state.rate_bps, before.rate_bps);
	EXPECT_EQ(e.state.jitter_q, before.jitter_q);
	EXPECT_EQ(e.state.low_events, before.low_events);
	EXPECT_EQ(timely_min(e.state.low_old_ns, e.state.low_new_ns), 20000u);
	e.feed(20500, 0);
	e.feed(19000, 0);
	EXPECT_EQ(e.state.low_new_ns, 19000u);
}

// ACKs come every 100 us and their first has waited for as long each time, as by a peer's NIC that coalesces.
TEST(TimelyNoise, timely_rate_sample__wait_that_is_always_as_long_is_no_queue)
{
	Engine e(shipped(), TIMELY_GBPS);

	e.feed(20000);
	e.feed(20000);
	for (int i = 0; i < 2000; i++) {
		e.feed(120000, 100000);
		for (int j = 1; j < 8; j++)
			e.feed(120000 - j * 14000, 0);
	}
	EXPECT_GT(e.state.rate_bps, 2 * TIMELY_GBPS);
}

// A path that is empty now and then: where NICs coalesce, the waits of a sample stay in, as far as there is room.
TEST(TimelyNoise, timely_rate_sample__waits_for_interrupts_stay_in)
{
	auto gain = [](u32 coalesce_ns, u64 last_ns) {
		Engine e(shipped(), TIMELY_GBPS);
		u64 before_bps = 0;

		e.coalesce_ns = coalesce_ns;
		for (int i = 0; i < 20; i++)
			e.feed(i % 4 ? 90000 : 20000);
		before_bps = e.state.rate_bps;
		e.feed(last_ns);
		return e.state.rate_bps - before_bps;
	};

	EXPECT_EQ(gain(0, 90000), gain(0, 20000)) << "noise: the path is empty";
	EXPECT_LT(2 * gain(50000, 90000), gain(50000, 20000)) << "it is not while frames wait";
	EXPECT_GT(gain(50000, 90000), 0u);
	EXPECT_EQ(gain(20000, 90000), gain(20000, 50000)) << "the peer's waits are longer, and noise";
}

TEST(TimelyNoise, timely_is_merged__by_what_tells_of_it)
{
	Engine e(shipped(), TIMELY_GBPS);
	auto merged = [&e] { e.feed(20000, 0); return e.out.branch == TIMELY_BRANCH_MERGED; };

	e.feed(20000, 0);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_FIRST);
	EXPECT_TRUE(merged());
	e.coalesce_ns = 50000;
	EXPECT_TRUE(merged()) << "a NIC that coalesces";
	e.coalesce_ns = 0;
	e.p.noise_max_us = 0;
	EXPECT_FALSE(merged()) << "no filter";
	e.p.noise_max_us = 300;
	e.p.path_law = 0;
	EXPECT_FALSE(merged()) << "the papers' law";
	e.p.path_law = 1;
	EXPECT_TRUE(merged());
}

// Half a frame of 1538 bytes takes 6.15 us at 1 Gbit/s.
TEST(TimelyNoise, timely_is_apart__by_half_a_frame_at_the_flows_rate)
{
	for (u64 gbps : {10, 100, 1000}) {
		EXPECT_FALSE(timely_is_apart(gbps * TIMELY_GBPS, 1538, 6100 / gbps)) << gbps;
		EXPECT_TRUE(timely_is_apart(gbps * TIMELY_GBPS, 1538, 6200 / gbps + 1)) << gbps;
		EXPECT_FALSE(timely_is_apart(gbps * TIMELY_GBPS, 9038, 19000 / gbps)) << gbps;
	}
	EXPECT_FALSE(timely_is_apart(TIMELY_MBPS, 1538, TIMELY_NOISE_APART_NS - 1));
	EXPECT_TRUE(timely_is_apart(TIMELY_MBPS, 1538, TIMELY_NOISE_APART_NS));
	EXPECT_TRUE(timely_is_apart(2000 * TIMELY_GBPS, 65536, TIMELY_NOISE_APART_NS - 1));
}

TEST(TimelyNoise, timely_rate_sample__rising_queue_is_no_noise)
{
	Engine e(shipped(), TIMELY_GBPS);

	for (u64 rtt_ns = 20000; rtt_ns < 80000; rtt_ns += 500)
		e.feed(rtt_ns);
	EXPECT_EQ(e.state.jitter_q, 0u);
	EXPECT_EQ(e.out.branch, TIMELY_BRANCH_HIGH);
}

// A host whose interrupts are half a millisecond late: its noise is no queue, and a queue beyond it is one.
TEST(TimelyNoise, timely_rate_sample__noise_of_a_virtual_machine_is_no_queue)
{
	for (u64 width_ns : {400000, 1000000, 2000000}) {
		Engine e(shipped(), TIMELY_GBPS);

		shake(e, 20000, width_ns, 3000);
		EXPECT_GT(e.state.rate_bps, TIMELY_GBPS) << width_ns;
		u64 rate_bps = e.state.rate_bps;
		shake(e, 20000 + 4 * width_ns, width_ns, 100);
		EXPECT_LT(e.state.rate_bps, rate_bps) << width_ns;
	}
}

TEST(TimelyNoise, timely_rate_sample__jitter_stays_within_its_bits)
{
	Engine e(shipped(), TIMELY_GBPS);
	u64 last = 0;

	for (int i = 0; i < 1000; i++) {
		e.feed(i % 2 ? TIMELY_RTT_MAX_NS : 20000);
		ASSERT_GE(e.state.jitter_q, last);
		last = e.state.jitter_q;
	}
	EXPECT_GT(last >> TIMELY_JITTER_SHIFT, 800000u);
	/* every second sample counts, of which each is the largest */
	EXPECT_NEAR(e.state.spike_ns, TIMELY_SPIKE_MAX_NS / 2, TIMELY_SPIKE_MAX_NS / 64);
}

}  // namespace
