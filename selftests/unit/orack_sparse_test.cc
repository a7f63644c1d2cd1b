// SPDX-License-Identifier: GPL-2.0
// Sparse receipts on an empty path: sch_onramp/orack/orack_sparse.h

#include <random>

#include <gtest/gtest.h>

#include "sch_onramp/orack/orack_sparse.h"

namespace {

constexpr u64 kStart = 5'000'000'000;

// A receiver that sparse receipts are enough for.
class Receiver {
 public:
	// Others' data, of which this processor hears.
	void Others(u32 bytes) { arrived_ += bytes; }

	// True: there is a receipt.
	bool Data(u32 bytes, u64 now_ns)
	{
		arrived_ += bytes;
		if (orack_sparse_spares(&sparse_, bytes, arrived_, now_ns - sent_ns_, now_ns))
			return false;
		sent_ns_ = now_ns;
		orack_sparse_begin(&sparse_, arrived_);
		return true;
	}

	// @bytes every @every_ns, for @span_ns; how many receipts.
	int Stream(u32 bytes, u64 every_ns, u64 span_ns, u64 *now_ns)
	{
		int receipts = 0;

		for (u64 end_ns = *now_ns + span_ns; *now_ns < end_ns; *now_ns += every_ns)
			receipts += Data(bytes, *now_ns);
		return receipts;
	}

	u32 arrived_ = 0xfffff000;	// wraps soon

 private:
	orack_sparse sparse_{};
	u64 sent_ns_ = 0;
};

TEST(orack_sparse_spares, a_stream_of_10_gbit__has_a_receipt_for_800_kb)
{
	Receiver r;
	u64 now = kStart;

	r.Stream(60000, 48'000, 2 * ORACK_SPARSE_BUSY_NS, &now);
	EXPECT_NEAR(r.Stream(60000, 48'000, 100'000'000, &now), 125e6 / (14 * 60000), 2);
}

TEST(orack_sparse_spares, a_stream_of_100_gbit__has_one_in_500_us)
{
	Receiver r;
	u64 now = kStart;

	r.Stream(60000, 4'800, 2 * ORACK_SPARSE_BUSY_NS, &now);
	EXPECT_NEAR(r.Stream(60000, 4'800, 100'000'000, &now), 199, 2);
}

TEST(orack_sparse_spares, a_slow_stream__has_one_in_5_ms)
{
	Receiver r;
	u64 now = kStart;

	r.Stream(1448, 190'000, 2 * ORACK_SPARSE_BUSY_NS, &now);
	EXPECT_NEAR(r.Stream(1448, 190'000, 100'000'000, &now), 19, 1);
}

TEST(orack_sparse_spares, data_with_gaps__has_all)
{
	Receiver r;
	u64 now = kStart;

	EXPECT_EQ(r.Stream(1448, ORACK_SPARSE_GAP_NS + 1, 100 * ORACK_SPARSE_GAP_NS, &now), 100);
}

TEST(orack_sparse_spares, a_gap__brings_all_back_for_a_while)
{
	Receiver r;
	u64 now = kStart;

	r.Stream(60000, 48'000, 10'000'000, &now);
	now += ORACK_SPARSE_GAP_NS;
	EXPECT_EQ(r.Stream(60000, 48'000, ORACK_SPARSE_BUSY_NS, &now), 11);
	EXPECT_LE(r.Stream(60000, 48'000, ORACK_SPARSE_BUSY_NS, &now), 1);
}

TEST(orack_sparse_spares, others_send__all_come_at_once)
{
	Receiver r;
	u64 now = kStart;

	r.Stream(60000, 48'000, 10'000'000, &now);
	while (r.Data(60000, now))
		now += 48'000;
	r.Others(ORACK_SPARSE_COMPANY_BYTES);
	EXPECT_FALSE(r.Data(60000, now += 48'000));
	r.Others(1);
	EXPECT_EQ(r.Stream(60000, 48'000, ORACK_SPARSE_BUSY_NS, &now), 11);
}

// The rule, said with sums that do not wrap.
TEST(orack_sparse_spares, random_data__is_as_the_model_has_it)
{
	std::mt19937 random(7);
	Receiver r;
	u64 now = kStart, last = 0, sent = 0, busy = 0, own = 0, others = 0;
	int receipts = 0;

	for (int i = 0; i < 200000; i++) {
		u32 bytes = 1 + random() % 64000, more = random() % 8 ? 0 : random() % 20000;
		now += random() % 50 ? random() % 60'000 : random() % 1'000'000;
		r.Others(more);
		others += more;
		own += bytes;
		if (others > ORACK_SPARSE_COMPANY_BYTES ||
		    now - std::max(last, sent) > ORACK_SPARSE_GAP_NS)
			busy = now;
		last = now;
		bool sparse = now - busy >= ORACK_SPARSE_BUSY_NS &&
			      now - sent < ORACK_SPARSE_MAX_NS &&
			      (now - sent < ORACK_SPARSE_NS || own < ORACK_SPARSE_BYTES);
		ASSERT_EQ(r.Data(bytes, now), !sparse) << i;
		if (sparse)
			continue;
		receipts++;
		sent = now;
		own = others = 0;
	}
	EXPECT_GT(receipts, 10000);
	EXPECT_LT(receipts, 190000);
}

TEST(orack_request_answered, calm_for_2_ms__sparse_ones_are_asked_for_once)
{
	orack_request r{};
	int asked = 0;

	orack_request_all(&r, kStart);
	for (u64 t = 0; t < ORACK_CALM_NS; t += 50'000)
		ASSERT_FALSE(orack_request_answered(&r, false, kStart + t));
	ASSERT_TRUE(orack_request_answered(&r, false, kStart + ORACK_CALM_NS));
	for (u64 t = 0; t < 10'000'000; t += 50'000)
		asked += orack_request_answered(&r, true, kStart + ORACK_CALM_NS + t);
	EXPECT_EQ(asked, 0);
}

TEST(orack_request_answered, the_request_for_sparse_ones_was_lost__is_made_again_in_2_ms)
{
	orack_request r{};
	int asked = 0;

	for (u64 t = 0; t < 20'000'000; t += 50'000)
		asked += orack_request_answered(&r, false, kStart + t);
	EXPECT_EQ(asked, 10);
}

TEST(orack_request_answered, the_request_for_all_was_lost__is_made_again_in_100_us)
{
	orack_request r{};
	int asked = 0;

	for (u64 t = 0; t < 1'000'000; t += 10'000) {
		orack_request_all(&r, kStart + t);
		asked += orack_request_answered(&r, true, kStart + t);
	}
	EXPECT_EQ(asked, 10);
}

TEST(orack_request_all, sparse_ones_come__says_so)
{
	orack_request r{};

	EXPECT_FALSE(orack_request_all(&r, kStart));
	orack_request_answered(&r, true, kStart);
	EXPECT_TRUE(orack_request_all(&r, kStart));
	EXPECT_FALSE(orack_request_is_sparse(&r, kStart + ORACK_CALM_NS - 1));
	EXPECT_TRUE(orack_request_is_sparse(&r, kStart + ORACK_CALM_NS));
}

}  // namespace
