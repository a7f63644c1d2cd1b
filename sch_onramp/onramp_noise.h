/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delay of a busy host, and not of a queue: coalesced interrupts, late processes.  Not in
 * ONRAMP21.  Noise comes in waves.  A late host takes all that waits at once.  Delay jumps up,
 * then falls to the queue's with each packet that left later:
 *
 *      delay |    .          .                              . most
 *            |    :.     .   ::.                            :
 *            |    ::.    :.  :::.    .       a wave:        :. fall
 *            |   .:::.   ::. ::::.   :.                     ::
 *            |___::::::..:::.:::::.._::._                   ::. least
 *
 * A pause for noise empties no queue, and the next wave calls for another.  So pauses would cost
 * a large part of the link.  What a wave ends with is the queue.  A wave counts as noise when
 * it begins with a rise of more than T / 2, and falls by more than T while the flow was not
 * paused.  A queue does neither: bursts of flows are below T / 2 together (onramp_burst.h), and
 * pauses make it fall.  An incast rises, but does not fall without pauses.  Waves with a
 * smaller fall ask for few pauses.  Counting those made shares unequal where interrupts are
 * coalesced.
 *
 * While half of the recent waves are noise, the least delay of this wave and the one before
 * judges a flow.  State in, event in, state out; nothing else is touched.
 */
#ifndef ONRAMP_NOISE_H
#define ONRAMP_NOISE_H

#include "include/turnpike_types.h"

/* Noise's share of some 16 recent waves, to begin in a millisecond where interrupts are
 * coalesced for 50 us.  It ends at half of what it begins at, so as not to come and go.
 */
#define ONRAMP_NOISE_ONE	(1U << 16)
#define ONRAMP_NOISE_SHIFT	4
#define ONRAMP_NOISE_ON		(ONRAMP_NOISE_ONE / 2)
#define ONRAMP_NOISE_OFF	(ONRAMP_NOISE_ONE / 4)

/* A delay, and the pause counter at the time its packet left. */
struct onramp_delay {
	u64 delay_ns;			/* of queues, and noise */
	u64 note_ns;
};

/* All zero: nothing seen. */
struct onramp_noise {
	u64 end_ns;			/* the wave ends here: a round trip */
	u64 last_ns;			/* the newest delay */
	struct onramp_delay most;	/* of the wave */
	u64 fall_ns;			/* fall from there, less the pauses meanwhile */
	struct onramp_delay least;	/* of the wave, */
	struct onramp_delay before;	/* and of the one before */
	u32 samples;			/* of the wave */
	u32 share;			/* of noise, of ONRAMP_NOISE_ONE */
	bool on;			/* the least judges */
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

/* Ends a wave; @jump: a rise of delay ended it.  One sample tells nothing of how it falls. */
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
	u64 explained_ns = d->delay_ns + d->note_ns - n->most.note_ns;

	n->samples++;
	n->last_ns = d->delay_ns;
	if (d->delay_ns > n->most.delay_ns) {
		n->most = *d;
		n->fall_ns = 0;
	} else if (d->note_ns >= n->most.note_ns && explained_ns + n->fall_ns < n->most.delay_ns) {
		n->fall_ns = n->most.delay_ns - explained_ns;
	}
	if (d->delay_ns < n->least.delay_ns)
		n->least = *d;
}

/* Takes a sample with its round trip, and changes it to the one that judges the flow. */
static inline void onramp_noise_sample(struct onramp_noise *n, u64 threshold_ns, u64 now_ns,
				       u64 rtt_ns, struct onramp_delay *d)
{
	bool jump = d->delay_ns > n->last_ns + threshold_ns / 2;

	if (!n->end_ns) {
		n->before = *d;
		onramp_noise_begin(n, now_ns, rtt_ns, d);
	} else if (jump || now_ns >= n->end_ns) {
		onramp_noise_close(n, threshold_ns, jump);
		onramp_noise_begin(n, now_ns, rtt_ns, d);
	}
	onramp_noise_take(n, d);
	if (n->on)
		*d = n->before.delay_ns < n->least.delay_ns ? n->before : n->least;
}

#endif /* ONRAMP_NOISE_H */
