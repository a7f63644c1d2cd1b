// SPDX-License-Identifier: GPL-2.0
// tlt_more.h against TCP's own rules: tcp_write_xmit() and tcp_tso_should_defer() of Linux
// 6.1 and 6.12 as a model that also knows what the header cannot, how the rest is packed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tlt/tlt_more.h"

namespace {

// What only TCP knows.
struct Hidden {
	u32 packet_bytes;	// of the next packet in TCP's queue
	bool is_last;		// there is none after it
	u32 max_segments;	// what a packet may have
	u32 age_us;		// of the first packet in flight
};

bool TcpWaitsForMore(const tlt_rest &m, const Hidden &h)
{
	double room = static_cast<double>(m.cwnd - m.in_flight) * m.mss_bytes;
	double limit = std::min<double>(room, m.window_bytes);
	double window = std::min<double>(static_cast<double>(m.cwnd) * m.mss_bytes, m.peer_bytes);

	if (m.recovers || limit >= static_cast<double>(h.max_segments) * m.mss_bytes)
		return false;
	if (!h.is_last && limit >= h.packet_bytes)
		return false;
	if (m.divisor ? limit >= window / m.divisor : limit > 3.0 * m.mss_bytes)
		return false;
	return h.age_us >= m.srtt_us - m.srtt_us / 2.0;
}

bool TcpSends(const tlt_rest &m, const Hidden &h)
{
	if (m.in_flight >= m.cwnd || std::min(h.packet_bytes, m.mss_bytes) > m.window_bytes)
		return false;
	if (h.packet_bytes > m.mss_bytes)
		return !TcpWaitsForMore(m, h);
	return h.packet_bytes == m.mss_bytes || !h.is_last || !m.holds_short;
}

// A window of @cwnd segments, @in_flight with the packet in hand, and much to send.
tlt_rest Window(u32 cwnd, u32 in_flight)
{
	tlt_rest m{};

	m.bytes = 1000000;
	m.window_bytes = 1 << 20;
	m.peer_bytes = 1 << 20;
	m.mss_bytes = 1448;
	m.cwnd = cwnd;
	m.in_flight = in_flight;
	m.oldest_us = ~0U;
	m.srtt_us = 100;
	m.divisor = 3;
	return m;
}

bool More(const tlt_rest &m) { return tlt_more(&m); }

TEST(TltMore, yes__is_what_tcp_does_however_the_rest_is_packed)
{
	std::mt19937 random(1);
	auto draw = [&](u32 most) { return std::uniform_int_distribution<u32>(0, most)(random); };
	unsigned yes = 0;

	for (int i = 0; i < 2000000; i++) {
		tlt_rest m = Window(1 + draw(40), draw(40));

		m.mss_bytes = 536 + draw(1000);
		m.bytes = draw(draw(3) ? 40 * m.mss_bytes : 2 * m.mss_bytes);
		m.window_bytes = draw(60 * m.mss_bytes);
		m.peer_bytes = m.window_bytes + draw(20 * m.mss_bytes);
		m.oldest_us = draw(3) ? draw(200) : ~0U;
		m.srtt_us = draw(3) ? draw(300) : 0;
		m.divisor = draw(4);
		m.holds_short = draw(1);
		m.recovers = !draw(4);
		if (!More(m))
			continue;
		yes++;
		Hidden h{};
		h.packet_bytes = draw(1) ? m.bytes : 1 + draw(m.bytes - 1);
		h.is_last = h.packet_bytes == m.bytes;
		h.max_segments = 1 + draw(TLT_MORE_PACKET_BYTES / m.mss_bytes - 1);
		h.age_us = m.oldest_us == ~0U ? draw(1000) : draw(m.oldest_us);
		ASSERT_TRUE(TcpSends(m, h)) << "cwnd " << m.cwnd << " in flight " << m.in_flight << " bytes "
					    << m.bytes << " packet " << h.packet_bytes << " mss " << m.mss_bytes;
	}
	EXPECT_GT(yes, 100000u);
}

TEST(TltMore, first_half_of_the_initial_window__is_not_the_last)
{
	tlt_rest m = Window(10, 5);

	// TCP sends at most half a window at once.
	m.oldest_us = 0;
	EXPECT_TRUE(More(m));
	m.in_flight = 10;
	EXPECT_FALSE(More(m));
}

TEST(TltMore, little_room__waits_for_the_ack_unless_that_is_far)
{
	tlt_rest m = Window(12, 10);

	EXPECT_FALSE(More(m));
	m.oldest_us = 49;
	EXPECT_TRUE(More(m));
	m.oldest_us = 50;
	EXPECT_FALSE(More(m));
	m.in_flight = 8;
	EXPECT_TRUE(More(m));
}

TEST(TltMore, nothing_left__no)
{
	tlt_rest m = Window(10, 1);

	m.bytes = 0;
	EXPECT_FALSE(More(m));
}

TEST(TltMore, the_peers_window_is_full__no)
{
	tlt_rest m = Window(10, 1);

	m.window_bytes = m.mss_bytes - 1;
	EXPECT_FALSE(More(m));
	m.window_bytes = 0;
	EXPECT_FALSE(More(m));
}

TEST(TltMore, short_rest__goes_unless_nagle_holds_it)
{
	tlt_rest m = Window(10, 9);

	m.bytes = 144;
	EXPECT_TRUE(More(m));
	m.holds_short = true;
	EXPECT_FALSE(More(m));
	m.bytes = m.mss_bytes;
	EXPECT_TRUE(More(m));
}

TEST(TltMore, recovery__never_waits_for_room)
{
	tlt_rest m = Window(12, 11);

	EXPECT_FALSE(More(m));
	m.recovers = true;
	EXPECT_TRUE(More(m));
}

TEST(TltMore, no_divisor__more_than_three_segments)
{
	tlt_rest m = Window(40, 37);

	m.divisor = 0;
	EXPECT_FALSE(More(m));
	m.in_flight = 36;
	EXPECT_TRUE(More(m));
}

TEST(TltMore, rate_based__waits_for_neither_room_nor_ack_but_for_the_window)
{
	tlt_rest m = Window(12, 10);

	EXPECT_FALSE(More(m));
	m.by_clock = true;
	EXPECT_TRUE(More(m));
	m.in_flight = 12;
	EXPECT_FALSE(More(m));
	m.in_flight = 10;
	m.window_bytes = m.mss_bytes - 1;
	EXPECT_FALSE(More(m));
	m.window_bytes = 1 << 20;
	m.bytes = 100;
	m.holds_short = true;
	EXPECT_FALSE(More(m));
	m.bytes = 0;
	EXPECT_FALSE(More(m));
}

TEST(TltMore, extremes__no_overflow)
{
	tlt_rest m = Window(~0U, 0);

	m.mss_bytes = 65535;
	m.divisor = ~0U;
	m.bytes = m.window_bytes = m.peer_bytes = ~0U;
	EXPECT_TRUE(More(m));
}

}  // namespace
