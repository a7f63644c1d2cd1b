// SPDX-License-Identifier: GPL-2.0
//
// tlt_select.h against a model of the paper's Algorithm 1, over random events, and
// what goes beyond the algorithm case by case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tlt/tlt_select.h"

namespace {

constexpr u64 kMs = 1000000;

// Algorithm 1, its variables under their own names. The last packet of the initial window,
// which it leaves open, is the last segment of the first burst.
struct Model {
	enum State { Idle, Important, ImportantClock };
	State sendState = Important;
	State recvState = Idle;

	void receiveData(tlt_kind mark)
	{
		if (mark == TLT_DATA)
			recvState = Important;
		else if (mark == TLT_CLOCK && recvState == Idle)
			recvState = ImportantClock;
	}
	// False: line 13, it goes no further.
	bool receiveAck(tlt_kind mark, u32 ack, u32 una)
	{
		if (mark == TLT_ECHO || mark == TLT_CLOCK_ECHO)
			sendState = Important;
		return !(mark == TLT_CLOCK_ECHO && static_cast<s32>(ack - una) <= 0);
	}
	tlt_kind sendData()
	{
		if (sendState != Important)
			return TLT_PLAIN;
		sendState = Idle;
		return TLT_DATA;
	}
	tlt_kind sendAck()
	{
		State was = recvState;
		recvState = Idle;
		return was == Important ? TLT_ECHO
		       : was == ImportantClock ? TLT_CLOCK_ECHO : TLT_CONTROL;
	}
	// Bytes to inject; 0: none.
	u32 clocking(bool lost, u32 mss)
	{
		if (sendState != Important)
			return 0;
		sendState = Idle;
		return lost ? mss : 1;
	}
};

tlt_burst packet(u64 now_ns, u32 end, u32 una)
{
	tlt_burst b{};

	b.now_ns = now_ns;
	b.end = end;
	b.snd_una = una;
	b.segments = 1;
	b.burst_end = true;
	return b;
}

tlt_pipe pipe_at(u64 now_ns, u64 head_ns, u32 head)
{
	tlt_pipe p{};

	p.now_ns = now_ns;
	p.head_ns = head_ns;
	p.head = head;
	p.head_bytes = 5000;
	p.mss = 1448;
	return p;
}

class Sender : public ::testing::Test {
protected:
	Sender()
	{
		tlt_sender_init(&s_);
		tlt_sender_hear(&s_, true);
	}
	tlt_kind send(const tlt_burst &b) { return tlt_sender_send(&s_, &b); }
	// With an RTT, after four of which a packet is given up.
	tlt_kind send(tlt_burst b, u32 srtt_us)
	{
		b.srtt_us = srtt_us;
		return send(b);
	}
	bool echo(u64 now_ns = 0, bool newest = false)
	{
		tlt_echo e = {now_ns, newest};
		return tlt_sender_echo(&s_, &e);
	}
	tlt_clock_answer clock(const tlt_pipe &p) { return tlt_sender_clock(&s_, &p, &data_); }

	tlt_sender s_;
	tlt_clock_data data_{};
};

// What an ACK's window would be made of; the defaults are those of a full buffer.
tlt_room room(u32 offered = 0, s32 free = -1360, bool ack_due = true)
{
	return {.offered_bytes = offered, .free_bytes = free, .segment_bytes = 1448, .ack_due = ack_due};
}

bool owes(tlt_kind mark, const tlt_room &room)
{
	tlt_receiver r;

	tlt_receiver_init(&r);
	tlt_receiver_data(&r, mark);
	return tlt_receiver_owes(&r, &room);
}

TEST(Receiver, nothing_important__owes_nothing)
{
	tlt_room wide = room(1 << 20, 1 << 20);
	tlt_receiver r;

	tlt_receiver_init(&r);
	EXPECT_FALSE(tlt_receiver_owes(&r, &wide));
	EXPECT_FALSE(owes(TLT_PLAIN, wide));
}

TEST(Receiver, room_for_a_segment__answers_at_once)
{
	EXPECT_TRUE(owes(TLT_DATA, room(1 << 20, 1 << 20)));
	EXPECT_TRUE(owes(TLT_DATA, room(1448, -1)));
	EXPECT_TRUE(owes(TLT_DATA, room(0, 1448)));
}

TEST(Receiver, full_buffer__leaves_the_echo_to_the_ack_that_tcp_owes)
{
	tlt_receiver r;
	tlt_room full = room();

	EXPECT_FALSE(owes(TLT_DATA, room(1447, 1447)));
	tlt_receiver_init(&r);
	tlt_receiver_data(&r, TLT_DATA);
	EXPECT_FALSE(tlt_receiver_owes(&r, &full));
	EXPECT_EQ(tlt_receiver_ack(&r), TLT_ECHO);
}

TEST(Receiver, full_buffer_and_tcp_owes_no_ack__answers_at_once)
{
	EXPECT_TRUE(owes(TLT_DATA, room(0, 0, false)));
	EXPECT_TRUE(owes(TLT_CLOCK, room()));
}

TEST(Algorithm1, random_events__same_as_the_model)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		std::mt19937 random(seed);
		Model model;
		tlt_sender s;
		tlt_receiver r;
		u64 now = kMs;
		u64 marked_ns = 0, echoed_ns = 0;
		u32 next = random(), una = next, marked_end = 0, echoed_end = 0;
		bool flying = false;

		tlt_sender_init(&s);
		tlt_sender_hear(&s, true);
		tlt_receiver_init(&r);
		for (int event = 0; event < 2000; event++) {
			now += 1000 + random() % 50000;
			switch (random() % 5) {
			case 0: {
				tlt_burst b = packet(now, next + 1448, una);
				tlt_kind kind = tlt_sender_send(&s, &b);
				next += 1448;
				ASSERT_EQ(kind, model.sendData()) << "seed " << seed << " event " << event;
				if (kind == TLT_DATA) {
					marked_ns = now;
					marked_end = next;
					flying = true;
				}
				break;
			}
			case 1: {
				tlt_kind mark = random() % 2 ? TLT_DATA : TLT_CLOCK;
				tlt_receiver_data(&r, mark);
				model.receiveData(mark);
				break;
			}
			case 2:
				ASSERT_EQ(tlt_receiver_ack(&r), model.sendAck());
				break;
			case 3: {
				// An echo comes only for what was sent (the paper's network is honest).
				if (!flying)
					break;
				bool clock_echo = random() % 2;
				u32 ack = una + random() % 3;
				tlt_ack a = {.seq = 0, .rcv_nxt = 0, .ack = ack, .snd_una = una,
					     .window = 100, .snd_wnd = 100, .data_bytes = 0,
					     .bare = true, .new_sack = false};
				tlt_echo e = {now, false};
				bool up = model.receiveAck(clock_echo ? TLT_CLOCK_ECHO : TLT_ECHO, ack, una);
				ASSERT_TRUE(tlt_sender_echo(&s, &e));
				ASSERT_EQ(clock_echo && tlt_ack_tells_nothing(&a), !up);
				flying = false;
				echoed_ns = marked_ns;
				echoed_end = marked_end;
				break;
			}
			case 4: {
				if (next == una)
					break;
				u64 head_ns = echoed_ns + random() % 3 - 1;
				tlt_pipe p = pipe_at(now, head_ns, una);
				tlt_clock_data d{};
				bool lost = head_ns < echoed_ns ||
					    (head_ns == echoed_ns && static_cast<s32>(una - echoed_end) < 0);
				u32 bytes = tlt_sender_clock(&s, &p, &d) == TLT_CLOCK_SEND ? d.bytes : 0;
				ASSERT_EQ(bytes, model.clocking(lost, 1448)) << "seed " << seed;
				if (!bytes)
					break;
				tlt_sender_clocked(&s, una + bytes, now);
				marked_ns = now;
				marked_end = una + bytes;
				flying = true;
				break;
			}
			}
		}
	}
}

TEST_F(Sender, window_based__next_packet_is_important_whatever_follows)
{
	for (u32 i = 0; i < 10; i++) {
		tlt_burst b = packet(kMs, 1448 * (i + 1), 0);
		b.burst_end = i == 9;
		EXPECT_EQ(send(b), i ? TLT_PLAIN : TLT_DATA);
	}
}

TEST_F(Sender, retransmission__is_important_at_once)
{
	tlt_burst b = packet(kMs, 1448, 0);

	b.burst_end = false;
	b.again = true;
	EXPECT_EQ(send(b), TLT_DATA);
}

TEST_F(Sender, timeout__what_is_sent_again_is_important)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_DATA);
	EXPECT_EQ(send(packet(kMs, 2896, 0)), TLT_PLAIN);
	tlt_burst b = packet(300 * kMs, 1448, 0);
	b.again = b.timeout = true;
	EXPECT_EQ(send(b), TLT_DATA);
	EXPECT_TRUE(echo());
}

TEST_F(Sender, lost_important_packet__another_follows)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_DATA);
	tlt_burst b = packet(kMs + 399000, 2896, 0);
	b.srtt_us = 100;
	EXPECT_EQ(send(b), TLT_PLAIN);
	b = packet(kMs + 401000, 4344, 0);
	b.srtt_us = 100;
	EXPECT_EQ(send(b), TLT_DATA);
}

TEST_F(Sender, echo_nobody_asked_for__changes_nothing)
{
	EXPECT_FALSE(echo());
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_DATA);
	EXPECT_TRUE(echo());
	EXPECT_EQ(clock(pipe_at(2 * kMs, 0, 0)), TLT_CLOCK_SEND);
	tlt_sender_clocked(&s_, 1, 2 * kMs);
	EXPECT_TRUE(echo());
	for (int i = 0; i < 1000; i++)
		EXPECT_FALSE(echo());
}

TEST_F(Sender, peer_without_echoes__deaf_after_eight_and_tried_again)
{
	u64 now = kMs;
	u32 una = 0, end = 0;

	for (unsigned i = 0; i < TLT_UNANSWERED_MAX; i++) {
		end += 1448;
		EXPECT_EQ(send(packet(now += kMs, end, una)), TLT_DATA);
		una = end;
	}
	end += 1448;
	EXPECT_EQ(send(packet(now += kMs, end, una)), TLT_NONE);
	EXPECT_EQ(tlt_sender_peer(&s_), TLT_PEER_DEAF);
	una = end;
	now += TLT_RETRY_MIN_NS;
	EXPECT_EQ(send(packet(now, end += 1448, una)), TLT_DATA);
	EXPECT_EQ(send(packet(now, end += 1448, una)), TLT_NONE);
	EXPECT_TRUE(echo());
	EXPECT_EQ(tlt_sender_peer(&s_), TLT_PEER_SPEAKS);
	EXPECT_EQ(send(packet(now, end += 1448, una)), TLT_DATA);
}

TEST_F(Sender, deaf_peer__waits_double_after_each_try)
{
	u64 now = kMs;
	u32 end = 0;
	std::vector<u64> tries;

	for (int i = 0; i < 200000; i++) {
		end += 1448;
		if (send(packet(now += 10 * kMs, end, end - 1448)) == TLT_DATA)
			tries.push_back(now);
	}
	ASSERT_GT(tries.size(), TLT_UNANSWERED_MAX + 8u);
	for (unsigned i = 1; i < 8; i++) {
		u64 wait = tries[TLT_UNANSWERED_MAX + i] - tries[TLT_UNANSWERED_MAX + i - 1];
		u64 shift = std::min<u64>(i, TLT_RETRY_MAX_SHIFT);
		EXPECT_NEAR(double(wait), double(TLT_RETRY_MIN_NS << shift), 30.0 * kMs) << i;
	}
}

TEST_F(Sender, unmarked_packets__peer_is_deaf_until_a_mark_comes)
{
	EXPECT_FALSE(tlt_sender_hear(&s_, false));
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_DATA);
	EXPECT_TRUE(tlt_sender_hear(&s_, false));
	EXPECT_EQ(send(packet(kMs, 2896, 0)), TLT_NONE);
	EXPECT_FALSE(tlt_sender_hear(&s_, true));
	EXPECT_EQ(tlt_sender_peer(&s_), TLT_PEER_SPEAKS);
	EXPECT_EQ(send(packet(kMs, 4344, 0)), TLT_DATA);
}

TEST_F(Sender, hears__only_where_another_mark_changes_nothing)
{
	for (unsigned bits = 0; bits < 16; bits++) {
		tlt_sender s = s_;
		s.heard = bits & 1;
		s.silent = bits & 2;
		s.unmarked = bits >> 2;
		tlt_sender after = s;
		tlt_sender_hear(&after, true);
		bool same = after.heard == s.heard && after.silent == s.silent &&
			    after.unmarked == s.unmarked && after.due == s.due &&
			    after.flight == s.flight && after.stale == s.stale;
		tlt_sender_settle(&s);
		EXPECT_EQ(s.hears, same && s.unmarked == 0) << bits;
	}
}

TEST_F(Sender, peer_not_heard_yet__data_is_not_marked)
{
	tlt_sender_init(&s_);
	EXPECT_EQ(tlt_sender_peer(&s_), TLT_PEER_UNKNOWN);
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_NONE);
	tlt_sender_hear(&s_, true);
	EXPECT_EQ(send(packet(kMs, 2896, 0)), TLT_DATA);
}

TEST_F(Sender, clock__byte_without_loss_segment_with_loss)
{
	send(packet(kMs, 14480, 0));
	ASSERT_TRUE(echo());
	EXPECT_EQ(clock(pipe_at(2 * kMs, kMs + 1, 14480)), TLT_CLOCK_SEND);
	EXPECT_EQ(data_.bytes, 1u);
	EXPECT_FALSE(data_.lost);
	EXPECT_EQ(clock(pipe_at(2 * kMs, kMs - 1, 0)), TLT_CLOCK_SEND);
	EXPECT_EQ(data_.bytes, 1448u);
	EXPECT_TRUE(data_.lost);
	// of one burst: before its important tail
	EXPECT_EQ(clock(pipe_at(2 * kMs, kMs, 1448)), TLT_CLOCK_SEND);
	EXPECT_TRUE(data_.lost);
}

TEST_F(Sender, clock__late_packets_of_a_reordering_path_are_no_loss)
{
	send(packet(kMs, 14480, 0));
	ASSERT_TRUE(echo());
	tlt_pipe p = pipe_at(2 * kMs, kMs - 20000, 0);
	p.reorder_us = 25;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
	EXPECT_FALSE(data_.lost);
}

TEST_F(Sender, clock__modes)
{
	send(packet(kMs, 14480, 0));
	ASSERT_TRUE(echo());
	tlt_pipe p = pipe_at(2 * kMs, kMs - 1, 0);
	p.mode = TLT_CLOCK_BYTE;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
	EXPECT_EQ(data_.bytes, 1u);
	p = pipe_at(2 * kMs, kMs + 1, 14480);
	p.mode = TLT_CLOCK_SEGMENT;
	p.head_bytes = 700;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
	EXPECT_EQ(data_.bytes, 700u);
}

// A lost burst of which TCP knows nothing, and its last segment of 144 bytes.
tlt_pipe lost_burst()
{
	tlt_pipe p = pipe_at(2 * kMs, kMs - 1000, 0);

	p.tail_ns = kMs - 900;
	p.tail = 14480;
	p.tail_bytes = 144;
	return p;
}

TEST_F(Sender, clock__of_a_lost_burst_the_last_segment)
{
	send(packet(kMs, 14480, 0));
	ASSERT_TRUE(echo());
	EXPECT_EQ(clock(lost_burst()), TLT_CLOCK_SEND);
	EXPECT_TRUE(data_.lost);
	EXPECT_TRUE(data_.tail);
	EXPECT_EQ(data_.bytes, 144u);
}

TEST_F(Sender, clock__the_first_segment_where_the_last_may_be_on_its_way)
{
	send(packet(kMs, 14480, 0));
	ASSERT_TRUE(echo());
	tlt_pipe p = lost_burst();
	p.tail_ns = kMs + 1;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
	EXPECT_TRUE(data_.lost);
	EXPECT_FALSE(data_.tail);
	EXPECT_EQ(data_.bytes, 1448u);
}

TEST_F(Sender, clock__the_first_segment_where_tcp_knows_of_the_last)
{
	send(packet(kMs, 14480, 0));
	ASSERT_TRUE(echo());
	tlt_pipe p = lost_burst();
	p.tail_bytes = 0;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
	EXPECT_FALSE(data_.tail);
	EXPECT_EQ(data_.bytes, 1448u);
}

TEST_F(Sender, clock__segments_always_are_the_first)
{
	send(packet(kMs, 14480, 0));
	ASSERT_TRUE(echo());
	tlt_pipe p = lost_burst();
	p.mode = TLT_CLOCK_SEGMENT;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
	EXPECT_FALSE(data_.tail);
	EXPECT_EQ(data_.bytes, 1448u);
}

TEST_F(Sender, clock__only_when_nothing_important_flies_and_tcp_is_silent)
{
	send(packet(kMs, 1448, 0));
	EXPECT_EQ(clock(pipe_at(2 * kMs, 0, 0)), TLT_CLOCK_NOTHING);
	ASSERT_TRUE(echo());
	tlt_pipe p = pipe_at(2 * kMs, 0, 0);
	p.will_send = true;
	EXPECT_EQ(clock(p), TLT_CLOCK_NOTHING);
	p = pipe_at(2 * kMs, 0, 0);
	p.head_bytes = 0;
	EXPECT_EQ(clock(p), TLT_CLOCK_NOTHING);
}

TEST_F(Sender, clock__no_faster_than_the_path)
{
	send(packet(kMs, 1448, 0));
	echo();
	tlt_sender_clocked(&s_, 1, 2 * kMs);
	echo();
	tlt_pipe p = pipe_at(2 * kMs + 49000, 0, 0);
	p.min_rtt_us = 100;
	EXPECT_EQ(clock(p), TLT_CLOCK_LIMITED);
	// What came was not its echo, which is still awaited, and goes on with the clocking.
	EXPECT_EQ(clock(p), TLT_CLOCK_NOTHING);
	EXPECT_TRUE(echo());
	p.now_ns = 2 * kMs + 51000;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
}

TEST_F(Sender, clock__faster_than_what_is_known_of_the_path_if_the_newest_was_delivered)
{
	send(packet(kMs, 1448, 0));
	echo();
	tlt_pipe p = pipe_at(kMs + 40000, 0, 0);
	p.min_rtt_us = 400;
	p.heard = true;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
}

TEST_F(Sender, late_echo__is_not_taken_for_that_of_the_next)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0), 100), TLT_DATA);
	// The queue has grown: given up too early.
	EXPECT_EQ(send(packet(kMs + 401000, 2896, 0), 200), TLT_DATA);
	EXPECT_FALSE(echo(kMs + 402000));
	EXPECT_EQ(clock(pipe_at(kMs + 402000, 0, 0)), TLT_CLOCK_NOTHING);
	EXPECT_TRUE(echo(kMs + 800000));
	EXPECT_EQ(s_.echoed_ns, kMs + 401000);
	EXPECT_EQ(s_.echoed_end, 2896u);
}

TEST_F(Sender, late_echo__does_not_come_for_ever)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0), 100), TLT_DATA);
	EXPECT_EQ(send(packet(kMs + 400000, 2896, 0), 200), TLT_DATA);
	// The first was lost indeed: nothing of it within four RTTs more.
	EXPECT_TRUE(echo(kMs + 400000 + 800000));
}

TEST_F(Sender, echo_that_speaks_of_the_newest__is_its_own)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0), 100), TLT_DATA);
	EXPECT_EQ(send(packet(kMs + 400000, 2896, 0), 200), TLT_DATA);
	EXPECT_TRUE(echo(kMs + 500000, true));
}

TEST_F(Sender, retransmission_acknowledged_by_the_first_copy__its_echo_is_no_other_packets)
{
	tlt_burst b = packet(kMs, 1448, 0);
	b.again = true;
	EXPECT_EQ(send(b, 500), TLT_DATA);
	// Acknowledged at once, by an ACK that was on its way: the next is marked.
	EXPECT_EQ(send(packet(kMs + 3000, 4344, 1448), 500), TLT_DATA);
	EXPECT_FALSE(echo(kMs + 640000));
	EXPECT_TRUE(echo(kMs + 643000));
	EXPECT_EQ(s_.unanswered, 0);
}

TEST_F(Sender, timeout__nothing_more_is_heard_of_what_was_in_flight)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0), 100), TLT_DATA);
	tlt_burst b = packet(kMs + 400000, 1448, 0);
	b.again = b.timeout = true;
	EXPECT_EQ(send(b, 100), TLT_DATA);
	EXPECT_TRUE(echo(kMs + 410000));
}

TEST_F(Sender, late_echoes__counted_no_further_than_they_fit)
{
	u64 now = kMs;

	for (int i = 0; i < 1000; i++) {
		EXPECT_EQ(send(packet(now, 1448, 0), 100), TLT_DATA);
		now += 400000;
	}
	EXPECT_EQ(s_.stale, TLT_COUNT_MAX);
	EXPECT_FALSE(echo(now - 1));
	EXPECT_EQ(s_.stale, TLT_COUNT_MAX - 1);
}

TEST_F(Sender, clock_data_in_flight__is_awaited_until_its_echo)
{
	EXPECT_FALSE(tlt_sender_awaits_clock(&s_));
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_DATA);
	EXPECT_FALSE(tlt_sender_awaits_clock(&s_));
	EXPECT_TRUE(echo());
	tlt_sender_clocked(&s_, 1, 2 * kMs);
	EXPECT_TRUE(tlt_sender_awaits_clock(&s_));
	EXPECT_TRUE(echo());
	EXPECT_FALSE(tlt_sender_awaits_clock(&s_));
}

TEST_F(Sender, clock_data_given_up__is_not_awaited)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0), 100), TLT_DATA);
	EXPECT_TRUE(echo());
	tlt_sender_clocked(&s_, 1, 2 * kMs);
	tlt_sender_look(&s_, 2 * kMs + 400000, 0, 100);
	EXPECT_FALSE(tlt_sender_awaits_clock(&s_));
}

// Numbers from a few close ones, so that all comparisons fall both ways.
void random_state(std::mt19937 &random, tlt_sender *s, tlt_burst *b)
{
	auto below = [&](u32 n) { return static_cast<u32>(random() % n); };

	memset(s, 0, sizeof(*s));
	s->mark_ns = below(3) * kMs;
	s->late_ns = below(3) ? s->mark_ns + below(3) * kMs : 0;
	s->mark_end = below(4) * 1000;
	s->retry_ns = below(3) * kMs;
	s->flight = below(3);
	s->stale = below(3);
	s->stale_ns = below(4) * kMs;
	s->unanswered = below(2) ? 0 : below(TLT_UNANSWERED_MAX + 1);
	s->unmarked = below(4) ? 0 : below(TLT_UNMARKED_MAX + 1);
	s->since_mark = below(100);
	s->due = !below(3);
	s->clock = !below(3);
	s->heard = below(4);
	s->silent = !below(4);
	s->retransmitting = !below(3);
	s->rate = !below(4);
	tlt_sender_settle(s);
	*b = packet(below(4) * kMs, 4000, below(4) * 1000);
	b->srtt_us = below(3) * 250;
	b->segments = 1 + below(3);
	b->rate = s->rate;
	b->burst_end = below(2);
	b->again = !below(3);
	b->timeout = !below(4);
}

// What is passed over without the lock is what the lock would have shown to be plain.
TEST(SenderWaits, random_states__a_plain_packet_that_changes_nothing)
{
	std::mt19937 random(1);
	unsigned waits = 0, plain = 0;

	for (int i = 0; i < 200000; i++) {
		tlt_sender s, before;
		tlt_burst b;
		random_state(random, &s, &b);
		memcpy(&before, &s, sizeof(s));
		bool passed = tlt_sender_waits(&s, &b);
		ASSERT_EQ(memcmp(&before, &s, sizeof(s)), 0) << i;
		tlt_kind kind = tlt_sender_send(&s, &b);
		bool same = kind == TLT_PLAIN && !memcmp(&before, &s, sizeof(s));
		ASSERT_TRUE(!passed || same) << i;
		// Nor is anything missed but where a packet came without a mark, where no
		// RTT is known, and a rate-based sender's.
		ASSERT_TRUE(passed || !same || before.unmarked || !before.flight ||
			    !before.late_ns || before.rate) << i;
		waits += passed;
		plain += kind == TLT_PLAIN;
	}
	EXPECT_GT(waits, 1000u);
	EXPECT_GT(plain, 2 * waits);
}

TEST_F(Sender, rate_based__last_of_data_and_every_nth)
{
	unsigned important = 0;

	for (int i = 0; i < 960; i++) {
		tlt_burst b = packet(kMs, 1448 * (i + 1), 0);
		b.rate = true;
		b.burst_end = false;
		b.period = 96;
		important += send(b) == TLT_DATA;
	}
	EXPECT_EQ(important, 10u);
	tlt_burst b = packet(kMs, 1448 * 1000, 0);
	b.rate = true;
	b.period = 96;
	EXPECT_EQ(send(b), TLT_DATA);
}

TEST_F(Sender, rate_based__first_and_last_of_a_round_of_retransmissions)
{
	for (int i = 0; i < 5; i++) {
		tlt_burst b = packet(kMs, 1448 * (i + 1), 0);
		b.rate = b.again = true;
		b.burst_end = false;
		b.last_again = i == 4;
		EXPECT_EQ(send(b), i == 0 || i == 4 ? TLT_DATA : TLT_PLAIN) << i;
	}
}

// Eight windows of a long round, and of each all that is plain is lost: the echo goes on.
TEST_F(Sender, rate_based__what_fills_the_window_within_a_round_of_retransmissions)
{
	for (int i = 0; i < 80; i++) {
		tlt_burst b = packet(kMs, 1448 * (i + 1), 0);
		b.rate = b.again = true;
		b.burst_end = i % 10 == 9;
		bool important = i == 0 || (i > 9 && b.burst_end);
		EXPECT_EQ(send(b), important ? TLT_DATA : TLT_PLAIN) << i;
		if (i % 10 == 9)
			echo(2 * kMs);
	}
}

TEST(Ack, tells_nothing__only_if_nothing_at_all_is_new)
{
	const tlt_ack old = {.seq = 7000, .rcv_nxt = 7000, .ack = 1000, .snd_una = 1000,
			     .window = 5000, .snd_wnd = 5000, .data_bytes = 0, .bare = true,
			     .new_sack = false};
	tlt_ack a = old;

	EXPECT_TRUE(tlt_ack_tells_nothing(&a));
	a = old, a.ack = 999;
	EXPECT_TRUE(tlt_ack_tells_nothing(&a));
	a = old, a.ack = 1001;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = old, a.window = 0;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = old, a.snd_wnd = 0;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = old, a.bare = false;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = old, a.new_sack = true;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
}

TEST(Ack, tells_nothing__a_byte_that_came_before)
{
	const tlt_ack known = {.seq = 0xffffffff, .rcv_nxt = 0, .ack = 1000, .snd_una = 1000,
			       .window = 5000, .snd_wnd = 5000, .data_bytes = 1, .bare = true,
			       .new_sack = false};
	tlt_ack a = known;

	EXPECT_TRUE(tlt_ack_tells_nothing(&a));
	a = known, a.seq = 0;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a)) << "the byte that TCP waits for";
	a = known, a.seq = 1;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a)) << "a byte after a hole";
	a = known, a.seq = 0u - 1448, a.data_bytes = 1448;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a)) << "a segment: the peer's TCP is to be told";
	a = known, a.seq = 0u - 2, a.data_bytes = 2;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = known, a.ack = 1001;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = known, a.window = 5001;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = known, a.new_sack = true;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
	a = known, a.bare = false;
	EXPECT_FALSE(tlt_ack_tells_nothing(&a));
}

TEST(Ack, data_that_came_twice__is_told)
{
	const tlt_block wide = {5000, 9000};
	const tlt_block old_one = {1000, 2448}, inside = {5000, 6448}, same = wide;
	const tlt_block new_one = {8999, 9001}, byte = {1000, 1001}, inner_byte = {5000, 5001};
	const tlt_block wraps = {0xfffffff0, 1000};

	EXPECT_TRUE(tlt_block_came_twice(&old_one, nullptr, 2448));
	EXPECT_TRUE(tlt_block_came_twice(&old_one, &wide, 2448));
	EXPECT_TRUE(tlt_block_came_twice(&inside, &wide, 2448));
	EXPECT_TRUE(tlt_block_came_twice(&same, &wide, 2448));
	EXPECT_TRUE(tlt_block_came_twice(&wraps, nullptr, 1000));
	EXPECT_FALSE(tlt_block_came_twice(&inside, nullptr, 2448)) << "new";
	EXPECT_FALSE(tlt_block_came_twice(&new_one, &wide, 2448));
	EXPECT_FALSE(tlt_block_came_twice(&wide, &inside, 2448));
	EXPECT_FALSE(tlt_block_came_twice(&byte, nullptr, 2448)) << "clocking's own";
	EXPECT_FALSE(tlt_block_came_twice(&inner_byte, &wide, 2448));
}

TEST_F(Sender, taken_back__the_next_is_important)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_DATA);
	tlt_sender_take_back(&s_);
	EXPECT_EQ(s_.flight, 0);
	EXPECT_EQ(send(packet(kMs, 2896, 0)), TLT_DATA);
}

TEST_F(Sender, taken_back_after_an_echo__nothing_is_in_flight)
{
	EXPECT_EQ(send(packet(kMs, 1448, 0)), TLT_DATA);
	EXPECT_TRUE(echo());
	tlt_sender_take_back(&s_);
	EXPECT_EQ(s_.flight, 0);
	EXPECT_EQ(send(packet(kMs, 2896, 0)), TLT_DATA);
	EXPECT_EQ(s_.flight, 1);
}

tlt_pipe effort_pipe(u64 now_ns, u32 head, u32 delivered)
{
	tlt_pipe p = pipe_at(now_ns, 0, head);

	p.delivered = delivered;
	p.min_rtt_us = 50;
	return p;
}

// So many packets of clocking in @total_ns, with an echo of each after 50 us; `timer': from time
// to time TCP sends something, whose echo comes though nothing was clocked.
unsigned clocked_in(tlt_effort *e, u64 *now, u64 total_ns, bool news, u64 timer_ns)
{
	unsigned count = 0;
	u64 end = *now + total_ns;

	for (u32 i = 0; *now < end; i++) {
		tlt_pipe p = effort_pipe(*now, 1, news ? i + 1 : 0);
		bool sends = tlt_effort_is_due(e, &p);
		if (sends)
			tlt_effort_sent(e, &p);
		count += sends;
		*now += sends ? 50000 : timer_ns;
	}
	return count;
}

TEST(Effort, data_is_delivered__clocking_goes_on)
{
	tlt_effort e{};
	u64 now = kMs;

	EXPECT_EQ(clocked_in(&e, &now, 1000 * kMs, true, kMs), 20000u);
}

TEST(Effort, first_byte_acknowledged__is_news_too)
{
	tlt_effort e{};

	for (u32 head = 1; head < 1000; head++) {
		tlt_pipe p = effort_pipe(kMs + head * 50000, head, 0);
		ASSERT_TRUE(tlt_effort_is_due(&e, &p)) << head;
		tlt_effort_sent(&e, &p);
	}
}

TEST(Effort, nothing_is_delivered__as_slow_as_tcps_timer)
{
	tlt_effort e{};
	u64 now = kMs;

	// Whatever comes meanwhile: the first eight, a doubling each, and five a second.
	EXPECT_LE(clocked_in(&e, &now, 10000 * kMs, false, 50000), TLT_VAIN_MAX + 14 + 50);
	// Not for ever silent: an echo later than TCP's timer may be of a peer that takes data again.
	EXPECT_GE(clocked_in(&e, &now, 10000 * kMs, false, 50000), 45u);
}

TEST(Effort, nothing_is_delivered__the_first_eight_go_as_before)
{
	tlt_effort e{};
	u64 now = kMs;

	EXPECT_EQ(clocked_in(&e, &now, TLT_VAIN_MAX * 50000, false, kMs), unsigned{TLT_VAIN_MAX});
	EXPECT_EQ(tlt_effort_gap_ns(&e, 50), 50000u);
}

TEST(Effort, data_is_delivered_again__as_fast_as_before)
{
	tlt_effort e{};
	u64 now = kMs;

	clocked_in(&e, &now, 10000 * kMs, false, 50000);
	EXPECT_EQ(clocked_in(&e, &now, 100 * 50000, true, kMs), 100u);
}

TEST(Effort, any_rtt__no_gap_is_longer_than_tcps_timer)
{
	for (u32 rtt_us : {0u, 1u, 50u, 200000u, 4000000000u}) {
		for (unsigned vain = 0; vain <= TLT_COUNT_MAX; vain++) {
			tlt_effort e{};
			e.vain = vain;
			u64 gap_ns = tlt_effort_gap_ns(&e, rtt_us);
			EXPECT_LE(gap_ns, u64{TLT_VAIN_GAP_MAX_NS});
			EXPECT_EQ(gap_ns > 0, vain >= TLT_VAIN_MAX) << vain;
		}
	}
}

TEST(Effort, taken_back__is_none)
{
	tlt_effort e{};

	for (int i = 0; i < 100; i++) {
		tlt_pipe p = effort_pipe(kMs, 1, 0);
		ASSERT_TRUE(tlt_effort_is_due(&e, &p)) << i;
		tlt_effort_sent(&e, &p);
		tlt_effort_take_back(&e);
	}
	tlt_effort_take_back(&e);
	EXPECT_EQ(e.vain, 0);
}

TEST_F(Sender, clock__forbidden_changes_nothing)
{
	send(packet(kMs, 1448, 0));
	ASSERT_TRUE(echo());
	tlt_pipe p = pipe_at(kMs + 1, 0, 0);
	p.min_rtt_us = 100;
	p.forbidden = true;
	EXPECT_EQ(clock(p), TLT_CLOCK_REFUSED);
	EXPECT_EQ(s_.flight, 0);
	EXPECT_TRUE(s_.due);
	p.head_bytes = 0;
	EXPECT_EQ(clock(p), TLT_CLOCK_NOTHING) << "there is nothing to refuse";
}

TEST_F(Sender, clock__not_into_a_closed_window)
{
	send(packet(kMs, 1448, 0));
	ASSERT_TRUE(echo());
	tlt_pipe p = pipe_at(2 * kMs, 0, 0);
	p.closed = true;
	EXPECT_EQ(clock(p), TLT_CLOCK_NOTHING);
	p.closed = false;
	EXPECT_EQ(clock(p), TLT_CLOCK_SEND);
}

}  // namespace
