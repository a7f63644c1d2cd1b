/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large a burst of a flow may be.  Not in ONRAMP21.
 *
 * A GSO packet leaves as one burst.  When N flows each send 64 KB into one port, its queue holds
 * N times 64 KB, whatever the threshold T: 629 us with 12 flows at 10 Gbit/s.  TCP sizes its
 * bursts by the pacing rate, but adds 64 KB again where RTTs are short (tcp_tso_rtt_log).
 *
 * A flow's rate tells how many others there are, wherever they send from: each has its share
 * C / N.  If each sends bursts of rate * T / 2, all together send C * T / 2, half of what T
 * allows.  A single flow at line rate keeps its large bursts, which save cycles.
 *
 * Paused flows run in step: each sends a burst when the queue has gone, and its share follows its
 * burst.  Bursts in proportion to rates would keep any shares as they are.  Rounding down to
 * whole segments makes small bursts smaller yet.  So a paused flow's burst is a segment and
 * rate * T / 4: two flows at 60 and 40 % of 10 Gbit/s send bursts as 58 and 42 with T = 50 us.
 * With those, shares meet on any line.  A flow with more than half of this host's line, x of it,
 * gets bursts for (3/2 - x) times its rate: 54 and 46.
 */
#ifndef ONRAMP_BURST_H
#define ONRAMP_BURST_H

#include "include/turnpike_types.h"

/* Bursts of fewer than two segments cost cycles and delay ACKs. */
#define ONRAMP_BURST_SEGS	2

/* TCP's largest GSO packet was this long for twenty years, and every device takes it. */
#define ONRAMP_BURST_MAX_BYTES	65536

/* Packets of two segments of an MTU of 1500 that make up one of 64 KB. */
#define ONRAMP_BURST_PARTS	22

/* Half a second leaves so many of 64 bits: T = 1 us is right to 10^-4. */
#define ONRAMP_BURST_SHIFT	34

/* Half of @threshold_ns, which is a second at most, in 2^-34 seconds. */
static inline u64 onramp_burst_mult(u64 threshold_ns)
{
	return tp_div((threshold_ns / 2) << ONRAMP_BURST_SHIFT, 1000000000ULL);
}

/* Shares of a line, in 2^-20. */
#define ONRAMP_BURST_SHARE_SHIFT	20
#define ONRAMP_BURST_PER_LINE_SHIFT	50

/* To make a share of a rate; @line_rate in bytes per second, 0: not known. */
static inline u64 onramp_burst_per_line(u64 line_rate)
{
	return line_rate ? tp_div(1ULL << ONRAMP_BURST_PER_LINE_SHIFT, line_rate) : 0;
}

/* @per_line from onramp_burst_per_line(); 0 where the line is not known. */
static inline u64 onramp_burst_share(u64 per_line, u64 rate)
{
	return tp_mul_shr(rate, per_line, ONRAMP_BURST_PER_LINE_SHIFT - ONRAMP_BURST_SHARE_SHIFT);
}

/* The flow has more than 7/8 of the host's line.  A path that is no slower leaves others less
 * than would make shares of two flows unequal.
 */
static inline bool onramp_burst_is_alone(u64 per_line, u64 rate)
{
	u64 one = 1ULL << ONRAMP_BURST_SHARE_SHIFT;

	return onramp_burst_share(per_line, rate) > one - one / 8;
}

/* The rate that a paused flow's bursts are for. */
static inline u64 onramp_burst_rate(u64 per_line, u64 rate)
{
	u64 one = 1ULL << ONRAMP_BURST_SHARE_SHIFT;
	u64 share = onramp_burst_share(per_line, rate);

	if (share <= one / 2)
		return rate;
	return tp_mul_shr(rate, one + one / 2 - (share < one ? share : one),
			  ONRAMP_BURST_SHARE_SHIFT);
}

static inline u32 onramp_burst_clamp(u64 bytes, u32 mss)
{
	u32 least = ONRAMP_BURST_SEGS * mss;

	if (bytes > ONRAMP_BURST_MAX_BYTES)
		return ONRAMP_BURST_MAX_BYTES;
	return bytes < least ? least : bytes;
}

/* @rate in bytes per second, @mult from onramp_burst_mult(), @mss at most 65535. */
static inline u32 onramp_burst_bytes(u64 mult, u64 rate, u32 mss)
{
	return onramp_burst_clamp(tp_mul_shr(rate, mult, ONRAMP_BURST_SHIFT), mss);
}

/* The same for a flow that meets pauses; @rate is from onramp_burst_rate(). */
static inline u32 onramp_burst_paused_bytes(u64 mult, u64 rate, u32 mss)
{
	return onramp_burst_clamp(tp_mul_shr(rate, mult, ONRAMP_BURST_SHIFT + 1) + mss, mss);
}

#endif /* ONRAMP_BURST_H */
