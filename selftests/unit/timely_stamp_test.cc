// SPDX-License-Identifier: GPL-2.0
// RTT by NIC stamps in place of TCP's: tcp_timely/timely_stamp.h

#include <gtest/gtest.h>

#include "tcp_timely/timely_stamp.h"

namespace {

constexpr u32 kMss = 1448;
constexpr u32 kFrame = 90;
constexpr u32 kWire10G = 838861;	// 0.8 ns per byte
constexpr u32 kBurst = 11 * kMss;
constexpr u32 kUnknown = 0xffffffff;

u64 Wire(u32 bytes)
{
	return timely_wire_ns(bytes, kMss, kFrame, kWire10G);
}

class Stamp : public ::testing::Test {
 protected:
	Stamp()
	{
		ack_.mss = kMss;
		ack_.frame_bytes = kFrame;
		ack_.wire_mult = kWire10G;
		ack_.una = 1000 + kBurst;
		s_.rtt_ns = 20000;
		s_.tx_seq = ack_.una;
		s_.run_bytes = kBurst;
		s_.wait_error_ns = kUnknown;
	}

	u64 Rtt() const { return timely_stamp_rtt_ns(&s_, &ack_); }

	timely_ack ack_ = {};
	nicstamp_sample s_ = {};
	timely_event event_ = {};
};

TEST_F(Stamp, rtt__stamp_of_the_last_byte_acked)
{
	EXPECT_EQ(Rtt(), 20000u);
}

TEST_F(Stamp, rtt__last_segment_not_yet_acked)
{
	ack_.una -= kMss;
	EXPECT_EQ(Rtt(), 20000 + Wire(kMss));
}

// A NIC that stamps the first frame of a TSO packet tells the same RTT.
TEST_F(Stamp, rtt__stamp_of_the_first_frame)
{
	s_.tx_seq = 1000;
	s_.rtt_ns = 20000 + Wire(kBurst);
	EXPECT_EQ(Rtt(), 20000u);
}

TEST_F(Stamp, rtt__faster_than_the_wire_cannot_be)
{
	s_.tx_seq = 1000;
	s_.rtt_ns = Wire(kBurst) - 1;
	EXPECT_EQ(Rtt(), 0u);
}

TEST_F(Stamp, rtt__sequence_numbers_wrap)
{
	ack_.una = 500;
	s_.tx_seq = 500 + kMss;
	u64 expected = Rtt();
	ack_.una = (u32)-700;
	s_.tx_seq = kMss - 700;
	EXPECT_EQ(Rtt(), expected);
}

TEST_F(Stamp, rtt__waiting_in_the_nic_is_part_of_it)
{
	s_.wait_ns = Wire(kBurst) + 5000;
	s_.wait_error_ns = 100;
	EXPECT_EQ(Rtt(), 25000u);
}

TEST_F(Stamp, rtt__waiting_that_is_not_known_well_is_not)
{
	s_.wait_ns = Wire(kBurst) + 5000;
	s_.wait_error_ns = TIMELY_STAMP_WAIT_ERROR_NS + 1;
	EXPECT_EQ(Rtt(), 20000u);
}

TEST_F(Stamp, rtt__own_time_on_the_wire_is_not_waiting)
{
	s_.wait_ns = Wire(kBurst);
	s_.wait_error_ns = 0;
	EXPECT_EQ(Rtt(), 20000u);
}

TEST_F(Stamp, use__event_gets_the_stamps_rtt_and_says_so)
{
	event_.verdict = TIMELY_ACK_SAMPLE;
	event_.rtt_ns = 55000;
	timely_stamp_use(&event_, &s_, &ack_);
	EXPECT_EQ(event_.verdict, TIMELY_ACK_SAMPLE);
	EXPECT_EQ(event_.source, TIMELY_SRC_NIC);
	EXPECT_EQ(event_.rtt_ns, 20000u);
}

TEST_F(Stamp, use__queues_that_are_not_in_the_signal_are_taken_off)
{
	ack_.back_ns = 7000;
	timely_stamp_use(&event_, &s_, &ack_);
	EXPECT_EQ(event_.rtt_ns, 13000u);
	ack_.back_ns = 20000;
	timely_stamp_use(&event_, &s_, &ack_);
	EXPECT_EQ(event_.verdict, TIMELY_DROP_FLOOR);
}

TEST_F(Stamp, use__hosts_own_are_told_apart)
{
	event_.verdict = TIMELY_ACK_SAMPLE;
	s_.host = true;
	timely_stamp_use(&event_, &s_, &ack_);
	EXPECT_EQ(event_.source, TIMELY_SRC_DRIVER);
}

TEST_F(Stamp, use__below_the_floor_is_dropped)
{
	event_.verdict = TIMELY_ACK_SAMPLE;
	ack_.floor_ns = 20000;
	timely_stamp_use(&event_, &s_, &ack_);
	EXPECT_EQ(event_.verdict, TIMELY_DROP_FLOOR);
}

TEST_F(Stamp, is_welcome__of_the_kind_that_the_mode_says)
{
	EXPECT_TRUE(timely_stamp_is_welcome(TIMELY_STAMP_AUTO, &s_));
	EXPECT_TRUE(timely_stamp_is_welcome(TIMELY_STAMP_HW, &s_));
	EXPECT_FALSE(timely_stamp_is_welcome(TIMELY_STAMP_SW, &s_));
	EXPECT_FALSE(timely_stamp_is_welcome(TIMELY_STAMP_TCP, &s_));
	s_.host = true;
	EXPECT_TRUE(timely_stamp_is_welcome(TIMELY_STAMP_AUTO, &s_));
	EXPECT_FALSE(timely_stamp_is_welcome(TIMELY_STAMP_HW, &s_));
	EXPECT_TRUE(timely_stamp_is_welcome(TIMELY_STAMP_SW, &s_));
	EXPECT_FALSE(timely_stamp_is_welcome(TIMELY_STAMP_TCP, &s_));
}

TEST(StampMode, leaves_tcp__as_the_mode_says)
{
	EXPECT_FALSE(timely_stamp_leaves_tcp(TIMELY_STAMP_AUTO, 1));
	EXPECT_TRUE(timely_stamp_leaves_tcp(TIMELY_STAMP_AUTO, TIMELY_STAMP_PATIENCE));
	EXPECT_TRUE(timely_stamp_leaves_tcp(TIMELY_STAMP_AUTO, kUnknown));
	EXPECT_FALSE(timely_stamp_leaves_tcp(TIMELY_STAMP_HW, kUnknown));
	EXPECT_FALSE(timely_stamp_leaves_tcp(TIMELY_STAMP_SW, kUnknown));
	EXPECT_TRUE(timely_stamp_leaves_tcp(TIMELY_STAMP_TCP, 0));
}

}  // namespace
