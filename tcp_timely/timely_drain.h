/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a flow finds the base RTT of its path anew (TIMELY15 has a constant minRTT).
 *
 *      +-------+  none near the base for a quarter second,  +-------+
 *      |       |  and the rate is a quarter of then         |       |
 *      | watch | -----------------------------------------> | drain |
 *      |       |  or no drain for a second                  |       |
 *      +-------+                                            +-------+
 *         ^                                                     |
 *         +-----------------------------------------------------+
 *           two round trips later: the least RTT of these, if that
 *           is less or the base was lost
 *
 * A path that got longer and a queue that never empties look the same to one flow: no
 * sample comes near the base. But with the queue the flow has its share, and thresholds
 * that are too low for the path nearly stop it. So a flow that is nearly stopped drains.
 * Flows that share a path were near its base at the same time. Hence they drain at the
 * same time, as BBR's do, and see the empty path. The other drains, once a second, find
 * a path that was never seen empty, by a flow that fills its window or by all of an
 * incast.
 */
#ifndef TIMELY_DRAIN_H
#define TIMELY_DRAIN_H

#include "timely_watch.h"

/* Data sent before the drain takes one round trip, and emptying the queue another. */
#define TIMELY_PATH_DRAIN_RTTS	2
#define TIMELY_PATH_DRAIN_EVENTS 2
/* The smallest burst: a receiver acks two frames at once, and a single one late. */
#define TIMELY_PATH_PAIR_BITS	(2ULL * TIMELY_FRAME_BYTES * 8)

/*
 * The rate of a drain: a burst of two frames in a round trip, and at most half of the
 * flow's rate.
 */
static inline u64 timely_path_drain_bps(const struct timely_params *p,
					u64 rate_bps, u64 rtt_ns)
{
	u64 pair_bps = timely_div(TIMELY_PATH_PAIR_BITS * 1000000000ULL,
				  timely_max(rtt_ns, 1000));

	return timely_max(timely_min(rate_bps / 2, pair_bps), p->min_rate_bps);
}

/*
 * The base of the drain replaces a lost base. A flow whose RTT is above the upper threshold of
 * the old base may climb after it: only that threshold stopped it, no queue of many flows.
 */
static inline void timely_path_begin_drain(struct timely_state *s,
					   const struct timely_params *p,
					   u64 now_ns, u64 rtt_ns)
{
	s->climb = 0;
	if (timely_path_is_lost(s, now_ns)) {
		s->climb = rtt_ns > timely_path_origin_ns(s, p) + timely_us_to_ns(p->t_high_us);
		s->base_ns = rtt_ns;
		s->path_tick = timely_path_tick(now_ns);
	}
	s->draining = 1;
	s->in_round = 0;
	s->high_rate_bps = s->rate_bps;
	s->rate_bps = timely_path_drain_bps(p, s->rate_bps, rtt_ns);
	s->drain_tick = timely_drain_tick(now_ns);
	s->path_events = 0;
}

/*
 * The RTT when this drain began, by the drain's rate. 0: unknown, since the flow was
 * slower anyway.
 */
static inline u64 timely_path_rtt_before_ns(const struct timely_state *s)
{
	if (2 * (u64)s->rate_bps + 1 >= s->high_rate_bps)
		return 0;
	return timely_div(TIMELY_PATH_PAIR_BITS * 1000000000ULL,
			  timely_max(s->rate_bps, 1));
}

/*
 * Back to the rate before the drain. But if the path got longer, the cuts since then were
 * wrong: climb to the rate of when the base was right, or until a queue.
 */
static inline void timely_path_end_drain(struct timely_state *s,
					 const struct timely_params *p, u64 now_ns)
{
	u64 near_ns = s->base_ns + (s->base_ns >> TIMELY_PATH_NEAR_SHIFT);
	u64 most_ns = timely_path_origin_ns(s, p) + timely_us_to_ns(p->t_high_us);
	u64 before_ns = timely_path_rtt_before_ns(s);
	u64 rate_bps = s->high_rate_bps;

	if (s->climb && before_ns <= near_ns) {
		s->high_rate_bps = timely_rate_unpack(s->near_rate);
	} else {
		if (!s->drained && before_ns > most_ns)
			rate_bps = timely_div(rate_bps * (most_ns >> 8), before_ns >> 8);
		s->climb = 0;
		s->rate_bps = timely_max(s->rate_bps, rate_bps);
	}
	s->draining = 0;
	if (s->drained < TIMELY_PATH_DRAINS)
		s->drained++;
	s->drain_tick = timely_drain_tick(now_ns);
	s->path_events = 0;
}

/*
 * Samples of data sent before the drain show the queue of that time, and do not count.
 * The drain ends after two round trips and two samples.
 */
static inline void timely_path_drain(struct timely_state *s,
				     const struct timely_params *p, u64 now_ns,
				     u64 rtt_ns)
{
	if (timely_drain_since_ns(s, now_ns) < TIMELY_PATH_DRAIN_RTTS * rtt_ns)
		s->path_events = 0;
	else if (s->path_events >= TIMELY_PATH_DRAIN_EVENTS)
		timely_path_end_drain(s, p, now_ns);
}

/* A loss or an idle time ends the drain: back to the rate before it, for the answer to that. */
static inline void timely_path_leave_drain(struct timely_state *s)
{
	if (!s->draining)
		return;
	s->draining = 0;
	s->climb = 0;
	s->rate_bps = timely_max(s->rate_bps, s->high_rate_bps);
}

#endif /* TIMELY_DRAIN_H */
