// SPDX-License-Identifier: GPL-2.0
// sch_onramp/orack/orack_stamper.h: whose times receipts carry.
#include <algorithm>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_stamper.h"

namespace {

constexpr u64 kSecond = 1000000000;

class Stamper {
public:
	// So much data with and without stamps, one after the other.
	bool See(u32 stamped, u32 missed)
	{
		orack_seen seen{stamped, missed};

		return orack_stamper_next(&stamper_, &seen, now_ns_);
	}

	bool SeeEach(u32 count, u32 stamped, u32 missed)
	{
		bool nic = false;

		while (count--)
			nic = See(stamped, missed);
		return nic;
	}

	void Wait(u64 ns) { now_ns_ += ns; }

private:
	orack_stamper stamper_{};
	u64 now_ns_ = 5 * kSecond;
};

TEST(orack_stamper_next, first_data_has_a_stamp__the_nic_at_once)
{
	EXPECT_TRUE(Stamper().See(1, 0));
}

TEST(orack_stamper_next, first_data_has_none__the_host)
{
	EXPECT_FALSE(Stamper().See(0, 1));
	EXPECT_FALSE(Stamper().See(1, 1));
}

TEST(orack_stamper_next, stamps_begin_later__the_nic_after_a_run)
{
	Stamper stamper;

	stamper.See(0, 1);
	EXPECT_FALSE(stamper.SeeEach(ORACK_STAMPER_RUN - 1, 1, 0));
	EXPECT_TRUE(stamper.See(1, 0));
}

TEST(orack_stamper_next, run_is_broken__begins_anew)
{
	Stamper stamper;

	stamper.See(0, 1);
	stamper.SeeEach(ORACK_STAMPER_RUN - 1, 1, 0);
	EXPECT_FALSE(stamper.See(0, 1));
	EXPECT_FALSE(stamper.SeeEach(ORACK_STAMPER_RUN - 1, 1, 0));
	EXPECT_TRUE(stamper.See(1, 0));
}

TEST(orack_stamper_next, stamps_end__the_host_after_eight)
{
	Stamper stamper;

	stamper.See(1, 0);
	EXPECT_TRUE(stamper.SeeEach(7, 0, 1));
	EXPECT_FALSE(stamper.See(0, 1));
}

TEST(orack_stamper_next, stamps_end_within_a_batch__count_as_much)
{
	Stamper stamper;

	stamper.See(1, 0);
	EXPECT_FALSE(stamper.See(1, 8));
}

TEST(orack_stamper_next, few_misses__still_the_nic)
{
	Stamper stamper;

	stamper.See(1, 0);
	for (int i = 0; i < 1000; i++)
		EXPECT_TRUE(stamper.See(9, 1));
}

TEST(orack_stamper_next, a_second_nic_without_stamps__the_host)
{
	Stamper stamper;

	stamper.See(1, 0);
	EXPECT_FALSE(stamper.SeeEach(100, 1, 1));
}

TEST(orack_stamper_next, stamps_come_back__the_nic_a_moment_later_twice_as_long_each_time)
{
	Stamper stamper;
	u64 hold_ns = kSecond / 10;

	stamper.See(1, 0);
	for (int i = 0; i < 10; i++) {
		stamper.SeeEach(8, 0, 1);
		EXPECT_FALSE(stamper.SeeEach(1000, 1, 0));
		stamper.Wait(hold_ns * 9 / 10);
		EXPECT_FALSE(stamper.See(1, 0));
		stamper.Wait(hold_ns * 2 / 10);
		EXPECT_TRUE(stamper.See(1, 0));
		hold_ns = std::min(hold_ns * 2, 10 * kSecond);
	}
}

TEST(orack_stamper_next, stamps_come_and_go__seldom_followed)
{
	Stamper stamper;
	int changes = 0;
	bool nic = stamper.See(1, 0);

	// a minute of half a second with and half a second without
	for (int ms = 0; ms < 60000; ms++) {
		bool good = ms / 500 % 2 == 0;
		bool next = stamper.See(good, !good);

		changes += next != nic;
		nic = next;
		stamper.Wait(kSecond / 1000);
	}
	// seven waits of 0.1 to 6.4 s, then one of 10 s each: 12 times back, and as often forth
	EXPECT_LE(changes, 25);
}

TEST(orack_stamper_next, nothing_new__nothing_is_written)
{
	orack_stamper stamper{};
	orack_seen stamped{1, 0}, missed{0, 1};

	for (bool nic : {true, false}) {
		stamper = {};
		orack_stamper_next(&stamper, nic ? &stamped : &missed, kSecond);
		orack_stamper before = stamper;
		orack_stamper_next(&stamper, nic ? &stamped : &missed, 3 * kSecond);
		EXPECT_EQ(stamper.run, before.run);
		EXPECT_EQ(stamper.debt, before.debt);
		EXPECT_EQ(stamper.nic, nic);
	}
}

TEST(orack_stamp_is_good, bounds)
{
	constexpr u64 kNow = 7 * kSecond;

	EXPECT_TRUE(orack_stamp_is_good(kNow, kNow, 0));
	EXPECT_TRUE(orack_stamp_is_good(kNow, kNow - 20000, ORACK_NIC_ERROR_NS));
	EXPECT_FALSE(orack_stamp_is_good(kNow, kNow - 20000, ORACK_NIC_ERROR_NS + 1));
	// from the future, but for the error
	EXPECT_TRUE(orack_stamp_is_good(kNow, kNow + 100, 100));
	EXPECT_FALSE(orack_stamp_is_good(kNow, kNow + 101, 100));
	// too old
	EXPECT_TRUE(orack_stamp_is_good(kNow, kNow - ORACK_NIC_LATE_NS, 0));
	EXPECT_FALSE(orack_stamp_is_good(kNow, kNow - ORACK_NIC_LATE_NS - 1, 0));
	EXPECT_FALSE(orack_stamp_is_good(kNow, kNow - kSecond, 0));
	EXPECT_FALSE(orack_stamp_is_good(kNow, 0, 0));
}

} // namespace
