/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Will TCP send another packet in the same breath?  The mark of a burst belongs on its
 * last packet ("the last packet in the initial window", the paper's 5.1; tlt_select.h has
 * its name), and TCP does not say which that is.  So this follows tcp_write_xmit() and
 * tcp_tso_should_defer() of Linux 6.1 to 7.3 with what can be known before the next
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
struct tlt_rest {
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
	bool by_clock;		/* the sender is rate-based */
};

/* Several segments are left, and a part of them has room: does TCP not wait for more room? */
static inline bool tlt_more_at_once(const struct tlt_rest *r)
{
	u64 room = (u64)(r->cwnd - r->in_flight) * r->mss_bytes;
	u64 window = (u64)r->cwnd * r->mss_bytes;

	if (r->window_bytes < room)
		room = r->window_bytes;
	if (r->peer_bytes < window)
		window = r->peer_bytes;
	if (r->recovers || room >= TLT_MORE_PACKET_BYTES)
		return true;
	if (r->divisor ? room * r->divisor >= window : room > TLT_MORE_SEGMENTS * r->mss_bytes)
		return true;
	/* The ACK that makes more room is far. */
	return r->oldest_us < r->srtt_us / 2;
}

static inline bool tlt_more(const struct tlt_rest *r)
{
	u32 next = r->bytes < r->mss_bytes ? r->bytes : r->mss_bytes;

	if (!next || r->in_flight >= r->cwnd || r->window_bytes < next)
		return false;
	if (r->bytes < r->mss_bytes)
		return !r->holds_short;
	/* It does not wait for room, nor for an ACK: what is left goes when its time comes. */
	if (r->by_clock)
		return true;
	return r->bytes == r->mss_bytes || tlt_more_at_once(r);
}

#endif /* TLT_MORE_H */
