/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large a burst of a flow may be.
 *
 * A GSO packet leaves as one burst, and when N flows each send one of 64 KB into the same
 * port, N times 64 KB is what its queue holds, whatever the threshold T: 629 us with 12
 * flows at 10 Gbit/s.  TCP sizes its bursts by the pacing rate, but where RTTs are short
 * adds 64 KB again (tcp_tso_rtt_log).
 *
 * A flow's rate says how many others there are, wherever they send from: each has its
 * share C / N.  A burst of rate * T / 2 from each is then C * T / 2 together, half of what
 * T allows, and a single flow at line rate keeps the large ones that save cycles.
 *
 * Flows that are paused are in step: when the queue has gone each sends a burst, and what
 * each sends is in proportion to that.  If it were to the rate, too, any shares would last;
 * and it is cut down to whole segments, which makes small ones smaller yet.  So the burst of
 * a paused flow is a segment and rate * T / 4: of two flows at 60 and 40 % of 10 Gbit/s they
 * are as 58 and 42 with T = 50 us, and with them shares meet, on any line.  A flow that has
 * more than half of this host's, x of it, gets them for (3/2 - x) times its rate: 54 and 46.
 */
#ifndef ONRAMP_BURST_H
#define ONRAMP_BURST_H

#include "include/turnpike_types.h"

/* Fewer than two segments a burst cost cycles and delay ACKs. */
#define ONRAMP_BURST_SEGS	2

/* What TCP's largest GSO packet was for twenty years, and what every device takes. */
#define ONRAMP_BURST_MAX_BYTES	65536

/* Packets of two segments of an MTU of 1500 that make up one of 64 KB. */
#define ONRAMP_BURST_PARTS	22

/* As many as half a second leaves of 64 bits: T = 1 us is right to 10^-4. */
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

/* More than 7/8 of the host's line: less of a path no slower than that is left to others than
 * would make shares of two flows unequal.
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

/* The same of a flow that pauses meet; @rate from onramp_burst_rate(). */
static inline u32 onramp_burst_paused_bytes(u64 mult, u64 rate, u32 mss)
{
	return onramp_burst_clamp(tp_mul_shr(rate, mult, ONRAMP_BURST_SHIFT + 1) + mss, mss);
}

#endif /* ONRAMP_BURST_H */
