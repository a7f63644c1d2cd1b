/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What round trips say about the base delay (turnpike_base.h).
 *
 * A flow that began while a queue stood takes that queue for part of the path, sends
 * when others are paused, and keeps the queue standing: the latecomer's advantage of
 * LEDBAT.  Its timestamps cannot tell, since each connection's have an offset of their
 * own.  Round trips can: one clock measures all of them, and the least to a destination
 * is known to every flow of the host.
 *
 *      excess = round trip - least round trip = queue + queue of the way back + waits
 *      gap    = excess - queueing delay over the base
 *
 * The way back has no queue and the receiver does not wait at some moment of every window.
 * The least gap of a window is then the standing queue that the base has in it.
 */
#ifndef ONRAMP_EXCESS_H
#define ONRAMP_EXCESS_H

#include "include/turnpike_types.h"

/* Longer than any queue stands in one place by chance, a fiftieth of a slot of the base. */
#define ONRAMP_GAP_WINDOW_NS	10000000ULL
#define ONRAMP_GAP_SAMPLES	16

/* Both sides of the difference are right to 1 us, and wake-ups of hosts add some. */
#define ONRAMP_GAP_NOISE_NS	3000

/* A longer route shows after one to two of these. */
#define ONRAMP_FLOOR_SPAN_NS	5000000000ULL

/* The least of the last 5 to 10 seconds. */
struct onramp_floor {
	u64 end_ns;		/* of the present span */
	u64 now_ns;		/* least of the present span, */
	u64 before_ns;		/* and of the one before */
};

static inline void onramp_floor_init(struct onramp_floor *f)
{
	f->end_ns = 0;
	f->now_ns = ~0ULL;
	f->before_ns = ~0ULL;
}

static inline u64 onramp_floor_sample(struct onramp_floor *f, u64 now_ns, u64 rtt_ns)
{
	if (now_ns >= f->end_ns) {
		f->before_ns = f->end_ns && now_ns - f->end_ns < ONRAMP_FLOOR_SPAN_NS ?
			       f->now_ns : ~0ULL;
		f->now_ns = rtt_ns;
		f->end_ns = now_ns + ONRAMP_FLOOR_SPAN_NS;
	} else if (rtt_ns < f->now_ns) {
		f->now_ns = rtt_ns;
	}
	return f->now_ns < f->before_ns ? f->now_ns : f->before_ns;
}

struct onramp_gap {
	u64 end_ns;		/* of the window */
	s64 least_ns;
	u32 samples;		/* in it; 0: none yet */
};

/* A sample's two delays.  Returns by how much the base is too long, 0 as a rule. */
static inline u64 onramp_gap_sample(struct onramp_gap *g, u64 now_ns, u64 excess_ns,
				    u64 queue_ns)
{
	s64 gap_ns = (s64)(excess_ns - queue_ns);

	if (!g->samples) {
		g->end_ns = now_ns + ONRAMP_GAP_WINDOW_NS;
		g->least_ns = gap_ns;
	}
	if (gap_ns < g->least_ns)
		g->least_ns = gap_ns;
	g->samples++;
	if (now_ns < g->end_ns || g->samples < ONRAMP_GAP_SAMPLES)
		return 0;
	g->samples = 0;
	return g->least_ns > ONRAMP_GAP_NOISE_NS ? (u64)g->least_ns : 0;
}

#endif /* ONRAMP_EXCESS_H */
