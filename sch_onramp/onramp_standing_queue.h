/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The standing queue that a base delay (turnpike_base.h) has in it, by round trips.
 *
 * A flow that began while a queue stood takes that queue for part of the path.  It sends while
 * others are paused, and keeps the queue standing: the latecomer's advantage of LEDBAT (RFC
 * 6817).  Its timestamps cannot tell, as each connection's have their own offset.  Round trips
 * can: one clock measures all of them, and every flow of the host knows the least to a
 * destination.
 *
 *      excess   = round trip - least round trip = queue + queue of the way back + waits
 *      standing = excess - queueing delay over the base
 *
 * At some moment of every window the way back has no queue and the receiver does not wait.  The
 * least of a window is then the standing queue in the base.  Not in ONRAMP21.
 */
#ifndef ONRAMP_STANDING_QUEUE_H
#define ONRAMP_STANDING_QUEUE_H

#include "include/turnpike_types.h"

/* No queue stands in one place for longer by chance; a fiftieth of a slot of the base. */
#define ONRAMP_STANDING_QUEUE_WINDOW_NS	10000000ULL
#define ONRAMP_STANDING_QUEUE_SAMPLES	16

/* Both sides of the difference are right to 1 us; wake-ups of hosts add some. */
#define ONRAMP_STANDING_QUEUE_NOISE_NS	3000

struct onramp_standing_queue {
	u64 end_ns;		/* of the window */
	s64 least_ns;
	u32 samples;		/* in it; 0: none yet */
};

/* Takes a sample's two delays.  Returns by how much the base is too long, mostly 0. */
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
