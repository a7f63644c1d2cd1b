// SPDX-License-Identifier: GPL-2.0
// Stamps become samples: drivers/nicstamp/nicstamp_match.h

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/nicstamp/nicstamp_match.h"

namespace {

constexpr u32 kSeg = 1448;
constexpr u32 kBurst = 11 * kSeg;
constexpr u32 kClock = 0x100;
constexpr u32 kNoWait = 0xffffffff;
constexpr u64 kOff = 1ULL << 50;	// the NIC's clock is far from the system's

class Match : public ::testing::Test {
 protected:
	nicstamp_verdict Post(u64 at, u32 start, u32 end)
	{
		return nicstamp_match_post(&m_, start, end, kSeg, at, true);
	}

	nicstamp_verdict Sent(u64 at, u32 end, u32 clock = kClock)
	{
		return nicstamp_match_sent(&m_, end, kOff + at, clock, 0, kNoWait);
	}

	// The host sees the ACK `late` after the NIC did.
	nicstamp_verdict Acked(u64 at, u32 ack, u64 late = 20000, u32 clock = kClock)
	{
		return nicstamp_match_acked(&m_, ack, kOff + at, clock, 0, at + late);
	}

	nicstamp_verdict Take(u32 una) { return nicstamp_match_take(&m_, una, &t_); }

	nicstamp_match m_ = {};
	nicstamp_times t_ = {};
};

TEST_F(Match, take__rtt_is_between_the_two_stamps)
{
	EXPECT_EQ(Post(1000, 1, 1 + kBurst), NICSTAMP_OK);
	EXPECT_EQ(Sent(15000, 1 + kBurst), NICSTAMP_OK);
	EXPECT_EQ(Acked(36000, 1 + kBurst), NICSTAMP_OK);
	ASSERT_EQ(Take(1 + kBurst), NICSTAMP_OK);
	EXPECT_EQ(t_.rtt_ns, 21000u);
	EXPECT_EQ(t_.end_seq, 1 + kBurst);
	EXPECT_EQ(t_.start_seq, 1u);
	EXPECT_EQ(m_.count, 0);
}

TEST_F(Match, take__transmit_stamp_after_the_ack)
{
	Post(1000, 1, 1 + kBurst);
	Acked(36000, 1 + kBurst);
	Sent(15000, 1 + kBurst);
	ASSERT_EQ(Take(1 + kBurst), NICSTAMP_OK);
	EXPECT_EQ(t_.rtt_ns, 21000u);
}

TEST_F(Match, take__no_transmit_stamp)
{
	Post(1000, 1, 1 + kBurst);
	Acked(36000, 1 + kBurst);
	EXPECT_EQ(Take(1 + kBurst), NICSTAMP_UNSENT);
}

TEST_F(Match, take__ack_that_leaves_the_odd_segment_open)
{
	u32 ack = 1 + kBurst - kSeg;

	Post(1000, 1, 1 + kBurst);
	Sent(15000, 1 + kBurst);
	EXPECT_EQ(Acked(30000, ack - kSeg), NICSTAMP_UNKNOWN);
	EXPECT_EQ(Acked(33000, ack), NICSTAMP_OK);
	ASSERT_EQ(Take(ack), NICSTAMP_OK);
	EXPECT_EQ(t_.rtt_ns, 18000u);
	EXPECT_EQ(t_.end_seq - ack, kSeg);
	// what comes later for it is the receiver's delay
	EXPECT_EQ(Acked(40000000, 1 + kBurst), NICSTAMP_UNKNOWN);
	EXPECT_EQ(Take(1 + kBurst), NICSTAMP_UNKNOWN);
	EXPECT_EQ(m_.count, 0);
}

TEST_F(Match, take__newest_of_those_that_one_ack_completed)
{
	Post(1000, 1, 101);
	Sent(1100, 101);
	Post(2000, 101, 201);
	Sent(2100, 201);
	Acked(9000, 201);
	ASSERT_EQ(Take(201), NICSTAMP_OK);
	EXPECT_EQ(t_.rtt_ns, 6900u);
	EXPECT_EQ(m_.count, 0);
}

TEST_F(Match, take__only_the_ack_that_tcp_took)
{
	Post(1000, 1, 1 + kBurst);
	Sent(15000, 1 + kBurst);
	Acked(36000, 1 + kBurst - kSeg);
	EXPECT_EQ(Take(1 + kBurst), NICSTAMP_UNKNOWN);
}

TEST_F(Match, post__retransmission_makes_all_it_touches_ambiguous)
{
	Post(1000, 1, 101);
	Post(1000, 101, 201);
	Post(1000, 201, 301);
	EXPECT_EQ(Post(5000, 150, 160), NICSTAMP_AGAIN);
	for (u32 end : {101u, 201u, 301u})
		Sent(1100, end);
	Acked(9000, 101);
	EXPECT_EQ(Take(101), NICSTAMP_OK);
	Acked(9100, 201);
	EXPECT_EQ(Take(201), NICSTAMP_AGAIN);
	Acked(9200, 301);
	EXPECT_EQ(Take(301), NICSTAMP_OK);
}

TEST_F(Match, post__without_a_slot_no_record_but_known_when_sent_again)
{
	EXPECT_EQ(nicstamp_match_post(&m_, 1, 101, kSeg, 1000, false), NICSTAMP_NO_SLOT);
	EXPECT_EQ(m_.count, 0);
	EXPECT_EQ(Post(2000, 51, 101), NICSTAMP_AGAIN);
	EXPECT_EQ(Post(3000, 101, 201), NICSTAMP_OK);
	// its ACK is no lie
	EXPECT_EQ(Acked(4000, 101), NICSTAMP_UNKNOWN);
}

TEST_F(Match, post__data_sent_while_nobody_listened_is_no_first_transmission)
{
	Post(1000, 1, 101);
	EXPECT_EQ(Post(2000, 51, 151), NICSTAMP_AGAIN);
	EXPECT_EQ(Post(3000, 101, 151), NICSTAMP_AGAIN);
	EXPECT_EQ(Post(3000, 151, 251), NICSTAMP_OK);
}

TEST_F(Match, post__packet_without_data_is_not_recorded)
{
	EXPECT_EQ(Post(1000, 1, 1), NICSTAMP_NO_DATA);
	EXPECT_EQ(m_.count, 0);
}

TEST_F(Match, post__memory_is_bounded_and_the_oldest_stay)
{
	for (u32 i = 0; i < NICSTAMP_RECORDS; i++)
		EXPECT_EQ(Post(i, 1 + i * 100, 101 + i * 100), NICSTAMP_OK);
	u32 next = 1 + NICSTAMP_RECORDS * 100;
	EXPECT_EQ(Post(50, next, next + 100), NICSTAMP_FULL);
	Sent(60, 101);
	Acked(90, 101);
	ASSERT_EQ(Take(101), NICSTAMP_OK);
	EXPECT_EQ(Post(99, next + 100, next + 200), NICSTAMP_OK);
}

TEST_F(Match, post__records_that_nobody_asks_for_make_room)
{
	for (u32 i = 0; i < 10 * NICSTAMP_RECORDS; i++) {
		ASSERT_EQ(Post(i, 1 + i * 100, 101 + i * 100), NICSTAMP_OK);
		Acked(i, 101 + i * 100);
	}
}

// The rule of two clocks, tried in every way they can meet.
TEST_F(Match, take__stamps_of_two_clocks_are_never_subtracted)
{
	for (u32 tx : {0x100u, 0x101u, 0x200u})
		for (u32 rx : {0x100u, 0x101u, 0x200u}) {
			m_ = {};
			Post(1000, 1, 101);
			Sent(1500, 101, tx);
			Acked(9000, 101, 20000, rx);
			EXPECT_EQ(Take(101), tx == rx ? NICSTAMP_OK : NICSTAMP_CLOCKS);
		}
}

TEST_F(Match, take__clock_that_stepped_in_between_is_found_out)
{
	for (s64 step : {1000000, -1000000, -9000, 60000}) {
		m_ = {};
		Post(1000, 1, 101);
		Sent(1500, 101);
		Acked(9000 + step, 101, 20000 - step);
		EXPECT_EQ(Take(101), NICSTAMP_ABSURD) << step;
	}
}

TEST_F(Match, take__fast_clock_and_coarse_stamps_are_not)
{
	// 500 ppm fast over 100 ms
	Post(1000, 1, 101);
	Sent(1000, 101);
	Acked(1000 + 100050000, 101, 0 - 50000ULL);
	EXPECT_EQ(Take(101), NICSTAMP_OK);
}

TEST_F(Match, acked__what_was_never_sent)
{
	EXPECT_EQ(Acked(500, 7), NICSTAMP_ABSURD);
	Post(1000, 1, 101);
	EXPECT_EQ(Acked(2000, 102), NICSTAMP_ABSURD);
	EXPECT_EQ(Acked(2000, 1), NICSTAMP_UNKNOWN);
	EXPECT_EQ(Acked(2000, (u32)-5000), NICSTAMP_UNKNOWN);
}

TEST_F(Match, sent__stamp_of_nothing)
{
	EXPECT_EQ(Sent(1, 101), NICSTAMP_UNKNOWN);
	Post(1000, 1, 101);
	EXPECT_EQ(Sent(1500, 101), NICSTAMP_OK);
	EXPECT_EQ(Sent(1600, 101), NICSTAMP_UNKNOWN);
}

// A flow at random, over the wrap of the sequence numbers, against a model that keeps
// every transmission for ever: each sample must be exactly the model's.
TEST_F(Match, random__every_sample_is_that_of_the_model)
{
	struct Sending { u64 sent; u32 start; };
	std::mt19937 random(11);
	std::map<u32, Sending> model;		// by end, first transmissions
	std::map<u32, bool> ambiguous;		// by end
	u32 nxt = (u32)-3000000, una = nxt;
	u64 now = 1000000, samples = 0, again = 0;

	for (int round = 0; round < 20000; round++) {
		now += 1000 + random() % 5000;
		std::vector<std::pair<u32, u64>> stamps;
		for (u32 i = random() % 4; i; i--) {
			u32 end = nxt + 1 + random() % kBurst;
			now += 100;
			u64 out = now + random() % 10000;
			bool wanted = Post(now, nxt, end) == NICSTAMP_OK;
			model[end] = {out, nxt};
			if (wanted)
				stamps.push_back({end, out});
			nxt = end;
		}
		if (random() % 20 == 0 && una != nxt) {
			u32 end = una + 1 + random() % (nxt - una);
			EXPECT_EQ(Post(now, una, end), NICSTAMP_AGAIN);
			for (auto &[e, s] : model)
				if ((s32)(e - una) > 0 && (s32)(end - s.start) > 0)
					ambiguous[e] = true;
		}
		bool stamps_first = random() % 2;
		if (stamps_first)
			for (auto [end, out] : stamps)
				Sent(out, end);
		u64 in = now + 20000;
		una += una == nxt ? 0 : random() % (nxt - una + 1);
		Acked(in, una);
		if (!stamps_first)
			for (auto [end, out] : stamps)
				Sent(out, end);
		nicstamp_verdict verdict = Take(una);
		if (verdict == NICSTAMP_OK) {
			samples++;
			ASSERT_TRUE(model.count(t_.end_seq));
			ASSERT_FALSE(ambiguous[t_.end_seq]);
			ASSERT_EQ(t_.rtt_ns, in - model[t_.end_seq].sent);
			ASSERT_LE((s32)(t_.end_seq - una), (s32)kSeg);
		}
		again += verdict == NICSTAMP_AGAIN;
		for (u32 i = 0; i < m_.count; i++)
			ASSERT_GT((s32)(nicstamp_record(&m_, i)->end_seq - una), 0);
		now = in + 30000;
	}
	EXPECT_GT(samples, 3000u);
	EXPECT_GT(again, 50u);
}

}  // namespace
