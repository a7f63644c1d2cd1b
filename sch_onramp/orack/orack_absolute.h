/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-way delay by clocks whose offset is known: grades (a) and (b).
 *
 *      there = arrival - departure - (peer's clock - ours)        wrong by error_ns at most
 *      back  = round trip - there                                 wrong by as much
 *
 * Queueing delay is the delay above the empty path's.  ONRAMP21 (section 7.1) has a threshold for
 * the delay itself, minOWD + 2 sigma.  Here the threshold is for queueing delay, and the same
 * term bounds the empty path.  The base of grade (c) (turnpike_base.h) is held within:
 *
 *      least there - 2 error  <=  empty path  <=  least there + 2 error
 *                                 empty path  <=  least back  + 2 error + noise
 *
 * The 2: each of two delays by the same clocks is wrong by the error of the offset at its time.
 * Only absolute delay can tell the last line: a queue that stood from the first packet on is in
 * every delay there, and never in the way back.  Clocks without error leave nothing to the base.
 * With a large error it is grade (c) again, whose base ignores a constant between the clocks.  A
 * queue that the base takes for the path shows but for 0 to 4 errors, as the offset is wrong.
 * The paper's wider threshold does that to all queues.
 */
#ifndef ORACK_ABSOLUTE_H
#define ORACK_ABSOLUTE_H

#include "include/turnpike_types.h"
#include "orack_relative.h"
#include "sch_onramp/onramp_min_filter.h"

/* The offset of a peer's clock, that of its receipts, against ours. */
struct orack_clock_offset {
	u64 offset_ns;		/* its less ours, modulo 2^64 */
	u32 error_ns;		/* bound */
	enum orack_grade grade;
};

static inline bool orack_grade_is_absolute(enum orack_grade grade)
{
	return grade == ORACK_GRADE_SYNCHRONIZED || grade == ORACK_GRADE_OFFSET;
}

struct orack_absolute {
	enum orack_grade grade;	/* of the newest sample */
	u32 epoch;			/* of the clock that the rest is of */
	struct orack_clock_offset offset;	/* of the newest absolute sample; none: grade 0 */
	s64 there_ns;			/* that sample's delay */
	s64 path_ns;			/* the delay taken for the empty path's */
	struct onramp_min_filter there;	/* least delays, biased */
	struct onramp_min_filter back;
	u32 absurd;			/* samples that no clocks so far apart show */
};

static inline void orack_absolute_forget(struct orack_absolute *a)
{
	onramp_min_filter_init(&a->there);
	onramp_min_filter_init(&a->back);
}

static inline void orack_absolute_init(struct orack_absolute *a)
{
	a->grade = ORACK_GRADE_NONE;
	a->epoch = 0;
	a->offset.offset_ns = 0;
	a->offset.error_ns = 0;
	a->offset.grade = ORACK_GRADE_NONE;
	a->there_ns = 0;
	a->path_ns = 0;
	a->absurd = 0;
	orack_absolute_forget(a);
}

/* Delays may be negative by the clocks' error; those of the filter count upwards from 0. */
static inline s64 orack_absolute_least(struct onramp_min_filter *f, u64 now_ns, s64 ns)
{
	const u64 bias_ns = 1ULL << 62;

	return (s64)(onramp_min_filter_sample(f, now_ns, (u64)ns + bias_ns) - bias_ns);
}

/* Both offsets cannot be true, unless a clock was set in between. */
static inline bool orack_clock_offset_differs(const struct orack_clock_offset *x,
					      const struct orack_clock_offset *y)
{
	s64 by_ns = (s64)(x->offset_ns - y->offset_ns);
	s64 most_ns = (s64)x->error_ns + y->error_ns;

	return by_ns > most_ns || by_ns < -most_ns;
}

/* Keeps what was measured before, or begins anew. */
static inline void orack_absolute_follow(struct orack_absolute *a, u32 epoch,
					 const struct orack_clock_offset *offset)
{
	if (a->epoch != epoch || !a->offset.grade || orack_clock_offset_differs(&a->offset, offset))
		orack_absolute_forget(a);
	a->epoch = epoch;
	a->offset = *offset;
}

/* The empty path's delay, by the same clocks as @there_ns, which has @queue_ns over the base. */
static inline s64 orack_absolute_path(struct orack_absolute *a, u64 now_ns, s64 there_ns,
				      s64 back_ns, u64 queue_ns)
{
	s64 slack_ns = 2 * (s64)a->offset.error_ns;
	s64 least_there_ns = orack_absolute_least(&a->there, now_ns, there_ns);
	s64 least_back_ns = orack_absolute_least(&a->back, now_ns, back_ns);
	s64 path_ns = there_ns - (s64)queue_ns;

	if (path_ns < least_there_ns - slack_ns)
		path_ns = least_there_ns - slack_ns;
	if (path_ns > least_there_ns + slack_ns)
		path_ns = least_there_ns + slack_ns;
	if (path_ns > least_back_ns + slack_ns + ORACK_RELATIVE_NOISE_NS)
		path_ns = least_back_ns + slack_ns + ORACK_RELATIVE_NOISE_NS;
	return path_ns;
}

/* The queueing delay of a packet that arrived @raw_ns after it left, by two clocks, and came back
 * in @trip_ns.  @c gave @queue_ns.
 */
static inline u64 orack_absolute_sample(struct orack_absolute *a, const struct orack_relative *c,
					const struct orack_clock_offset *offset, u64 now_ns,
					u64 raw_ns, u64 trip_ns, u64 queue_ns)
{
	s64 there_ns = (s64)(raw_ns - offset->offset_ns), path_ns;
	s64 below_ns = -(s64)offset->error_ns - ORACK_RELATIVE_NOISE_NS;
	u64 most_ns = trip_ns + ORACK_RELATIVE_NOISE_NS;

	/* Neither way takes less than nothing: the clocks are not what they are said to be. */
	if (there_ns < below_ns || there_ns > (s64)trip_ns - below_ns) {
		a->grade = ORACK_GRADE_BASE;
		a->absurd++;
		return queue_ns;
	}
	orack_absolute_follow(a, orack_relative_epoch(c), offset);
	a->grade = offset->grade;
	a->there_ns = there_ns;
	path_ns = orack_absolute_path(a, now_ns, there_ns, (s64)trip_ns - there_ns, queue_ns);
	a->path_ns = path_ns;
	if (there_ns <= path_ns)
		return 0;
	queue_ns = (u64)(there_ns - path_ns);
	return queue_ns < most_ns ? queue_ns : most_ns;
}

#endif /* ORACK_ABSOLUTE_H */
