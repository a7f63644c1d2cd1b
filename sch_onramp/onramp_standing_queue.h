/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The standing queue that a base delay (turnpike_base.h) has in it, by round trips.
 *
 * A flow that began while a queue stood takes that queue for part of the path, sends
 * when others are paused, and keeps the queue standing: the latecomer's advantage of
 * LEDBAT.  Its timestamps cannot tell, since each connection's have an offset of their
 * own.  Round trips can: one clock measures all of them, and the least to a destination
 * is known to every flow of the host.
 *
 *      excess   = round trip - least round trip = queue + queue of the way back + waits
 *      standing = excess - queueing delay over the base
 *
 * The way back has no queue and the receiver does not wait at some moment of every window.
 * The least of a window is then the standing queue that the base has in it.
 */
#ifndef ONRAMP_STANDING_QUEUE_H
#define ONRAMP_STANDING_QUEUE_H

#include "include/turnpike_types.h"

/* Longer than any queue stands in one place by chance, a fiftieth of a slot of the base. */
#define ONRAMP_STANDING_QUEUE_WINDOW_NS	10000000ULL
#define ONRAMP_STANDING_QUEUE_SAMPLES	16

/* Both sides of the difference are right to 1 us, and wake-ups of hosts add some. */
#define ONRAMP_STANDING_QUEUE_NOISE_NS	3000

struct onramp_standing_queue {
	u64 end_ns;		/* of the window */
	s64 least_ns;
	u32 samples;		/* in it; 0: none yet */
};

/* A sample's two delays.  Returns by how much the base is too long, 0 as a rule. */
static inline u64 onramp_standing_queue_sample(struct onramp_standing_queue *s, u64 now_ns,
					       u64 excess_ns, u64 queue_ns)
{
	s64 standing_ns = (s64)(excess_ns - queue_ns);

	if (!s->samples) {
		s->end_ns = now_ns + ONRAMP_STANDING_QUEUE_WINDOW_NS;
		s->least_ns = standing_ns;
	}
	if (standing_ns < s->least_ns)
		s->least_ns = standing_ns;
	s->samples++;
	if (now_ns < s->end_ns || s->samples < ONRAMP_STANDING_QUEUE_SAMPLES)
		return 0;
	s->samples = 0;
	return s->least_ns > ONRAMP_STANDING_QUEUE_NOISE_NS ? (u64)s->least_ns : 0;
}

#endif /* ONRAMP_STANDING_QUEUE_H */
