/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast a flow sends what a pause held back.
 *
 * The congestion control's rate does not serve.  That of a window without losses grows
 * without bound; that of a window which is the limit is its own throughput times a
 * constant (1.2 for TCP's pacing), and what all flows multiply alike keeps every share
 * as unequal as it is.  So:
 *
 *      rate after a pause = throughput of the last window + step
 *
 * with one step for all.  Flows of one queue are paused for the same share s of the time;
 * x <- (1 - s) (x + step) has its fixed point at step (1 - s) / s, the same for each.
 *
 * What is too much comes until feedback of it does, which the queue itself delays: were the
 * steps of all flows together more than the line, a long queue would make a longer one, and
 * be followed by none.  So a step is no more than half of the throughput, which matters to
 * some 20 flows and more into 10 Gbit/s, or fewer on paths slower than that.
 *
 * A flow that no pause met through a whole window needs none of this, and has its
 * congestion control's rate.  What still waits behind the last pause leaves a quarter faster
 * than that: of a sender that paces itself as much comes as leaves at its own rate, and every
 * packet would be late for good.
 *
 * Where delay is noisy pauses are rare, since few delays tell of the queue.  There the rate grows by
 * a quarter in a window without one, for as long as it is what limits the flow: with the
 * congestion control's between two pauses, four flows had a queue of 2.3 ms.
 *
 * State in, event in, state out; nothing else is touched.
 */
#ifndef ONRAMP_RELEASE_H
#define ONRAMP_RELEASE_H

#include "include/turnpike_types.h"

/* Several rounds of pause and feedback, each of which takes T and some: of one and a half,
 * the burst of one would pass for throughput.  And at 10 Gbit/s enough packets of one flow in
 * twelve to count its throughput to some percent, which takes a millisecond.
 */
#define ONRAMP_RELEASE_WINDOW_T		8
#define ONRAMP_RELEASE_WINDOW_NS	1000000ULL

/* Bytes times 10^9 have to fit 64 bits: 1.4 Tbit/s do.  T is 12.5 ms then. */
#define ONRAMP_RELEASE_WINDOW_MAX_NS	100000000ULL

/* The step is a frame in every T: what N flows then send too much until feedback comes is
 * of the size of N frames, which their bursts are anyway.
 */
#define ONRAMP_RELEASE_STEP_BYTES	1514

/* What waits is gone after four times as long as it waited, at a rate that a queue of T bears. */
#define ONRAMP_RELEASE_CATCH_UP		4

/* Both from T. */
struct onramp_release_params {
	u64 window_ns;		/* throughput is of so long, at least */
	u64 step;		/* bytes per second, the most */
};

struct onramp_release {
	u64 began_ns;		/* of the window */
	u64 bytes;		/* sent in it */
	u64 rate;		/* bytes per second; 0: the congestion control's */
	bool full;		/* there always was something to send */
	bool paused;		/* a pause met it */
	bool rare;		/* pauses are, since its delay is noisy (onramp_noise.h) */
};

static inline void onramp_release_init(struct onramp_release *r, u64 now_ns)
{
	r->began_ns = now_ns;
	r->bytes = 0;
	r->rate = 0;
	r->full = false;
	r->paused = false;
	r->rare = false;
}

static inline void onramp_release_params_init(struct onramp_release_params *c, u64 threshold_ns)
{
	u64 window_ns = threshold_ns * ONRAMP_RELEASE_WINDOW_T;

	if (window_ns < ONRAMP_RELEASE_WINDOW_NS)
		window_ns = ONRAMP_RELEASE_WINDOW_NS;
	if (window_ns > ONRAMP_RELEASE_WINDOW_MAX_NS)
		window_ns = ONRAMP_RELEASE_WINDOW_MAX_NS;
	c->window_ns = window_ns;
	c->step = tp_div(ONRAMP_RELEASE_STEP_BYTES * 1000000000ULL,
			 threshold_ns ? threshold_ns : 1);
}

/* A packet met a pause. */
static inline void onramp_release_held(struct onramp_release *r)
{
	r->paused = true;
}

static inline void onramp_release_close(struct onramp_release *r, u64 elapsed_ns, u64 step)
{
	u64 rate = tp_div(r->bytes * 1000000000ULL, elapsed_ns);

	rate += step < rate / 2 ? step : rate / 2;
	if (!r->paused && r->rare && r->rate < 2 * rate)
		r->rate += r->rate / ONRAMP_RELEASE_CATCH_UP;
	else if (!r->paused)
		r->rate = 0;
	/* Less than before says nothing if there was not more to send. */
	else if (r->full || (r->rate && rate > r->rate))
		r->rate = rate;
}

/* How fast what waited leaves, in bytes per second, ~0: at once.  @sender_rate is the congestion
 * control's, @cap the application's; of either ~0 says none.  Catching up may exceed the cap:
 * with the wait it does not.
 */
static inline u64 onramp_release_late_rate(const struct onramp_release *r, u64 sender_rate, u64 cap)
{
	if (r->rate)
		return r->rate < cap ? r->rate : cap;
	if (sender_rate == ~0ULL)
		return sender_rate;
	return sender_rate + sender_rate / ONRAMP_RELEASE_CATCH_UP;
}

/* A packet leaves; @more: the flow has others to send. */
static inline void onramp_release_sent(struct onramp_release *r,
				       const struct onramp_release_params *c, u64 now_ns,
				       u32 bytes, bool more)
{
	u64 elapsed_ns = now_ns - r->began_ns;

	r->bytes += bytes;
	r->full &= more;
	if (elapsed_ns < c->window_ns)
		return;
	onramp_release_close(r, elapsed_ns, c->step);
	r->began_ns = now_ns;
	r->bytes = 0;
	r->full = more;
	r->paused = false;
}

#endif /* ONRAMP_RELEASE_H */
