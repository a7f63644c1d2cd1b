/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals of single hops (CS244, section 3.2): signal=sum, sum_squ and max. Pure.
 *
 * The RTT is the time of the empty path, and what the packet and its ACK waited in the queues of
 * k hops and back:
 *
 *      RTT    = base + q1 + q2 + ... + q2k
 *      signal = base + f(q),   f(q) = sum of qi              sum: TIMELY (TIMELY15)
 *                                     root of sum of qi^2    sum_squ: long queues weigh more
 *                                     largest of qi          max: the bottleneck alone
 *
 * Each hop's switch tells its qi, so the base need not be known to get there:
 *
 *      signal = RTT - (q1 + ... + q2k - f(q))
 *
 * That has the base's own tracking as it is (timely_base.h): the least signal is the least RTT. All
 * that no switch tells stays in it: the hosts' queues and their noise. A flow whose bottleneck is its
 * own host still slows down.
 *
 * What a peer or a switch says is not believed without bounds. The signal is never above the RTT, and
 * never below the least RTT. It keeps an eighth of what the RTT has over the least one. With eight
 * hops as long as each other MAX is as much. So the worst that a lie does is a queue eight times as
 * long as an honest one.
 */
#ifndef TIMELY_HOPS_H
#define TIMELY_HOPS_H

#include "include/turnpike_hops.h"
#include "timely_math.h"

#define TIMELY_HOPS_KEEP_SHIFT	3

/* A flow that has signals of hops gets no RTTs in between: what the signal leaves out would look like
 * a queue that comes and goes. After so many events without one the flow goes by its RTT.
 */
#define TIMELY_HOPS_PATIENCE	8

enum timely_signal {
	TIMELY_SIGNAL_RTT,	/* both ways, as in TIMELY15 */
	TIMELY_SIGNAL_FORWARD,	/* the way there, if timestamps tell it (timely_forward.h) */
	TIMELY_SIGNAL_SUM,	/* these three: if switches tell it */
	TIMELY_SIGNAL_SUM_SQU,
	TIMELY_SIGNAL_MAX,
	TIMELY_SIGNALS
};

static inline bool timely_signal_is_of_hops(u32 signal)
{
	return signal >= TIMELY_SIGNAL_SUM;
}

/* f(q) */
static inline u64 timely_hops_queue_ns(enum timely_signal signal, const struct tp_hops *h)
{
	switch (signal) {
	case TIMELY_SIGNAL_MAX:
		return h->max_ns;
	case TIMELY_SIGNAL_SUM_SQU:
		return timely_sqrt(h->squares);
	default:
		return h->sum_ns;
	}
}

/* Part of an RTT that is @excess_ns over the least one, to subtract. */
static inline u64 timely_hops_less_ns(enum timely_signal signal, const struct tp_hops *h,
				      u64 excess_ns)
{
	u64 less_ns = timely_less(h->sum_ns, timely_hops_queue_ns(signal, h));

	return timely_min(less_ns, excess_ns - (excess_ns >> TIMELY_HOPS_KEEP_SHIFT));
}

/* An event without the signal. *@patience is TIMELY_HOPS_PATIENCE after one with it, and 0 before the
 * first. Is the event to be dropped?
 */
static inline bool timely_hops_wait(u8 *patience)
{
	if (!*patience)
		return false;
	--*patience;
	return true;
}

#endif /* TIMELY_HOPS_H */
