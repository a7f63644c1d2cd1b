/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delay that comes of a busy host and not of a queue: interrupts that are coalesced, processes
 * that are late.  It comes in batches.  What waits for a late host is taken all at once, so that
 * delay jumps up and falls to the queue's with each packet that left later:
 *
 *      delay |    .          .                              . most
 *            |    :.     .   ::.                            :
 *            |    ::.    :.  :::.    .       a batch:       :. fall
 *            |   .:::.   ::. ::::.   :.                     ::
 *            |___::::::..:::.:::::.._::._                   ::. least
 *
 * A pause for that empties no queue, and is called for again by the next batch: noise of 100 us in
 * the mean took a third of the link from a CUBIC flow, coalescing for 50 us as much.  What a batch
 * ends with is the queue.  So batches are counted that begin with a rise of more than half of T
 * and fall by more than T while the flow was not paused.  A queue does neither: bursts of flows
 * are below half of T together (onramp_burst.h), and what makes it fall are pauses.  An incast
 * rises, and does not fall without them.  Batches that fall by less ask for few pauses; counted,
 * too, they made shares unequal where interrupts are coalesced (Jain .70 of four flows, not .95).
 *
 * While half of the recent batches are such, a flow is judged by the least delay of this batch and
 * the one before.  State in, event in, state out; nothing else is touched.
 */
#ifndef ONRAMP_NOISE_H
#define ONRAMP_NOISE_H

#include "include/turnpike_types.h"

/* Of recent batches the share that was noise: of 16 or so, to begin in a millisecond where
 * interrupts are coalesced for 50 us.  It ends at half of what it begins at, not to come and go.
 */
#define ONRAMP_NOISE_ONE	(1U << 16)
#define ONRAMP_NOISE_SHIFT	4
#define ONRAMP_NOISE_ON		(ONRAMP_NOISE_ONE / 2)
#define ONRAMP_NOISE_OFF	(ONRAMP_NOISE_ONE / 4)

/* A delay, and what the pause counter stood at when its packet left. */
struct onramp_delay {
	u64 owd_ns;
	u64 note_ns;
};

/* All zero: nothing seen. */
struct onramp_noise {
	u64 end_ns;			/* the batch lasts no longer, a round trip */
	u64 last_ns;			/* the newest delay */
	struct onramp_delay most;	/* of the batch */
	u64 fall_ns;			/* from there, less what the flow was paused for meanwhile */
	struct onramp_delay least;	/* of the batch, */
	struct onramp_delay before;	/* and of the one before */
	u32 samples;			/* of the batch */
	u32 share;			/* of noise, of ONRAMP_NOISE_ONE */
	bool on;			/* judged by the least */
};

static inline void onramp_noise_begin(struct onramp_noise *n, u64 now_ns, u64 rtt_ns,
				      const struct onramp_delay *d)
{
	n->end_ns = now_ns + rtt_ns;
	n->most = *d;
	n->fall_ns = 0;
	n->least = *d;
	n->samples = 0;
}

/* A batch is over; @jump: since delay rose.  One sample says nothing of how it falls. */
static inline void onramp_noise_close(struct onramp_noise *n, u64 threshold_ns, bool jump)
{
	if (jump && n->fall_ns > threshold_ns)
		n->share += (ONRAMP_NOISE_ONE - n->share) >> ONRAMP_NOISE_SHIFT;
	else if (!jump || n->samples > 1)
		n->share -= n->share >> ONRAMP_NOISE_SHIFT;
	n->on = n->share >= (n->on ? ONRAMP_NOISE_OFF : ONRAMP_NOISE_ON);
	n->before = n->least;
}

static inline void onramp_noise_take(struct onramp_noise *n, const struct onramp_delay *d)
{
	u64 explained_ns = d->owd_ns + d->note_ns - n->most.note_ns;

	n->samples++;
	n->last_ns = d->owd_ns;
	if (d->owd_ns > n->most.owd_ns) {
		n->most = *d;
		n->fall_ns = 0;
	} else if (d->note_ns >= n->most.note_ns && explained_ns + n->fall_ns < n->most.owd_ns) {
		n->fall_ns = n->most.owd_ns - explained_ns;
	}
	if (d->owd_ns < n->least.owd_ns)
		n->least = *d;
}

/* A sample, with its round trip: changed to the one that the flow is to be judged by. */
static inline void onramp_noise_sample(struct onramp_noise *n, u64 threshold_ns, u64 now_ns,
				       u64 rtt_ns, struct onramp_delay *d)
{
	bool jump = d->owd_ns > n->last_ns + threshold_ns / 2;

	if (!n->end_ns) {
		n->before = *d;
		onramp_noise_begin(n, now_ns, rtt_ns, d);
	} else if (jump || now_ns >= n->end_ns) {
		onramp_noise_close(n, threshold_ns, jump);
		onramp_noise_begin(n, now_ns, rtt_ns, d);
	}
	onramp_noise_take(n, d);
	if (n->on)
		*d = n->before.owd_ns < n->least.owd_ns ? n->before : n->least;
}

#endif /* ONRAMP_NOISE_H */
