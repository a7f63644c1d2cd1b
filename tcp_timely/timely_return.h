/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Back to the rate from before a burst of other flows, a departure from TIMELY15. All flows answer
 * to a burst that lasts for a few round trips, and with the paper's step the capacity that it
 * leaves is free for milliseconds.
 *
 *   near the base -> burst, cuts -> near the base again -> climb to near_rate, or until a queue
 *
 * Sums of rates at which the path was empty do not fill a queue, so this ends where it began.
 */
#ifndef TIMELY_RETURN_H
#define TIMELY_RETURN_H

#include "timely_drain.h"

/* Older rates say little: in so many ticks of the watch, 8 ms, other flows have come. */
#define TIMELY_RETURN_TICKS	8
#define TIMELY_RETURN_FALL	8	/* the least part of the rate: what the watch knows it to */
/*
 * Noise makes flows fall, too, and what it takes makes shares even. So the fall counts beyond what
 * noise explains, a part of the rate for its part of what is near the base. With 50 us of it forty
 * flows have a Jain index of .98, and .89 without (rack-sim flows=4 noise=50 seeds=6).
 */
#define TIMELY_RETURN_SPIKES	2
#define TIMELY_RETURN_SPIKE_NS	1500	/* bursts of other flows on a quiet host */
/*
 * Flows whose samples are rarer, in rare_rtts, cannot tell that the path is empty. Without this forty
 * flows under 200 us of noise have a 99th percentile of 104 us, and 74 with it (rack-sim flows=4
 * noise=200 seeds=6).
 */
#define TIMELY_RETURN_RARE	3

/* Did the rate fall since a sample was near the base, within near_ns, and not for noise? */
static inline bool timely_fell(const struct timely_state *s, u64 now_ns, u64 near_ns)
{
	u64 spike_ns = timely_less(s->spike_ns, TIMELY_RETURN_SPIKE_NS);
	u64 fall_bps = timely_less(timely_rate_unpack(s->near_rate), s->rate_bps);
	u64 least_ns = near_ns / TIMELY_RETURN_FALL + TIMELY_RETURN_SPIKES * spike_ns;

	/* 400 Gbit/s times a third of a second, shifted, fit. */
	return timely_path_near_ticks(s, now_ns) <= TIMELY_RETURN_TICKS && fall_bps &&
	       (fall_bps >> 8) * near_ns >= ((u64)s->rate_bps >> 8) * least_ns;
}

/*
 * A sample is near the base again, elapsed_ns after the one before. Before the first drain a burst is
 * the start of many flows. With returns from it, 24 flows and incasts into 3 MB have 13 timeouts in six
 * runs, and 5 without (battery/incast timely,beside-24-3mb).
 */
static inline void timely_return(struct timely_state *s, const struct timely_params *p,
				 u64 now_ns, u64 near_ns, u64 rtt_ns, u64 elapsed_ns)
{
	bool burst = s->burst;

	if (!p->climb_back)
		return;
	s->burst = 0;
	if (!burst || !s->drained || s->draining || s->climb ||
	    timely_is_rare(p, elapsed_ns, rtt_ns, TIMELY_RETURN_RARE) ||
	    !timely_fell(s, now_ns, near_ns))
		return;
	s->high_rate_bps = timely_rate_unpack(s->near_rate);
	s->in_round = 0;
	s->climb = 1;
}

#endif /* TIMELY_RETURN_H */
