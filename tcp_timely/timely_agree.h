/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows to one receiver agree on p, so that they have one rate.
 *
 * With a p of its own each flow holds the queue at its reference, but any shares are a fixed
 * point (ECNDELAY16, Theorem 6). A common p is fair, as flows that see one queue and have one p
 * have one rate. Here each flow keeps its controller, and its p moves towards that of the others:
 *
 *   dp/dt = K1 de/dt + K2 e + A (p of all - p)
 *
 * The controller answers to the queue within a round trip, and the flows agree within tens of
 * milliseconds. So what they say of p may be old, and may be lost. The sum of that term over all
 * flows is zero: it moves no queue.
 */
#ifndef TIMELY_AGREE_H
#define TIMELY_AGREE_H

#include "timely_pi.h"

/* Flows speak so often at most, in powers of two of a nanosecond: a millisecond. */
#define TIMELY_AGREE_LOG	20
/*
 * A: ten milliseconds. What is said of p is that old (orack_price.h), and a pull from a
 * difference of age T is stable below A = pi / (2 T).
 */
#define TIMELY_AGREE_PER_S	100
/* A flow that spoke long ago moves by so much at once. */
#define TIMELY_AGREE_ELAPSED_NS	4000000ULL
/*
 * What others say is not trusted. e is at least -1, so a pull up by less than K2 leaves the flow
 * a queue, and hence a rate, whatever they say. A pull down makes the queue longer by so many
 * references at most, which is below t_high.
 */
#define TIMELY_AGREE_UP_MILLI	800
#define TIMELY_AGREE_DOWN_MILLI	4000

/* Does a flow speak whose newest events were at these moments? */
static inline bool timely_agree_is_due(u64 before_ns, u64 now_ns)
{
	return before_ns >> TIMELY_AGREE_LOG != now_ns >> TIMELY_AGREE_LOG;
}

/* A part of what K2 does to p in a second at an error of one reference. */
static inline s64 timely_agree_most_q(const struct timely_params *p, u32 part_milli)
{
	return (s64)timely_div(((u64)p->pi_k2_per_s * part_milli) << TIMELY_PI_SHIFT, 1000);
}

/* How far p moves in a second that is @gap_q below that of the others. */
static inline s64 timely_agree_pull_q(const struct timely_params *p, s64 gap_q)
{
	s64 pull_q = gap_q * TIMELY_AGREE_PER_S;
	s64 up_q = timely_agree_most_q(p, TIMELY_AGREE_UP_MILLI);
	s64 down_q = timely_agree_most_q(p, TIMELY_AGREE_DOWN_MILLI);

	if (pull_q > up_q)
		return up_q;
	return pull_q < -down_q ? -down_q : pull_q;
}

/* Moves p towards that of the others; the event before was elapsed_ns ago. */
static inline void timely_agree(struct timely_state *s, const struct timely_params *p, s64 gap_q,
				u64 elapsed_ns)
{
	u64 since_ns = timely_max(timely_min(elapsed_ns, TIMELY_AGREE_ELAPSED_NS),
				  1ULL << TIMELY_AGREE_LOG);
	s64 us = (s64)timely_div(since_ns, 1000);
	s64 move_q = timely_agree_pull_q(p, gap_q) * us;
	s64 p_q = (s64)s->pi_p_q;

	p_q += move_q < 0 ? -(s64)timely_div(-move_q, 1000000) : (s64)timely_div(move_q, 1000000);
	s->pi_p_q = p_q < 0 ? 0 : timely_min(p_q, TIMELY_PI_MAX_Q);
}

#endif /* TIMELY_AGREE_H */
