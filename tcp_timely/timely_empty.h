/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Larger steps on paths that stay empty, a departure from TIMELY15. After a cut for another flow's
 * burst capacity is free, and for milliseconds with the paper's step in each round trip.
 */
#ifndef TIMELY_EMPTY_H
#define TIMELY_EMPTY_H

#include "timely_noise.h"
#include "timely_step.h"

/*
 * A path is empty after 250 us and two round trips with at most a quarter of the room in use: one
 * round trip may be the trough of the queue's oscillation. Then a round trip is worth a step for
 * each 6.5 us of the base, so that near and far flows grow alike in equal time. Paths above 80 us
 * count as 80: with 130, a flow of 200 us takes up to 5.8 times the rate of one of 10 us, and with 80
 * up to 3.1 (battery/mixed). A step is a 1024th of the rate at most: without that the 40 flows of
 * timely-table1 have a Jain index of .989 and not .995. With noisy samples it takes longer, as one
 * least sample stands for several: with 200 us of noise 40 flows of the model have .95, and .81
 * otherwise (rack-sim flows=4 noise=200 seeds=8).
 */
#define TIMELY_EMPTY_PART	4
#define TIMELY_EMPTY_RTTS	2
#define TIMELY_EMPTY_NS		250000
#define TIMELY_EMPTY_JITTERS	16
#define TIMELY_EMPTY_BASE_NS	6500
#define TIMELY_EMPTY_BASE_MAX_NS 80000
#define TIMELY_EMPTY_RATE_SHIFT	10
/*
 * A slow flow then grows by the 32nd part of its rate with each sample. 400 flows that do so at the
 * same time make a queue of 25 us in the millisecond until they see it. With a 16th, or from the
 * first sample on, their 99th percentile is above the 150 us that rack_sim_test allows.
 */
#define TIMELY_SLOW_EVENTS	4
#define TIMELY_SLOW_SHIFT	5

/* Is the path as good as empty? */
static inline bool timely_is_empty(const struct timely_path *path, u64 rtt_ns)
{
	return rtt_ns <= path->base_ns + (path->low_ns - path->base_ns) / TIMELY_EMPTY_PART;
}

static inline bool timely_stays_empty(const struct timely_state *s,
				      const struct timely_path *path, u64 rtt_ns)
{
	u64 least_ns = timely_max(TIMELY_EMPTY_RTTS * rtt_ns, TIMELY_EMPTY_NS) +
		       TIMELY_EMPTY_JITTERS * timely_jitter_ns(s);

	return s->hai_count && timely_is_empty(path, rtt_ns) &&
	       s->hai_span_us * 1000 >= least_ns;
}

/* The step on a path that stays empty, instead of step_bps. */
static inline u64 timely_empty_bps(const struct timely_path *path, u64 step_bps, u64 rate_bps)
{
	u64 base_ns = timely_min(path->base_ns, TIMELY_EMPTY_BASE_MAX_NS);
	u64 each_bps = timely_min(step_bps, rate_bps >> TIMELY_EMPTY_RATE_SHIFT);

	return timely_max(step_bps,
			  each_bps * ((u32)base_ns / TIMELY_EMPTY_BASE_NS));
}

#endif /* TIMELY_EMPTY_H */
