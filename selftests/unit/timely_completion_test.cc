// SPDX-License-Identifier: GPL-2.0
// Completion events: tcp_timely/timely_completion.h

#include <vector>

#include <gtest/gtest.h>

#include "tcp_timely/timely_completion.h"

namespace {

constexpr u32 kMss = 1448;
constexpr u32 kFrame = 90;              // Ethernet 38, IPv4 20, TCP 32
constexpr u32 kWire10G = 838861;        // 0.8 ns per byte
constexpr u32 kBurst = 11 * kMss;
constexpr u64 kStart = 1000000000;

// A sender in miniature: bursts go into the queue and ACKs take them out, as
// tcp_clean_rtx_queue() does.
class Flow : public ::testing::Test {
 protected:
	struct Skb {
		u32 seq, end;
		u64 send_ns;
	};

	void SetUp() override
	{
		timely_completion_reset(&burst_, snd_una_);
		ack_.mss = kMss;
		ack_.burst_bytes = kBurst;
		ack_.frame_bytes = kFrame;
		ack_.wire_mult = kWire10G;
		ack_.wire_sure = true;
		ack_.min_rtt_ns = 30000;
		ack_.delack_ns = 20000000;
	}

	void Send(u64 at_ns, u32 bytes)
	{
		if (queue_.empty())
			timely_completion_sent(&burst_, snd_nxt_, at_ns);
		queue_.push_back({snd_nxt_, snd_nxt_ + bytes, at_ns});
		snd_nxt_ += bytes;
	}

	// An ACK of `bytes` more arrives; true when it is an event.
	bool Ack(u64 at_ns, u32 bytes)
	{
		snd_una_ += bytes;
		ack_.now_ns = at_ns;
		ack_.una = snd_una_;
		ack_.newest_send_us = 0;
		ack_.newest_end_seq = snd_una_;
		while (!queue_.empty() && !tp_seq_before(snd_una_, queue_.front().end)) {
			Touch(queue_.front());
			queue_.erase(queue_.begin());
		}
		ack_.head_send_ns = 0;
		if (!queue_.empty()) {
			Skb &head = queue_.front();

			if (tp_seq_before(head.seq, snd_una_)) {
				Touch(head);
				head.seq = snd_una_;
			}
			ack_.head_send_ns = head.send_ns;
			ack_.head_end_seq = head.end;
		}
		return timely_completion_ack(&burst_, &ack_, &event_);
	}

	static u64 Wire(u32 bytes)
	{
		return timely_wire_ns(bytes, kMss, kFrame, kWire10G);
	}

	timely_burst burst_{};
	timely_ack ack_{};
	timely_event event_{};
	u32 snd_una_ = 0xfffff000;      // sequence numbers wrap in every test
	u32 snd_nxt_ = 0xfffff000;
	std::vector<Skb> queue_;

 private:
	void Touch(const Skb &skb)
	{
		ack_.newest_send_us = skb.send_ns / 1000;
		ack_.newest_end_seq = skb.end;
	}
};

TEST(TimelyWire, ns__one_full_frame_at_10g)
{
	// 1448 + 90 = 1538 bytes are 1230.4 ns
	EXPECT_EQ(timely_wire_ns(kMss, kMss, kFrame, kWire10G), 1230u);
}

TEST(TimelyWire, ns__64k_at_10m_and_400g)
{
	u32 bytes = 44 * kMss;

	EXPECT_EQ(timely_wire_ns(bytes, kMss, kFrame, 838860800), 44ull * 1538 * 800);
	EXPECT_NEAR(timely_wire_ns(bytes, kMss, kFrame, 20972), 44 * 1538 * 0.02, 2);
}

TEST(TimelyWire, ns__part_of_a_frame_pays_a_whole_overhead)
{
	EXPECT_EQ(timely_wire_ns(1, kMss, kFrame, 1u << 20), 91u);
	EXPECT_EQ(timely_wire_ns(kMss + 1, kMss, kFrame, 1u << 20), kMss + 1u + 2 * kFrame);
}

TEST_F(Flow, ack__whole_burst_at_once)
{
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.source, TIMELY_SRC_TCP_NS);
	EXPECT_EQ(event_.rtt_ns, 50000 - Wire(kBurst));
	EXPECT_EQ(event_.acked_bytes, kBurst);
}

TEST_F(Flow, ack__every_second_frame_gives_one_event_without_the_tail)
{
	int events = 0;

	Send(kStart, kBurst);
	for (int i = 1; i <= 5; i++) {
		u64 at = kStart + 20000 + Wire(2 * i * kMss);

		if (!Ack(at, 2 * kMss))
			continue;
		events++;
		EXPECT_EQ(i, 5);        // ten of eleven frames
		EXPECT_EQ(event_.rtt_ns, 20000u);
	}
	EXPECT_EQ(events, 1);
	// The eleventh frame waits for the delayed-ACK timer: never an event.
	EXPECT_FALSE(Ack(kStart + 40000000, kMss));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_NOTHING);
}

TEST_F(Flow, ack__tail_acked_with_the_next_burst)
{
	Send(kStart, kBurst);
	for (int i = 0; i < 5; i++)
		Ack(kStart + 30000, 2 * kMss);
	Send(kStart + 100000, kBurst);
	// One frame of the old burst, one of the new: not an event of either.
	EXPECT_FALSE(Ack(kStart + 121000, 2 * kMss));
	for (int i = 0; i < 3; i++)
		EXPECT_FALSE(Ack(kStart + 125000, 2 * kMss));
	// 1 + 6 acked; 4 left
	EXPECT_FALSE(Ack(kStart + 130000, 2 * kMss));
	EXPECT_TRUE(Ack(kStart + 133000, 2 * kMss));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.covered_bytes, kBurst);
	EXPECT_EQ(event_.rtt_ns, 33000 - Wire(kBurst));
	EXPECT_EQ(event_.acked_bytes, 12 * kMss);
}

TEST_F(Flow, ack__bursts_in_flight_each_give_an_event)
{
	Send(kStart, kBurst);
	Send(kStart + 15000, kBurst);
	Send(kStart + 30000, kBurst);
	for (u64 i = 0; i < 3; i++) {
		ASSERT_TRUE(Ack(kStart + 40000 + i * 15000, kBurst));
		EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
		EXPECT_EQ(event_.source, TIMELY_SRC_TCP_NS);
		EXPECT_EQ(event_.rtt_ns, 40000 - Wire(kBurst));
	}
}

TEST_F(Flow, ack__stretched_over_bursts_uses_the_newest)
{
	Send(kStart, kBurst);
	Send(kStart + 15000, kBurst);
	Send(kStart + 30000, kBurst);
	ASSERT_TRUE(Ack(kStart + 70000, 3 * kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.source, TIMELY_SRC_TCP_US);
	EXPECT_EQ(event_.covered_bytes, kBurst);
	EXPECT_NEAR(event_.rtt_ns, 40000 - Wire(kBurst), 500);
	EXPECT_EQ(event_.acked_bytes, 3 * kBurst);
}

TEST_F(Flow, ack__stretched_into_a_burst_uses_its_packets)
{
	Send(kStart, kBurst);
	Send(kStart + 15000, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst + 4 * kMss));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.source, TIMELY_SRC_TCP_NS);
	EXPECT_EQ(event_.covered_bytes, 4 * kMss);
	EXPECT_EQ(event_.rtt_ns, 35000 - Wire(4 * kMss));
	// The burst's own end is an event too.
	ASSERT_TRUE(Ack(kStart + 60000, 7 * kMss));
	EXPECT_EQ(event_.rtt_ns, 45000 - Wire(kBurst));
}

TEST_F(Flow, ack__one_send_time_is_one_burst)
{
	// The first packets of a connection are not paced.
	Send(kStart, 2 * kMss);
	Send(kStart, 2 * kMss);
	Send(kStart, 2 * kMss);
	for (u32 i = 1; i <= 3; i++) {
		ASSERT_TRUE(Ack(kStart + 20000 + Wire(2 * i * kMss), 2 * kMss));
		EXPECT_EQ(event_.rtt_ns, 20000u);
	}
}

TEST_F(Flow, ack__two_frame_bursts_with_odd_phase)
{
	ack_.burst_bytes = 2 * kMss;
	Send(kStart, kMss);
	Send(kStart + 100000, 2 * kMss);
	Send(kStart + 200000, 2 * kMss);
	ASSERT_TRUE(Ack(kStart + 120000 + Wire(kMss), 2 * kMss));
	EXPECT_EQ(event_.rtt_ns, 20000u);
	EXPECT_EQ(event_.covered_bytes, kMss);
	ASSERT_TRUE(Ack(kStart + 220000 + Wire(kMss), 2 * kMss));
	EXPECT_EQ(event_.rtt_ns, 20000u);
}

TEST_F(Flow, ack__single_frames_acked_in_pairs)
{
	ack_.burst_bytes = kMss;        // no segmentation offload
	for (u64 i = 0; i < 4; i++)
		Send(kStart + i * 100000, kMss);
	ASSERT_TRUE(Ack(kStart + 120000, 2 * kMss));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_NEAR(event_.rtt_ns, 20000 - Wire(kMss), 500);
	ASSERT_TRUE(Ack(kStart + 320000, 2 * kMss));
	EXPECT_NEAR(event_.rtt_ns, 20000 - Wire(kMss), 500);
}

TEST_F(Flow, ack__lone_frame_in_time)
{
	Send(kStart, kMss);
	ASSERT_TRUE(Ack(kStart + 25000, kMss));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.rtt_ns, 25000 - Wire(kMss));
}

TEST_F(Flow, ack__lone_frame_delayed)
{
	Send(kStart, kMss);
	ASSERT_TRUE(Ack(kStart + 40000000, kMss));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
	Send(kStart + 50000000, 300);
	ASSERT_TRUE(Ack(kStart + 50000000 + 121000, 300));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
}

TEST_F(Flow, ack__lone_frame_delayed_while_the_next_burst_is_out)
{
	Send(kStart, kMss);
	Send(kStart + 39990000, kBurst);
	ASSERT_TRUE(Ack(kStart + 40000000, kMss));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
}

TEST_F(Flow, ack__lone_frame_when_every_ack_was_delayed)
{
	ack_.min_rtt_ns = UINT32_MAX;   // and so not known
	Send(kStart, kMss);
	ASSERT_TRUE(Ack(kStart + 40000000, kMss));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
}

TEST_F(Flow, ack__everything_after_a_long_silence)
{
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 40000000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
}

TEST_F(Flow, ack__deep_queue_is_believed)
{
	// 30 ms of queue: the ACKs of a burst come one after another.
	Send(kStart, kBurst);
	for (int i = 1; i <= 4; i++)
		EXPECT_FALSE(Ack(kStart + 30000000 + Wire(2 * i * kMss), 2 * kMss));
	ASSERT_TRUE(Ack(kStart + 30000000 + Wire(10 * kMss), 2 * kMss));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.rtt_ns, 30000000u);
}

TEST_F(Flow, ack__deep_queue_with_aggregated_acks_is_believed)
{
	// One ACK per burst, but more bursts are behind it.
	Send(kStart, kBurst);
	Send(kStart + 10000000, kBurst);
	ASSERT_TRUE(Ack(kStart + 30000000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
}

TEST_F(Flow, ack__receiver_opens_its_window_again)
{
	ack_.rwnd_limited = true;
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 5000000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
	ack_.rwnd_limited = false;
	Send(kStart + 6000000, kBurst);
	ASSERT_TRUE(Ack(kStart + 6040000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
}

TEST_F(Flow, ack__flow_limited_by_the_window_still_sees_the_queue)
{
	ack_.rwnd_limited = true;
	Send(kStart, kBurst);
	Send(kStart + 15000, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
}

// A request of one frame is acked by the response, after the server's work.
TEST_F(Flow, ack__request_acked_by_its_response)
{
	Send(kStart, 100);
	ASSERT_TRUE(Ack(kStart + 1000000, 100));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
}

TEST_F(Flow, ack__retransmitted)
{
	Send(kStart, kBurst);
	ack_.retrans = true;
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_RETRANS);
}

TEST_F(Flow, ack__hole_before_or_after)
{
	Send(kStart, kBurst);
	Send(kStart + 15000, kBurst);
	Send(kStart + 30000, kBurst);
	ack_.hole = true;
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_SACK);
	// The hole is filled by this one: what it covers waited for that.
	ack_.hole = false;
	ASSERT_TRUE(Ack(kStart + 65000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_SACK);
	ASSERT_TRUE(Ack(kStart + 80000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
}

TEST_F(Flow, ack__hole_seen_by_an_ack_of_nothing)
{
	Send(kStart, kBurst);
	ack_.hole = true;
	EXPECT_FALSE(Ack(kStart + 40000, 0));
	ack_.hole = false;
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_SACK);
}

TEST_F(Flow, ack__device_unknown)
{
	ack_.wire_mult = 0;
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_NODEV);
}

TEST_F(Flow, ack__send_time_in_the_future)
{
	Send(kStart + 100000, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_TIME);
}

TEST_F(Flow, ack__faster_than_the_wire)
{
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + Wire(kBurst), kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_FLOOR);
}

TEST_F(Flow, ack__faster_than_the_wire_of_a_software_device)
{
	ack_.wire_sure = false;
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 9000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.rtt_ns, 9000u);
}

TEST_F(Flow, ack__below_the_known_floor)
{
	ack_.floor_ns = 10000;
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + Wire(kBurst) + 10000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_FLOOR);
	Send(kStart + 100000, kBurst);
	ASSERT_TRUE(Ack(kStart + 100000 + Wire(kBurst) + 10001, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
}

TEST(Burst, size__leaves_room_for_the_engine_in_a_socket)
{
	EXPECT_EQ(sizeof(timely_burst), 24u);
}

TEST_F(Flow, ack__hold_is_taken_off)
{
	ack_.hold_ns = 15000;
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.rtt_ns, 35000 - Wire(kBurst));
}

TEST_F(Flow, ack__queue_of_the_way_back_is_taken_off)
{
	ack_.back_ns = 15000;
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.rtt_ns, 35000 - Wire(kBurst));
}

TEST_F(Flow, ack__lone_frame_whose_ack_met_a_queue_is_not_late)
{
	ack_.back_ns = 100000;
	Send(kStart, kMss);
	ASSERT_TRUE(Ack(kStart + 125000, kMss));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.rtt_ns, 25000 - Wire(kMss));
	Send(kStart + 1000000, kMss);
	ASSERT_TRUE(Ack(kStart + 1000000 + 100000 + 121000, kMss));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_DELACK);
}

TEST_F(Flow, ack__way_back_longer_than_all_of_it)
{
	ack_.back_ns = 50000;
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_EQ(event_.verdict, TIMELY_DROP_FLOOR);
}

TEST_F(Flow, ack__old_or_repeated)
{
	Send(kStart, kBurst);
	ASSERT_TRUE(Ack(kStart + 50000, kBurst));
	EXPECT_FALSE(Ack(kStart + 51000, 0));
	EXPECT_EQ(event_.verdict, TIMELY_ACK_NOTHING);
}

// Whatever ACKs come, each byte is counted once and no RTT exceeds the age of
// the oldest byte the ACK touches.
TEST_F(Flow, ack__random_stretches)
{
	u32 random = 12345, counted = 0, sent = 0;
	u64 now = kStart;

	for (int i = 0; i < 20000; i++) {
		random = random * 1664525 + 1013904223;
		now += 1000 + (random >> 20);
		if ((random >> 8) % 3) {
			u32 bytes = 1 + (random >> 9) % kBurst;

			Send(now, bytes);
			sent += bytes;
		} else if (snd_nxt_ != snd_una_) {
			u64 age = now + 1 - queue_.front().send_ns;
			u32 bytes = 1 + (random >> 9) % (snd_nxt_ - snd_una_);

			if (!Ack(now + 1, bytes))
				continue;
			counted += event_.acked_bytes;
			ASSERT_LE(event_.covered_bytes, kBurst);
			if (event_.verdict == TIMELY_ACK_SAMPLE) {
				ASSERT_LE(event_.rtt_ns, age);
			}
		}
	}
	ack_.now_ns = now;
	if (snd_nxt_ != snd_una_ && Ack(now + 1000, snd_nxt_ - snd_una_))
		counted += event_.acked_bytes;
	EXPECT_EQ(counted, sent);
}

}  // namespace
