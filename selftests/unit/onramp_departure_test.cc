// SPDX-License-Identifier: GPL-2.0
// Departures by the NIC's stamps, or the qdisc's: sch_onramp/onramp_departure.h

#include <gtest/gtest.h>

#include <random>

#include "sch_onramp/onramp_departure.h"

namespace {

constexpr u64 kSent = 1000000000;	// when the packet left the qdisc
constexpr u32 kFirst = 0xfffff000;	// wraps soon

onramp_record Sent()
{
	onramp_record r = {};

	r.tx_ns = kSent;
	r.start_seq = kFirst;
	r.end_seq = kFirst + 16000;
	return r;
}

TEST(Wire, wants__each_packet_once_and_none_that_was_sent_again)
{
	onramp_record r = Sent();

	EXPECT_FALSE(onramp_departure_wants(nullptr));
	EXPECT_TRUE(onramp_departure_wants(&r));
	r.stamped = 1;
	EXPECT_FALSE(onramp_departure_wants(&r));
	r.stamped = 0;
	r.retrans = 1;
	EXPECT_FALSE(onramp_departure_wants(&r));
}

TEST(Wire, enter__what_the_nic_kept_it_for)
{
	onramp_record r = Sent();

	EXPECT_TRUE(onramp_departure_enter(&r, kSent + 150000, 30, 0, kSent + 151000));
	EXPECT_TRUE(r.stamped);
	EXPECT_EQ(r.nic_ns, 150000u);
	EXPECT_EQ(r.retrans, 0u);
}

TEST(Wire, enter__stamp_of_the_first_frame_is_before_the_last_byte)
{
	onramp_record r = Sent();

	// the NIC told of it while the rest was leaving
	EXPECT_TRUE(onramp_departure_enter(&r, kSent + 150000, 30, 12800, kSent + 150000));
	EXPECT_EQ(r.nic_ns, 162800u);
}

TEST(Wire, enter__clock_that_is_hardly_known_is_not_believed)
{
	onramp_record r = Sent();

	EXPECT_FALSE(onramp_departure_enter(&r, kSent + 5000, ORACK_NIC_ERROR_NS + 1, 0, kSent + 9000));
	EXPECT_FALSE(onramp_departure_enter(&r, kSent + 5000, ~0u, 0, kSent + 9000));
	EXPECT_FALSE(r.stamped);
	EXPECT_TRUE(onramp_departure_enter(&r, kSent + 5000, ORACK_NIC_ERROR_NS, 0, kSent + 9000));
}

TEST(Wire, enter__before_the_qdisc_or_after_now_is_not_believed)
{
	onramp_record r = Sent();

	EXPECT_FALSE(onramp_departure_enter(&r, kSent - 101, 100, 0, kSent + 5000));
	EXPECT_FALSE(onramp_departure_enter(&r, kSent + 5101, 100, 0, kSent + 5000));
	EXPECT_FALSE(onramp_departure_enter(&r, 0, 100, 0, kSent + 5000));
	EXPECT_FALSE(onramp_departure_enter(&r, ~0ULL - 50, 100, 0, kSent + 5000));
	EXPECT_FALSE(r.stamped);
	// the map may be off by as much
	EXPECT_TRUE(onramp_departure_enter(&r, kSent - 100, 100, 0, kSent + 5000));
	EXPECT_EQ(r.nic_ns, 0u);
}

TEST(Wire, enter__what_its_field_has_no_room_for_is_not_believed)
{
	onramp_record r = Sent();

	EXPECT_FALSE(onramp_departure_enter(&r, kSent + ONRAMP_DEPARTURE_MAX_NS + 1, 0, 0, kSent + (2ULL << 30)));
	EXPECT_TRUE(onramp_departure_enter(&r, kSent + ONRAMP_DEPARTURE_MAX_NS, 0, 0, kSent + (2ULL << 30)));
	EXPECT_EQ(r.nic_ns, ONRAMP_DEPARTURE_MAX_NS);
}

// Whatever a NIC's clock does, what is believed lies where the packet can have left.
TEST(Wire, enter__never_outside_of_what_the_host_saw)
{
	std::mt19937_64 random(4);

	for (int i = 0; i < 100000; i++) {
		const u64 seen = kSent + random() % 2000000;
		const s64 step = static_cast<s64>(random() % 4000000) - 2000000;
		const u64 at = kSent + random() % (seen - kSent + 1) + step;
		const u32 error = random() % (ORACK_NIC_ERROR_NS + 1000);
		onramp_record r = Sent();

		if (!onramp_departure_enter(&r, at, error, 0, seen))
			continue;
		ASSERT_LE(error, static_cast<u32>(ORACK_NIC_ERROR_NS));
		ASSERT_LE(kSent + r.nic_ns, seen + error);
		ASSERT_EQ(kSent + r.nic_ns, std::max(at, kSent));
	}
}

class Leaves : public ::testing::Test {
 protected:
	onramp_departure_kind Next(bool stamped)
	{
		onramp_record r = Sent();

		r.stamped = stamped;
		now_ += 10000;
		return onramp_departure_next(&stamper_, &r, now_);
	}

	orack_stamper stamper_ = {};
	u64 now_ = kSent;
};

TEST_F(Leaves, next__stamps_from_the_first_packet_on)
{
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(Next(true), ONRAMP_DEPARTURE_NIC);
}

TEST_F(Leaves, next__none_is_the_qdisc)
{
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(Next(false), ONRAMP_DEPARTURE_QDISC);
}

TEST_F(Leaves, next__what_misses_its_stamp_in_between_is_not_mixed_in)
{
	for (int i = 0; i < 1000; i++)
		EXPECT_EQ(Next(i % 10 != 9), i % 10 != 9 ? ONRAMP_DEPARTURE_NIC :
							   ONRAMP_DEPARTURE_UNKNOWN) << i;
}

TEST_F(Leaves, next__stamps_that_end_are_not_waited_for_long)
{
	int unknown = 0;

	for (int i = 0; i < 100; i++)
		Next(true);
	while (Next(false) == ONRAMP_DEPARTURE_UNKNOWN)
		unknown++;
	EXPECT_EQ(unknown, 7);
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(Next(false), ONRAMP_DEPARTURE_QDISC);
}

TEST_F(Leaves, next__stamps_of_a_few_packets_are_not_mixed_in)
{
	EXPECT_EQ(Next(false), ONRAMP_DEPARTURE_QDISC);
	for (int i = 0; i < 1000; i++)
		EXPECT_EQ(Next(i % 3), ONRAMP_DEPARTURE_QDISC);
}

}  // namespace
