/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Noise of RTT samples: interrupts, schedulers, single bursts of other flows. Noise only
 * adds, and the next sample knows nothing of it, while a queue stays for round trips. The
 * papers have no such filter; figure 12 of TIMELY15 shows the effect of noise.
 *
 * Noise is the excess of a sample over the least of the last samples: all of it if that
 * least is near the base, otherwise as much as the jitter of the samples explains.
 */
#ifndef TIMELY_NOISE_H
#define TIMELY_NOISE_H

#include "timely_state.h"

#define TIMELY_JITTER_SHIFT	2	/* 22 bits hold a millisecond */
#define TIMELY_NOISE_WIDTH	8	/* jitters that a sample has at most */
#define TIMELY_NOISE_REST	2	/* jitters that a minimum still has */
#define TIMELY_JITTER_WEIGHT	32	/* events that the average remembers */
#define TIMELY_NOISE_SLACK_NS	3000	/* two frames of another flow at 10 Gbit/s are no noise */
#define TIMELY_NOISE_EVENTS	4	/* half a window: a round trip with some bursts in it */
/* What a host takes for an ACK, and less than two frames of 10 Gbit/s need. */
#define TIMELY_NOISE_APART_NS	2000
#define TIMELY_QUEUE_SLACK	3	/* this part of a standing queue comes and goes by itself */
/*
 * Near the base is within so many mean spikes above it. The mean spike of uniform noise is a sixth
 * of it, so this covers all of it. At 20 us of it on 10 Gbit/s four flows have 95 % with 7, 89 %
 * with 5, 63 % with none (rack-sim hosts=4 flows=1 link=10 noise=20 seeds=4).
 */
#define TIMELY_NOISE_NEAR	7
#define TIMELY_NOISE_NEAR_RTTS	3	/* samples further apart see different queues */
#define TIMELY_SPIKE_WEIGHT	64	/* events that the mean of spikes remembers */
#define TIMELY_RARE_NOISE	2	/* in rare_rtts: beyond, slack grows with distance */
#define TIMELY_RARE_SLACK	4	/* times, at most: queues of 400 flows swing by 7 us */

/*
 * The most that counts as noise; 0: off. With path_law that is at least the base RTT,
 * since slow ports make both long.
 */
static inline u64 timely_noise_max_ns(const struct timely_state *s,
				      const struct timely_params *p)
{
	u64 max_ns = timely_us_to_ns(p->noise_max_us);

	return p->path_law && max_ns ? timely_max(max_ns, s->base_ns) : max_ns;
}

/* Jitter beyond the ordinary: how far samples stick out of their neighbours. */
static inline u64 timely_jitter_ns(const struct timely_state *s)
{
	return timely_less(s->jitter_q >> TIMELY_JITTER_SHIFT,
			   TIMELY_NOISE_SLACK_NS / 2);
}

/* Did one of the last samples find the path as good as empty? */
static inline bool timely_queue_went(const struct timely_state *s,
				     const struct timely_params *p, u64 low_ns)
{
	u64 spike_ns = timely_less(s->spike_ns, TIMELY_NOISE_SLACK_NS / 4);

	/* The mean of spikes ends at 65 us, jitter goes on. */
	if (timely_jitter_ns(s) >= TIMELY_SPIKE_MAX_NS / 2)
		spike_ns = timely_max(spike_ns, timely_jitter_ns(s));
	return p->path_law && low_ns < s->base_ns + TIMELY_NOISE_NEAR * spike_ns;
}

/*
 * The sample without its noise, which is its excess over the least of the last ones: all of it if
 * the queue went, otherwise as far as the jitter explains it, and timely_noise_max_ns() at most.
 */
static inline u64 timely_clean_rtt_ns(const struct timely_state *s,
				      const struct timely_params *p, u64 rtt_ns)
{
	u64 low_ns = timely_min(s->low_old_ns, s->low_new_ns);
	u64 noise_ns = timely_min(TIMELY_NOISE_WIDTH * timely_jitter_ns(s),
				  timely_noise_max_ns(s, p));

	if (p->noise_max_us && timely_queue_went(s, p, low_ns))
		return timely_min(rtt_ns, low_ns);
	return rtt_ns - timely_min(timely_less(rtt_ns, low_ns), noise_ns);
}

/*
 * Is an event a sample of its own? ACKs that one late interrupt brings have its delay all alike, and
 * come closer than half a frame takes at the flow's rate. Frames of 7 Gbit/s leave every 1.8 us, and
 * with a whole one shares of smallest bursts stay apart by 11 % (patched-fig9, seed 1).
 */
static inline bool timely_is_apart(u64 rate_bps, u64 frame_bytes, u64 elapsed_ns)
{
	return elapsed_ns >= TIMELY_NOISE_APART_NS ||
	       rate_bps * elapsed_ns >= frame_bytes * (8000000000ULL / 2);
}

/*
 * Does this event belong to the one before? Of one interrupt's events the first is the sample: it
 * waited for all of the delay, whatever the flow's rate. If each counted, fast flows would see less
 * jitter in samples of their own, and four flows on hosts whose interrupts are 50 us late on average
 * would have 18 % of 10 Gbit/s (timely-noise).
 */
static inline bool timely_is_merged(const struct timely_state *s, const struct timely_params *p,
				    const struct timely_sample *sample, u64 elapsed_ns)
{
	u64 bytes = sample->frame_bytes ? sample->frame_bytes : TIMELY_FRAME_BYTES;

	return p->path_law && p->noise_max_us && s->prev_rtt_ns && !s->draining &&
	       !timely_is_apart(s->rate_bps, bytes, elapsed_ns);
}

/*
 * The noise that the least of a few samples still has. It has no other bound, since jitter has: a
 * queue that only rises or falls makes none.
 */
static inline u64 timely_noise_shift_ns(const struct timely_state *s,
					const struct timely_params *p)
{
	return p->noise_max_us ? TIMELY_NOISE_REST * timely_jitter_ns(s) : 0;
}

/*
 * The difference of two samples that is no noise: the bursts of other flows. It is more
 * if a queue stands above short_ns, the lower threshold, and if the samples are far apart.
 */
static inline u64 timely_noise_floor_ns(const struct timely_state *s,
					const struct timely_params *p,
					u64 rtt_ns, u64 elapsed_ns,
					u64 short_ns, u64 slack_ns)
{
	u64 low_ns = timely_min(s->low_old_ns, s->low_new_ns);
	u64 near_ns = rtt_ns * p->rare_rtts * TIMELY_RARE_NOISE;

	if (low_ns < TIMELY_LOW_MAX_NS)
		slack_ns += timely_less(low_ns, short_ns) / TIMELY_QUEUE_SLACK;
	if (!p->rare_rtts || elapsed_ns <= near_ns)
		return slack_ns;
	if (elapsed_ns >= near_ns * TIMELY_RARE_SLACK)
		return slack_ns * TIMELY_RARE_SLACK;
	return timely_div(slack_ns * (elapsed_ns >> 4), (near_ns >> 4) + 1);
}

/* Enter how far a sample sticks out of its neighbours; the one before is elapsed_ns old. */
static inline void timely_track_spikes(struct timely_state *s, u64 rtt_ns, u64 elapsed_ns,
				       u64 spike_ns)
{
	if (elapsed_ns > rtt_ns * TIMELY_NOISE_NEAR_RTTS)
		spike_ns = 0;
	spike_ns = timely_min(spike_ns, TIMELY_SPIKE_MAX_NS);
	s->spike_ns += ((s64)spike_ns - (s64)s->spike_ns) / TIMELY_SPIKE_WEIGHT;
}

/*
 * The least of an interrupt's events is the nearest to the path, and how far the first is from the
 * others is noise. Where ACKs come every 100 us, as by a peer's NIC that coalesces, nothing else
 * tells of it: the first has waited for so long each time.
 */
static inline void timely_merge(struct timely_state *s, u64 rtt_ns, u64 elapsed_ns)
{
	s->low_new_ns = timely_min(s->low_new_ns, rtt_ns);
	timely_track_spikes(s, rtt_ns, elapsed_ns, timely_less(s->prev_rtt_ns, rtt_ns));
}

/*
 * Jitter is the distance of the middle one of three samples from the median of the
 * three. It is 0 while the queue rises or falls, a sixth of the width of uniform noise,
 * half the mean of exponential noise. Spikes up to slack_ns are other flows' bursts.
 */
static inline void timely_track_noise(struct timely_state *s, u64 rtt_ns,
				      u64 elapsed_ns, u64 slack_ns)
{
	bool up = rtt_ns > s->prev_rtt_ns;
	u64 step_ns = up ? rtt_ns - s->prev_rtt_ns : s->prev_rtt_ns - rtt_ns;
	u64 spike_ns = up != s->step_up ? timely_min(step_ns, (u64)s->last_step << TIMELY_STEP_SHIFT) : 0;
	u64 jitter_q;

	timely_track_spikes(s, rtt_ns, elapsed_ns, spike_ns);
	spike_ns = timely_less(spike_ns, slack_ns);
	jitter_q = s->jitter_q - s->jitter_q / TIMELY_JITTER_WEIGHT;
	s->jitter_q = jitter_q + (spike_ns << TIMELY_JITTER_SHIFT) /
				 TIMELY_JITTER_WEIGHT;
	s->step_up = up;
	s->last_step = timely_min(step_ns >> TIMELY_STEP_SHIFT, TIMELY_STEP_MAX);
	if (s->low_events >= TIMELY_NOISE_EVENTS) {
		s->low_old_ns = s->low_new_ns;
		s->low_new_ns = TIMELY_LOW_MAX_NS;
		s->low_events = 0;
	}
	s->low_new_ns = timely_min(s->low_new_ns, rtt_ns);
	s->low_events++;
}

/* The events so far speak for no HAI; timely_pi has none, and keeps its p there. */
static inline void timely_forget_hai(struct timely_state *s, const struct timely_params *p)
{
	if (p->variant != TIMELY_VARIANT_PI)
		s->hai_count = 0;
}

/* Forget the samples, not the jitter. */
static inline void timely_forget_samples(struct timely_state *s, const struct timely_params *p)
{
	s->prev_rtt_ns = 0;
	s->rtt_diff_q = 0;
	timely_forget_hai(s, p);
	s->last_step = 0;
	s->low_new_ns = TIMELY_LOW_MAX_NS;
	s->low_old_ns = TIMELY_LOW_MAX_NS;
	s->low_events = 0;
}

#endif /* TIMELY_NOISE_H */
