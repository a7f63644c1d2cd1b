// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "selftests/cc/hpcc_window.h"

namespace {

// 10 Gbit/s for 20 us are 25000 bytes.
constexpr hpcc_params params = {
	.base_ns = 20000,
	.eta_milli = 950,
	.max_stage = 5,
	.ai_bytes = 80,
	.line_bytes = 25000,
};

// A flow whose packets pass one port of 10 Gbit/s, and one ACK an RTT of 20 us, unless it says otherwise.
struct Flow {
	hpcc_state state;
	vr_telemetry said = {1, {{0, 0, 0, 10000}}};
	u32 seq = 1000;

	Flow()
	{
		hpcc_start(&state, &params, seq);
		hpcc_ack(&state, &params, &said, seq, seq);
	}

	void ack(u32 sent_bytes, u32 queue_bytes, u32 ns = 20000)
	{
		vr_hop_said *hop = &said.hop[0];

		hop->at_ns += ns;
		hop->sent_bytes += sent_bytes;
		hop->queue_bytes = queue_bytes;
		seq += 1000;
		hpcc_ack(&state, &params, &said, seq, seq);
	}
};

u32 of_one(double part)
{
	return static_cast<u32>(part * HPCC_ONE);
}

}  // namespace

TEST(hpcc_window, start__all_of_the_line_and_the_first_packet_moves_nothing)
{
	Flow flow;

	EXPECT_EQ(flow.state.window_bytes, 25000U);
	EXPECT_EQ(flow.state.utilization, HPCC_ONE);
	EXPECT_EQ(flow.state.links, 1);
}

TEST(hpcc_window, full_link_with_a_queue__window_falls_by_both)
{
	Flow flow;

	flow.ack(25000, 12500);  // the queue before was empty
	EXPECT_NEAR(flow.state.utilization, of_one(1), 200);
	EXPECT_NEAR(flow.state.window_bytes, 25000 * .95 + 80, 5);
	flow.ack(25000, 12500);
	EXPECT_NEAR(flow.state.utilization, of_one(1.5), 200);
	EXPECT_NEAR(flow.state.window_bytes, (25000 * .95 + 80) * .95 / 1.5 + 80, 5);
}

TEST(hpcc_window, half_full_link__window_grows_by_steps_and_then_at_once)
{
	Flow flow;

	flow.ack(25000, 25000);
	flow.ack(25000, 25000);
	u32 before = flow.state.window_bytes;
	for (u32 stage = 1; stage <= params.max_stage; stage++) {
		flow.ack(12500, 0);
		EXPECT_EQ(flow.state.window_bytes, before + stage * 80);
	}
	before = flow.state.window_bytes;
	flow.ack(12500, 0);
	EXPECT_NEAR(flow.state.window_bytes, before * .95 / .5 + 80, 10);
	EXPECT_EQ(flow.state.stage, 0);
}

TEST(hpcc_window, utilization__counts_for_the_part_of_an_rtt_that_it_is_of)
{
	Flow flow;

	flow.ack(12500, 0);
	ASSERT_NEAR(flow.state.utilization, of_one(.5), 200);
	flow.ack(6250, 0, 5000);  // 5 us at 10 Gbit/s
	EXPECT_NEAR(flow.state.utilization, of_one(.75 * .5 + .25), 300);
	flow.ack(25000, 0, 80000);  // of a longer time no more than an RTT
	EXPECT_NEAR(flow.state.utilization, of_one(.25), 300);
}

TEST(hpcc_window, round__reference_window_stays_within_it)
{
	Flow flow;

	flow.state.round_end = flow.seq + 2500;
	flow.ack(25000, 25000);
	flow.ack(25000, 25000);
	u32 once = flow.state.window_bytes;
	EXPECT_EQ(flow.state.round_bytes, 25000U);
	EXPECT_NEAR(once, 25000 * .95 / 2 + 80, 10);
	flow.ack(25000, 25000);
	EXPECT_EQ(flow.state.window_bytes, once);
	EXPECT_EQ(flow.state.round_bytes, once);
	EXPECT_EQ(flow.state.round_end, flow.seq);
}

TEST(hpcc_window, two_links__the_fuller_counts)
{
	hpcc_state state;
	vr_telemetry said = {2, {{0, 0, 0, 10000}, {0, 0, 0, 40000}}};

	hpcc_start(&state, &params, 0);
	hpcc_ack(&state, &params, &said, 0, 0);
	said.hop[0] = {20000, 12500, 0, 10000};
	said.hop[1] = {20000, 80000, 0, 40000};
	hpcc_ack(&state, &params, &said, 1000, 1000);
	EXPECT_NEAR(state.utilization, of_one(.8), 200);
}

TEST(hpcc_window, path_of_another_length__says_where_counters_stand_and_no_more)
{
	Flow flow;
	vr_telemetry other = {2, {{5, 1000000, 0, 10000}, {5, 1000000, 50000, 10000}}};

	hpcc_ack(&flow.state, &params, &other, flow.seq + 1000, flow.seq + 1000);
	EXPECT_EQ(flow.state.window_bytes, 25000U);
	EXPECT_EQ(flow.state.links, 2);
	EXPECT_EQ(flow.state.link[1].queue_bytes, 50000U);
}

TEST(hpcc_window, counters__of_32_bits_may_wrap)
{
	Flow flow;

	flow.said.hop[0].at_ns = 0xffffffffULL - 5000;
	flow.said.hop[0].sent_bytes = 0xffffffffULL - 5000;
	hpcc_remember(&flow.state, &flow.said);
	flow.ack(12500, 0);
	EXPECT_NEAR(flow.state.utilization, of_one(.5), 200);
}

TEST(hpcc_window, packets_that_left_together__say_nothing)
{
	Flow flow;

	flow.ack(25000, 25000);
	u32 utilization = flow.state.utilization;
	flow.ack(9000, 25000, 0);
	EXPECT_EQ(flow.state.utilization, utilization);
}

// U = eta + N W_AI / (B T): where windows stand still.
TEST(hpcc_window, fixed_point__of_four_flows_that_share_a_link)
{
	hpcc_state state[4];
	vr_telemetry said = {1, {{0, 0, 0, 10000}}};
	u64 sent = 0;

	for (hpcc_state &s : state)
		hpcc_start(&s, &params, 0);
	for (u32 rtt = 1; rtt <= 2000; rtt++) {
		u64 flight = 0;

		for (hpcc_state &s : state)
			flight += s.window_bytes;
		sent += flight < 25000 ? flight : 25000;
		said.hop[0] = {rtt * 20000ULL, sent, static_cast<u32>(flight > 25000 ? flight - 25000 : 0), 10000};
		for (hpcc_state &s : state)
			hpcc_ack(&s, &params, &said, rtt * 1000, rtt * 1000);
	}
	for (hpcc_state &s : state) {
		EXPECT_NEAR(s.utilization, of_one(.95 + 4 * 80 / 25000.), of_one(.002));
		EXPECT_EQ(s.window_bytes, state[0].window_bytes);
	}
}
