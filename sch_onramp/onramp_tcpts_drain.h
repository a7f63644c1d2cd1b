/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drains by timestamps: hosts stop together, now and then, so that the queue empties.
 *
 * The reason is orack_drain.h's: a flow that begins while a regulated queue stands takes it for
 * part of the path.  But timestamps have no clock common to all hosts; all hosts see the queue
 * itself.  As fireflies, and as flows of BBR with ProbeRTT, they take the moment from each other:
 *
 *      queue  ~~~~~~~~~~\        /~~~~~~     a host stops, and its part of the queue goes;
 *                        \      /            others see that, and stop as well if half of a
 *                         \____/             period is over: from then on all are due at once
 *
 * If no base got shorter after a stop, the next is due after twice the time.  Not in ONRAMP21.
 */
#ifndef ONRAMP_TCPTS_DRAIN_H
#define ONRAMP_TCPTS_DRAIN_H

#include "include/turnpike_types.h"

/* The first are due each 134 ms, as with receipts.  Later ones are due each 537 ms, about as
 * often as the base forgets a slot (TP_BASE_SLOT_NS).
 */
#define ONRAMP_TCPTS_DRAIN_SHIFT		27
#define ONRAMP_TCPTS_DRAIN_SHIFT_MAX		29

/* Longer than others take to see the queue get shorter, and to stop: a round trip with a queue of
 * 50 to 70 us in it.  60 us were too few for twelve flows of four hosts.
 */
#define ONRAMP_TCPTS_DRAIN_SPREAD_NS		100000

/* After so long each flow of a host has seen an ACK. */
#define ONRAMP_TCPTS_DRAIN_TOGETHER_NS	100000

/* Variation where the queue is empty: ticks of both clocks, wake-ups. */
#define ONRAMP_TCPTS_DRAIN_EMPTY_NS		5000

/* The mean is over some 64 samples: an ACK each 2 packets of a flow, some RTTs of all. */
#define ONRAMP_TCPTS_DRAIN_MEAN_SHIFT		6

/* A host's state for a destination. */
struct onramp_tcpts_drain {
	u64 empty_ns;		/* when the path last had no queue */
	u64 stop_ns;		/* when a flow last was the first to stop */
	u32 mean_ns;		/* queueing delay */
	u8 shift;		/* next stop after 2^shift ns */
	bool news;		/* a base got shorter since the last stop */
};

static inline void onramp_tcpts_drain_init(struct onramp_tcpts_drain *d, u64 now_ns)
{
	d->empty_ns = now_ns;
	d->stop_ns = 0;
	d->mean_ns = 0;
	d->shift = ONRAMP_TCPTS_DRAIN_SHIFT;
	d->news = true;
}

/* Is there a queue to empty?  A mean much longer than @threshold_ns has another cause, which does
 * not stop with us.
 */
static inline bool onramp_tcpts_drain_is_worth(const struct onramp_tcpts_drain *d, u64 queue_ns,
					       u64 threshold_ns)
{
	return queue_ns >= threshold_ns / 4 && d->mean_ns <= 4 * threshold_ns;
}

/* Another host stopped, or no host did for long. */
static inline bool onramp_tcpts_drain_is_due(const struct onramp_tcpts_drain *d, u64 now_ns,
					     u64 queue_ns, u64 threshold_ns)
{
	u64 last_ns = d->empty_ns > d->stop_ns ? d->empty_ns : d->stop_ns;

	if (queue_ns + threshold_ns < d->mean_ns)
		return now_ns - last_ns > 1ULL << (ONRAMP_TCPTS_DRAIN_SHIFT - 1);
	return now_ns - last_ns > 1ULL << d->shift && queue_ns >= threshold_ns / 2;
}

static inline void onramp_tcpts_drain_sample(struct onramp_tcpts_drain *d, u64 now_ns, u64 queue_ns,
					     bool lowered)
{
	s64 step_ns = (s64)(queue_ns - d->mean_ns);

	d->mean_ns += (s32)(step_ns >> ONRAMP_TCPTS_DRAIN_MEAN_SHIFT);
	d->news |= lowered;
	if (queue_ns < ONRAMP_TCPTS_DRAIN_EMPTY_NS)
		d->empty_ns = now_ns;
}

static inline void onramp_tcpts_drain_lead(struct onramp_tcpts_drain *d, u64 now_ns)
{
	d->stop_ns = now_ns;
	if (d->news)
		d->shift = ONRAMP_TCPTS_DRAIN_SHIFT;
	else if (d->shift < ONRAMP_TCPTS_DRAIN_SHIFT_MAX)
		d->shift++;
	d->news = false;
}

/* How long a flow is to stop that saw @queue_ns, and stopped last at @flow_ns; 0: not at all.
 * @lowered: its base just got shorter.
 */
static inline u64 onramp_tcpts_drain_pause_ns(struct onramp_tcpts_drain *d, u64 now_ns,
					      u64 queue_ns, u64 threshold_ns, u64 flow_ns,
					      bool lowered)
{
	bool worth = onramp_tcpts_drain_is_worth(d, queue_ns, threshold_ns);
	bool joins = now_ns - d->stop_ns < ONRAMP_TCPTS_DRAIN_TOGETHER_NS && flow_ns < d->stop_ns;
	bool leads = worth && !joins &&
		     onramp_tcpts_drain_is_due(d, now_ns, queue_ns, threshold_ns);

	onramp_tcpts_drain_sample(d, now_ns, queue_ns, lowered);
	if (leads)
		onramp_tcpts_drain_lead(d, now_ns);
	return leads || (worth && joins) ? queue_ns + ONRAMP_TCPTS_DRAIN_SPREAD_NS : 0;
}

#endif /* ONRAMP_TCPTS_DRAIN_H */
