/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a path got longer: flows stop and stop, and the queue stays.
 *
 * On-Ramp holds flows while a queue is longer than T, so that it gets shorter within round trips
 * (ONRAMP21, section 3.1).  A way that became longer by more than T, by a failover or a rehash,
 * looks like a queue that no pause shortens.  A base delay and a least round trip remember the
 * shorter way for seconds, in which flows would have a part of the line.
 *
 *      queue |        _.-'-._.-.__.-'     pauses, one after the other
 *            |      .'                    least: the way is longer by that
 *      T  ---|-----/-------------------
 *            | -.-'  <-- half a second -->
 *            +-------------------------> time
 *
 * A queue of flows that On-Ramp holds comes below T again and again.  One of flows that it does
 * not hold may not; it then counts as part of the way, too, as nothing is won by pauses.
 * Not in ONRAMP21.
 */
#ifndef ONRAMP_LONGER_H
#define ONRAMP_LONGER_H

#include "include/turnpike_types.h"

/*
 * Longer than an overload that pauses can end: three times as long as flows to a receiver take
 * from one synchronized stop to the next (134 ms).
 */
#define ONRAMP_LONGER_NS	500000000ULL
/* A flow that is held has a sample a pause, which is 50 ms at most. */
#define ONRAMP_LONGER_SAMPLES	8

struct onramp_longer {
	u64 since_ns;		/* first of these samples */
	u64 newest_ns;
	u64 least_queue_ns;
	u32 samples;		/* in a row with a queue of T; 0: none */
};

/* By how much the way got longer, mostly 0. */
static inline u64 onramp_longer_sample(struct onramp_longer *l, u64 now_ns, u64 queue_ns,
				       u64 threshold_ns)
{
	if (queue_ns < threshold_ns || now_ns - l->newest_ns >= ONRAMP_LONGER_NS)
		l->samples = 0;
	l->newest_ns = now_ns;
	if (queue_ns < threshold_ns)
		return 0;
	if (!l->samples) {
		l->since_ns = now_ns;
		l->least_queue_ns = queue_ns;
	}
	if (queue_ns < l->least_queue_ns)
		l->least_queue_ns = queue_ns;
	l->samples++;
	if (now_ns - l->since_ns < ONRAMP_LONGER_NS || l->samples < ONRAMP_LONGER_SAMPLES)
		return 0;
	l->samples = 0;
	return l->least_queue_ns;
}

#endif /* ONRAMP_LONGER_H */
