/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a peer's TCP timestamps count. Pure.
 *
 * A peer counts microseconds if its route to this host has the feature tcp_usec_ts (Linux
 * 6.7). Any other counts in 1 ms to 1 s (RFC 7323, section 5.4). No option says which, so
 * this host compares its own clock with the TSval of ACKs:
 *
 *             it counts 5 to 20 ms in 10 ms       +--------------+
 *           +------------------------------------>| microseconds |
 *      +---------+                                +--------------+
 *      |  watch  |                                +--------------+
 *      +---------+------------------------------->|    coarse    |
 *        |     ^  less than 100 us, four          +--------------+
 *        +-----+  times on end
 *      anything else
 *
 * Both results are final: a connection's clock does not change. No queue on the way back
 * makes microseconds look coarse: ACKs that were sent within 100 us would have to arrive
 * 10 ms apart, four times on end.
 */
#ifndef TURNPIKE_TICK_H
#define TURNPIKE_TICK_H

#include "include/turnpike_types.h"

/* A clock of milliseconds advances by 10 in this time. A queue on the way back does not hide
 * a clock of microseconds unless it changes by half of this time.
 */
#define TP_TICK_WATCH_US	10000

/* The finest of coarse clocks, 1 ms, advances by 1/1000. */
#define TP_TICK_COARSE_PART	100

/* A single stall of the way back proves nothing. */
#define TP_TICK_COARSE_TIMES	4

enum tp_tick_unit {
	TP_TICK_UNKNOWN,
	TP_TICK_US,
	TP_TICK_COARSE,
};

/* Of one connection; all 0 before its first ACK. */
struct tp_tick {
	u32 now_us;		/* this host's clock when the watch began */
	u32 tsval;		/* the peer's clock then */
	enum tp_tick_unit unit;
	u8 times;		/* times on end that it looked coarse */
	bool watching;
};

/* The peer's clock advanced by @theirs in @ours_us. */
static inline void tp_tick_judge(struct tp_tick *t, u32 ours_us, u32 theirs)
{
	if (theirs >= ours_us / 2 && theirs / 2 <= ours_us)
		t->unit = TP_TICK_US;
	if (theirs >= ours_us / TP_TICK_COARSE_PART)
		t->times = 0;
	else if (++t->times == TP_TICK_COARSE_TIMES)
		t->unit = TP_TICK_COARSE;
}

/* An ACK came at @now_us with @tsval. Both wrap. */
static inline enum tp_tick_unit tp_tick_sample(struct tp_tick *t, u32 now_us, u32 tsval)
{
	u32 ours_us = now_us - t->now_us;

	if (t->unit != TP_TICK_UNKNOWN || (t->watching && ours_us < TP_TICK_WATCH_US))
		return t->unit;
	if (t->watching)
		tp_tick_judge(t, ours_us, tsval - t->tsval);
	t->watching = true;
	t->now_us = now_us;
	t->tsval = tsval;
	return t->unit;
}

#endif /* TURNPIKE_TICK_H */
