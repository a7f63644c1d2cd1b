// SPDX-License-Identifier: GPL-2.0
// Departure records of what is in flight: sch_onramp/onramp_flight.h

#include <gtest/gtest.h>

#include "sch_onramp/onramp_flight.h"

namespace {

constexpr u32 kFirst = 0xffff0000;	// wraps soon

class Flight : public ::testing::Test {
 protected:
	void SetUp() override { onramp_flight_init(&flight_, kFirst); }

	void Send(u32 bytes)
	{
		onramp_record r = {};

		r.tx_ns = ++clock_;
		r.start_seq = flight_.end_seq;
		r.end_seq = flight_.end_seq + bytes;
		onramp_flight_sent(&flight_, &r);
	}

	onramp_flight flight_;
	u64 clock_ = 0;
};

TEST_F(Flight, find__gives_the_packet_of_the_byte_before)
{
	Send(1000);
	Send(100000);
	EXPECT_EQ(onramp_flight_find(&flight_, kFirst), nullptr);
	EXPECT_EQ(onramp_flight_find(&flight_, kFirst + 1)->tx_ns, 1u);
	EXPECT_EQ(onramp_flight_find(&flight_, kFirst + 1000)->tx_ns, 1u);
	EXPECT_EQ(onramp_flight_find(&flight_, kFirst + 1001)->tx_ns, 2u);
	EXPECT_EQ(onramp_flight_find(&flight_, kFirst + 101000)->tx_ns, 2u);
	EXPECT_EQ(onramp_flight_find(&flight_, kFirst + 101001), nullptr);
}

TEST_F(Flight, ending__gives_the_packet_that_ends_there)
{
	EXPECT_EQ(onramp_flight_ending(&flight_, kFirst), nullptr);
	Send(1000);
	Send(100000);
	EXPECT_EQ(onramp_flight_ending(&flight_, kFirst), nullptr);
	EXPECT_EQ(onramp_flight_ending(&flight_, kFirst + 999), nullptr);
	EXPECT_EQ(onramp_flight_ending(&flight_, kFirst + 1000)->tx_ns, 1u);
	EXPECT_EQ(onramp_flight_ending(&flight_, kFirst + 1001), nullptr);
	EXPECT_EQ(onramp_flight_ending(&flight_, kFirst + 101000)->tx_ns, 2u);
	EXPECT_EQ(onramp_flight_ending(&flight_, kFirst + 101001), nullptr);
}

TEST_F(Flight, sent_again__is_ambiguous)
{
	onramp_record again = {};

	Send(1000);
	Send(1000);
	again.start_seq = kFirst + 500;
	again.end_seq = kFirst + 1000;
	onramp_flight_sent(&flight_, &again);
	EXPECT_TRUE(onramp_flight_find(&flight_, kFirst + 1000)->retrans);
	EXPECT_FALSE(onramp_flight_find(&flight_, kFirst + 2000)->retrans);
	EXPECT_EQ(flight_.count, 2);
}

TEST_F(Flight, acked__is_kept_for_one_more_ack)
{
	Send(1000);
	Send(1000);
	onramp_flight_acked(&flight_, kFirst + 1000);
	EXPECT_NE(onramp_flight_find(&flight_, kFirst + 1000), nullptr);
	onramp_flight_acked(&flight_, kFirst + 2000);
	EXPECT_EQ(onramp_flight_find(&flight_, kFirst + 1000), nullptr);
	EXPECT_NE(onramp_flight_find(&flight_, kFirst + 2000), nullptr);
}

TEST_F(Flight, holds__only_what_was_sent_and_not_acked)
{
	Send(1000);
	EXPECT_TRUE(onramp_flight_holds(&flight_, kFirst + 1000));
	EXPECT_FALSE(onramp_flight_holds(&flight_, kFirst + 1001));
	EXPECT_FALSE(onramp_flight_holds(&flight_, kFirst - 1));
	onramp_flight_acked(&flight_, kFirst + 1000);
	EXPECT_FALSE(onramp_flight_holds(&flight_, kFirst + 999));
}

TEST_F(Flight, crowded__once_more_than_half_full)
{
	for (int i = 0; i < ONRAMP_FLIGHT_MAX / 2; i++)
		Send(1448);
	EXPECT_FALSE(onramp_flight_is_crowded(&flight_));
	Send(1448);
	EXPECT_TRUE(onramp_flight_is_crowded(&flight_));
}

TEST_F(Flight, many_packets__stay_within_the_ring_and_spread)
{
	for (int i = 0; i < 10000; i++)
		Send(1448);
	EXPECT_LE(flight_.count, ONRAMP_FLIGHT_MAX);
	EXPECT_GT(flight_.count, ONRAMP_FLIGHT_MAX / 2);
	for (int i = 0; i < 10000; i++) {
		onramp_flight_acked(&flight_, flight_.una + 1448);
		if (i % 3 == 0)
			Send(1448);
		ASSERT_LE(flight_.count, ONRAMP_FLIGHT_MAX);
	}
	EXPECT_GT(onramp_flight_at(&flight_, flight_.count - 1)->tx_ns, 10000u);
}

}  // namespace
