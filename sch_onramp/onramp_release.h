/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast a flow sends what a pause held back.  Not in ONRAMP21.
 *
 * The congestion control's rate does not serve.  Without losses a window's rate grows without
 * bound.  When the window is the limit, the rate is the flow's own throughput times a constant
 * (1.2 for TCP's pacing).  A factor common to all flows keeps shares as unequal as they are.  So:
 *
 *      rate after a pause = throughput of the last window + step
 *
 * with one step for all.  Flows of one queue are paused for the same share s of the time.
 * x <- (1 - s) (x + step) has its fixed point at step (1 - s) / s, the same for each.
 *
 * Too much comes until its feedback does, and the queue itself delays that.  If the steps of all
 * flows exceeded the line, a long queue would make a longer one, then none would follow.  So a
 * step is at most half of the throughput.  That matters for some 20 flows and more into 10
 * Gbit/s, or fewer on slower paths.
 *
 * A flow that met no pause through a whole window has its congestion control's rate.  What still
 * waits behind the last pause leaves a quarter faster.  At that rate itself, a sender that paces
 * would bring as much as leaves, and every packet would stay late.
 *
 * Where delay is noisy pauses are rare, since few delays tell of the queue.  There the rate grows
 * by a quarter in a window without a pause, as long as it limits the flow.  At the congestion
 * control's rate, a queue would build between two pauses.
 *
 * State in, event in, state out; nothing else is touched.
 */
#ifndef ONRAMP_RELEASE_H
#define ONRAMP_RELEASE_H

#include "include/turnpike_types.h"

/* Several rounds of pause and feedback, each of T and some: in one and a half, the burst of one
 * would pass for throughput.  At 10 Gbit/s one flow of twelve also needs enough packets to count
 * its throughput to some percent, which takes a millisecond.
 */
#define ONRAMP_RELEASE_WINDOW_T		8
#define ONRAMP_RELEASE_WINDOW_NS	1000000ULL

/* Bytes times 10^9 have to fit 64 bits: 1.4 Tbit/s do.  T is 12.5 ms then. */
#define ONRAMP_RELEASE_WINDOW_MAX_NS	100000000ULL

/* The step is a frame in every T.  Until feedback comes N flows then send about N frames too
 * much, which their bursts are anyway.
 */
#define ONRAMP_RELEASE_STEP_BYTES	1514

/* What waits is gone after four times its wait, at a rate that a queue of T bears. */
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
	bool full;		/* it always had something to send */
	bool paused;		/* a pause met it */
	bool rare;		/* pauses are, as delay is noisy (onramp_noise.h) */
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
	/* A lower rate tells nothing if there was not more to send. */
	else if (r->full || (r->rate && rate > r->rate))
		r->rate = rate;
}

/* The rate at which what waited leaves, in bytes per second; ~0: at once.  @sender_rate is the
 * congestion control's, @cap the application's; ~0 in either: none.  Catching up may exceed the
 * cap: together with the wait it does not.
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
