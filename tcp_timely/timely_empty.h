/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paths that stay empty. What flows cut for somebody's burst is free until they
 * have grown again, and a step of the papers a round trip takes milliseconds.
 */
#ifndef TIMELY_EMPTY_H
#define TIMELY_EMPTY_H

#include "timely_step.h"

/*
 * Empty is a quarter of the room, for 200 us and two round trips: a round trip alone may be the trough
 * of the queue's oscillation. Then steps are larger, and on long paths by so many 10 us as their base
 * has, or near flows would take what is free: 10 us beside 200 us would be 9 : 1. Measured with
 * battery/: RPCs leave long flows 90 % and not 86, incasts 95 and not 88, coalescing of 50 us 96 and
 * not 88; Jain's index of 40 flows is .98 and not .99.
 */
#define TIMELY_EMPTY_PART	4
#define TIMELY_EMPTY_RTTS	2
#define TIMELY_EMPTY_NS		200000
#define TIMELY_EMPTY_MULT	2
#define TIMELY_EMPTY_BASE_NS	10000
/*
 * What a slow flow then takes with each sample, the 32nd part of its rate: 400 flows that do so at
 * the same time make a queue of 25 us in the millisecond until they see it. With a 16th, or from the
 * first sample on, their 99th percentile is twice as long.
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
	return s->hai_count && timely_is_empty(path, rtt_ns) &&
	       s->hai_span_us * 1000 >= timely_max(TIMELY_EMPTY_RTTS * rtt_ns, TIMELY_EMPTY_NS);
}

/* Steps in place of one. */
static inline u64 timely_empty_steps(const struct timely_path *path)
{
	return TIMELY_EMPTY_MULT + (u32)path->base_ns / TIMELY_EMPTY_BASE_NS;
}

#endif /* TIMELY_EMPTY_H */
