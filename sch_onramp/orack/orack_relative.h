/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a receiver's clock and our own to queueing delay: grade (c) of one-way delay, clocks that
 * are not synchronized.  Model: On-Ramp (ONRAMP21).
 *
 *      raw     = arrival by the peer's clock - departure by ours, modulo 2^64
 *      queue   = raw - base of the raw delays (turnpike_base.h)
 *      excess  = round trip - least round trip, all by our clock, without the time that
 *                the data waited at the peer for its receipt (the age in the entry)
 *
 * The queue on the way there is part of the excess.  So a queue beyond the excess is no queue:
 * the peer's clock was set, or the peer lies.  The module cuts it to the excess at once.  Where
 * the difference is a step's, the base begins anew.  Then no receipt, whatever is in it, shows
 * more queue than round trips have in them.
 */
#ifndef ORACK_RELATIVE_H
#define ORACK_RELATIVE_H

#include "include/turnpike_types.h"
#include "include/turnpike_base.h"

/* Departures within a GSO packet are computed; wake-ups differ by some microseconds. */
#define ORACK_RELATIVE_NOISE_NS	10000

/* Raw delays further from the first are of a clock that was set.  The limit keeps sums of them in
 * range.  At 200 ppm a clock drifts so far in two months.
 */
#define ORACK_RELATIVE_RANGE_NS	(1LL << 40)

/* How good one-way delay is (Documentation/sch_onramp.rst); orack_absolute.h has the first two. */
enum orack_grade {
	ORACK_GRADE_NONE,		/* no receipt yet */
	ORACK_GRADE_SYNCHRONIZED,	/* (a): both clocks are disciplined */
	ORACK_GRADE_OFFSET,		/* (b): a daemon tells the offset and its error */
	ORACK_GRADE_BASE,		/* (c): queueing delay over a tracked base */
};

struct orack_relative {
	bool known;
	u32 id;			/* the peer's clock; another one begins anew */
	u64 ref_ns;		/* raw delay that the base counts from */
	u32 begun;		/* times that it began anew, and steps of its bases before */
	u32 steps;		/* of the clock, seen here; base.steps has others */
	struct tp_base base;
};

static inline void orack_relative_init(struct orack_relative *c)
{
	c->known = false;
	c->begun = 0;
	c->steps = 0;
	tp_base_init(&c->base);
}

/* A new number: the clock or the path's length changed. */
static inline u32 orack_relative_epoch(const struct orack_relative *c)
{
	return c->begun + c->steps + c->base.steps;
}

/* The first sample: its excess is queue, the rest is the path. */
static inline void orack_relative_begin(struct orack_relative *c, u32 id, u64 now_ns, u64 empty_ns)
{
	c->known = true;
	c->begun += c->base.steps + 1;
	c->id = id;
	c->ref_ns = empty_ns;
	tp_base_init(&c->base);
	tp_base_sample(&c->base, now_ns, 0);
}

static inline bool orack_relative_in_range(const struct orack_relative *c, u64 raw_ns)
{
	s64 from_ref_ns = (s64)(raw_ns - c->ref_ns);

	return from_ref_ns < ORACK_RELATIVE_RANGE_NS && from_ref_ns > -ORACK_RELATIVE_RANGE_NS;
}

/* The queueing delay of a packet.  @rx_ns is by clock @id, @tx_ns and @now_ns by ours. */
static inline u64 orack_relative_sample(struct orack_relative *c, u32 id, u64 now_ns, u64 tx_ns,
					u64 rx_ns, u64 excess_ns)
{
	u64 raw_ns = rx_ns - tx_ns, most_ns, queue_ns;
	s64 from_ref_ns;

	if (!c->known || c->id != id || !orack_relative_in_range(c, raw_ns))
		orack_relative_begin(c, id, now_ns, raw_ns - excess_ns);
	from_ref_ns = (s64)(raw_ns - c->ref_ns);
	queue_ns = tp_base_sample(&c->base, now_ns, from_ref_ns);
	most_ns = excess_ns + ORACK_RELATIVE_NOISE_NS;
	if (queue_ns <= most_ns)
		return queue_ns;
	if (queue_ns - most_ns >= TP_BASE_STEP_NS) {
		tp_base_restart(&c->base, now_ns, from_ref_ns - (s64)excess_ns);
		c->base.drift_ppb = 0;
		c->steps++;
	}
	return excess_ns;
}

#endif /* ORACK_RELATIVE_H */
