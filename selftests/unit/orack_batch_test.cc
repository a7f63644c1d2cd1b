// SPDX-License-Identifier: GPL-2.0
// What is not receipted yet: sch_onramp/orack/orack_batch.h

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_batch.h"

namespace {

struct Batch : orack_batch {
	Batch() : orack_batch{} { orack_batch_begin(this); }

	bool Add(u16 sport, u32 end_seq, u32 bytes, u64 rx_ns, u64 since_ns = ORACK_FULL_NS)
	{
		orack_entry e = {sport, 80, end_seq, 0};

		return orack_batch_add(this, &e, bytes, rx_ns, since_ns);
	}
};

TEST(orack_batch_add, same_flow__newest_counts)
{
	Batch b;

	EXPECT_FALSE(b.Add(1, 1000, 1000, 1000));
	EXPECT_FALSE(b.Add(1, 3000, 2000, 1500));
	EXPECT_EQ(b.count, 1u);
	EXPECT_EQ(b.entry[0].end_seq, 3000u);
	EXPECT_EQ(b.rx_ns[0], 1500u);
	EXPECT_EQ(b.bytes, 3000u);
}

TEST(orack_batch_add, old_data__changes_nothing)
{
	Batch b;

	b.Add(1, 3000, 2000, 1500);
	EXPECT_FALSE(b.Add(1, 2000, 100000, 1900));
	EXPECT_EQ(b.entry[0].end_seq, 3000u);
	EXPECT_EQ(b.rx_ns[0], 1500u);
	EXPECT_EQ(b.bytes, 2000u);
}

TEST(orack_batch_add, sequence_wraps__newer_is_newer)
{
	Batch b;

	b.Add(1, 0xffffff00, 100, 1000);
	b.Add(1, 0x100, 512, 1100);
	EXPECT_EQ(b.entry[0].end_seq, 0x100u);
}

TEST(orack_batch_add, full_of_flows__is_to_be_sent)
{
	Batch b;

	for (u16 i = 1; i < ORACK_BATCH_FLOWS; i++)
		EXPECT_FALSE(b.Add(i, 100, 100, 1000));
	EXPECT_TRUE(b.Add(ORACK_BATCH_FLOWS, 100, 100, 1000));
}

TEST(orack_batch_add, bytes_enough__is_to_be_sent)
{
	Batch b;

	EXPECT_FALSE(b.Add(1, 1000, ORACK_BATCH_BYTES - 1, 1000));
	EXPECT_TRUE(b.Add(1, 2000, 1, 1000));
}

TEST(orack_batch_add, bytes_enough_soon_after_the_last__waits)
{
	Batch b;

	EXPECT_FALSE(b.Add(1, 60000, ORACK_BATCH_BYTES, 1000, 0));
	EXPECT_FALSE(b.Add(1, 120000, ORACK_BATCH_BYTES, 1000, ORACK_FULL_NS - 1));
	EXPECT_TRUE(b.Add(1, 120001, 1, 1000, ORACK_FULL_NS));
}

TEST(orack_batch_add, full_of_flows_soon_after_the_last__is_to_be_sent)
{
	Batch b;

	for (u16 i = 1; i < ORACK_BATCH_FLOWS; i++)
		EXPECT_FALSE(b.Add(i, 100, 100, 1000, 0));
	EXPECT_TRUE(b.Add(ORACK_BATCH_FLOWS, 100, 100, 1000, 0));
}

TEST(orack_batch_wait_ns, after_quiet__the_first_waits_least)
{
	EXPECT_EQ(orack_batch_wait_ns(0, 0), u32{ORACK_WAIT_MIN_NS});
	EXPECT_EQ(orack_batch_wait_ns(ORACK_WAIT_MAX_NS, ORACK_WAIT_QUIET_NS + 1),
		  u32{ORACK_WAIT_MIN_NS});
}

TEST(orack_batch_wait_ns, data_keeps_coming__waits_grow_to_the_longest)
{
	u32 wait_ns = orack_batch_wait_ns(0, 0), before_ns;

	for (int i = 0; i < 10; i++) {
		before_ns = wait_ns;
		wait_ns = orack_batch_wait_ns(before_ns, ORACK_WAIT_QUIET_NS);
		ASSERT_EQ(wait_ns, std::min<u32>(2 * before_ns, ORACK_WAIT_MAX_NS));
	}
	EXPECT_EQ(wait_ns, u32{ORACK_WAIT_MAX_NS});
}

// Of each batch, @bytes every @every_ns: how many of @count are receipted.
int Receipted(u32 bytes, u64 every_ns, int count)
{
	orack_thin t{};
	int sent = 0;

	for (int i = 0; i < count; i++)
		sent += !orack_thin_spares(&t, bytes, 5'000'000'000 + i * every_ns);
	return sent;
}

TEST(orack_thin_spares, a_flow_that_goes_on__has_receipts_each_two_frames)
{
	EXPECT_EQ(Receipted(2 * 1448, 50'000, 1000), 1000);
	EXPECT_NEAR(Receipted(1448, 50'000, 1000), 500, 1);
	EXPECT_NEAR(Receipted(1448, 900'000, 1000), 500, 1);
}

TEST(orack_thin_spares, requests_and_answers__have_one_in_20_ms)
{
	EXPECT_EQ(Receipted(50, 3'800'000, 1), 1);	// the path is known then
	EXPECT_NEAR(Receipted(50, 3'800'000, 1000), 3800 / 20, 40);
	EXPECT_NEAR(Receipted(2000, 3'800'000, 1000), 3800 / 20, 40);
	EXPECT_NEAR(Receipted(50, 100'000, 1000), 1000 * 50 / ORACK_THIN_BYTES, 5);
	EXPECT_EQ(Receipted(2000, 20'100'000, 100), 100);
}

TEST(orack_thin_spares, time_wraps__costs_one_receipt)
{
	orack_thin t{};
	u64 wrap_ns = u64{1} << (32 + ORACK_THIN_SHIFT);
	int sent = 0;

	for (u64 i = 0; i < 100; i++)
		sent += !orack_thin_spares(&t, 50, wrap_ns - 55'000'000 + i * 1'100'000);
	EXPECT_NEAR(sent, 110 / 20, 1);
}

TEST(orack_batch_close, ages__are_of_each_entry_and_bounded)
{
	Batch b;

	b.Add(1, 1, 1, 1000);
	b.Add(2, 1, 1, 5000);
	b.Add(3, 1, 1, 9000);
	orack_batch_close(&b, 6000);
	EXPECT_EQ(b.entry[0].age_ns, 5000u);
	EXPECT_EQ(b.entry[1].age_ns, 1000u);
	EXPECT_EQ(b.entry[2].age_ns, 0u);	// a clock that went back
	orack_batch_close(&b, 6000 + 5000000000ULL);
	EXPECT_EQ(b.entry[0].age_ns, ORACK_AGE_MAX_NS);
}

TEST(orack_batch_add, any_traffic__is_the_newest_of_each_flow)
{
	std::mt19937 random(3);

	for (int round = 0; round < 2000; round++) {
		std::map<u16, u32> model;
		Batch b;
		bool full = false;

		for (int i = 0; i < 100 && !full; i++) {
			u16 port = 1 + random() % 20;
			u32 seq = random() % 100000;

			full = b.Add(port, seq, 100, 1000 + i);
			if (!model.count(port) || model[port] < seq)
				model[port] = seq;
		}
		ASSERT_EQ(b.count, model.size());
		ASSERT_EQ(full, b.count == ORACK_BATCH_FLOWS);
		for (u32 i = 0; i < b.count; i++)
			ASSERT_EQ(b.entry[i].end_seq, model[b.entry[i].sport]);
	}
}

}  // namespace
