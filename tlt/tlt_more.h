/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Will TCP send another packet in the same breath?  The mark of a burst belongs on its
 * last packet ("the last packet in the initial window", the paper's 5.1; tlt_select.h has
 * its name), and TCP does not say which that is.  So this follows tcp_write_xmit() and
 * tcp_tso_should_defer() of Linux 6.1 to 6.12 with what can be known before the next
 * packet is built.  Pure: numbers in, answer out.
 *
 * Where it is not sure it says no.  Wrongly no: the echo does not tell about the packets
 * behind the mark.  Wrongly yes is worse, since a burst then has no mark: an echo is what
 * keeps the timeout away.
 */
#ifndef TLT_MORE_H
#define TLT_MORE_H

#include "include/turnpike_types.h"

/* What TCP builds one packet of at most, unless it is told to send larger ones (BIG TCP). */
#define TLT_MORE_PACKET_BYTES	65536U

/* Without a divisor (net.ipv4.tcp_tso_win_divisor) TCP waits for more than so much room. */
#define TLT_MORE_SEGMENTS	3

/* All as they are once the packet in hand has left. */
struct tlt_more {
	u32 bytes;		/* written by the application and not sent */
	u32 window_bytes;	/* of these, what the peer has room for */
	u32 peer_bytes;		/* the peer's whole window */
	u32 mss_bytes;
	u32 cwnd;		/* segments */
	u32 in_flight;		/* segments */
	u32 oldest_us;		/* since the first of what is in flight was sent, at most */
	u32 srtt_us;		/* 0: unknown */
	u32 divisor;		/* net.ipv4.tcp_tso_win_divisor */
	bool holds_short;	/* what does not fill a segment has to wait (Nagle, TCP_CORK) */
	bool recovers;		/* in recovery or after a timeout */
};

/* Several segments are left, and a part of them has room: does TCP not wait for more room? */
static inline bool tlt_more_at_once(const struct tlt_more *m)
{
	u64 room = (u64)(m->cwnd - m->in_flight) * m->mss_bytes;
	u64 window = (u64)m->cwnd * m->mss_bytes;

	if (m->window_bytes < room)
		room = m->window_bytes;
	if (m->peer_bytes < window)
		window = m->peer_bytes;
	if (m->recovers || room >= TLT_MORE_PACKET_BYTES)
		return true;
	if (m->divisor ? room * m->divisor >= window : room > TLT_MORE_SEGMENTS * m->mss_bytes)
		return true;
	/* The ACK that makes more room is far. */
	return m->oldest_us < m->srtt_us / 2;
}

static inline bool tlt_more(const struct tlt_more *m)
{
	u32 next = m->bytes < m->mss_bytes ? m->bytes : m->mss_bytes;

	if (!next || m->in_flight >= m->cwnd || m->window_bytes < next)
		return false;
	if (m->bytes < m->mss_bytes)
		return !m->holds_short;
	return m->bytes == m->mss_bytes || tlt_more_at_once(m);
}

#endif /* TLT_MORE_H */
