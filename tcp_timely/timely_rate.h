/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TIMELY rate engine: RTT samples in, sending rate out.
 *
 * Sources: TIMELY (SIGCOMM 2015), Algorithm 1, and Patched TIMELY (CoNEXT
 * 2016), Algorithm 2. Pure fixed-point arithmetic: no clock, no socket, no
 * lock. The caller serializes access to one state.
 *
 *            rtt < t_low          t_low..t_high            rtt > t_high
 *         +---------------+  +----------------------+  +------------------+
 *  rtt -> | rate += step  |  | timely:   by gradient|  | rate *= 1 - beta |
 *         +---------------+  |   <= 0: += step, HAI |  |  * (1 - t_high / |
 *                            |   >  0: *= 1 - b * g |  |         rtt)     |
 *                            | patched: blend of    |  +------------------+
 *                            |   both by w(g)       |
 *                            +----------------------+
 *
 * Every departure from the papers' pseudo-code is one knob that can be set to
 * "off"; the preset "verbatim" has them all off. What the shipped presets do
 * on top of it, and why:
 *
 *  - elapsed_gradient: the slope of the queue is its change over the time in
 *    which it changed. Over min_rtt, flows with rare events overstate it.
 *  - burst_us: bursts follow the rate, so that all flows together never hold
 *    more than burst_us of the link at once, however many they are.
 *  - delta_ref_bps: the step grows as sqrt(rate). Its sum over N flows then
 *    grows as sqrt(N) only, and flows still converge.
 *  - scale_updates, scale_max: growth per RTT, not per event. By the event,
 *    fast flows grow more often and the shares lock at 2:1 and the like.
 *  - decrease_once, max_decrease_milli, max_high_milli: one bounded decrease
 *    per RTT.
 *  - t_high a little over t_low, with its own softer beta_high_milli: bounds
 *    the tail when flows are many and their gradients weak.
 *  - high_drain: no decrease for a queue that is already draining.
 *  - hai_low, hai_us: HAI below t_low too, but only after a time that is much
 *    longer than the oscillation of the queue, equal for slow and fast flows.
 *  - noise_max_us, noise_slack_us, noise_events: what is independent from sample
 *    to sample is no queue. Without it, noise of t_low's size stops all flows.
 *  - rare_rtts: growth that no sample can stop in time is kept small.
 *  - base_slack_us, base_max_us, low_frames: longer paths and slower links move
 *    the thresholds up.
 *
 * Fixed point of timely_patched (gradient 0, so w = 1/2): the step balances the
 * decrease at rtt = t_low * (1 + W * step(R) / (beta * R)), where W is the
 * weight of an event and R the fair share. With a fixed step, W = 1 and
 * R = C / N this is the papers' eq. 31.
 */
#ifndef TIMELY_RATE_H
#define TIMELY_RATE_H

#include "timely_types.h"

enum timely_variant {
	TIMELY_VARIANT_TIMELY,
	TIMELY_VARIANT_PATCHED,
};

/*
 * Departures from the pseudo-code (on = 1) are u8 switches; numbers that have
 * an "off" value say so.
 */
struct timely_params {
	u64 init_rate_bps;	/* first rate; 0: line rate / (flows + 1) */
	u64 min_rate_bps;
	u64 max_rate_bps;
	u64 delta_bps;		/* additive step */
	u64 delta_ref_bps;	/* step grows as sqrt(rate / this); 0: fixed */
	u32 t_low_us;
	u32 t_high_us;
	u32 min_rtt_us;		/* normalizes the gradient */
	u32 alpha_milli;	/* EWMA weight of the newest RTT difference */
	u32 beta_milli;
	u32 hai_events;		/* 0: no HAI */
	u32 hai_us;		/* and they must span this time; 0: any */
	u32 hai_mult;
	u32 scale_max;		/* most steps one event stands for */
	u32 seg_bytes;		/* largest burst and completion event */
	u32 burst_us;		/* burst = rate * this; 0: always seg_bytes */
	u32 max_decrease_milli;	/* bound below t_high; 1000: none */
	u32 max_high_milli;	/* bound above t_high; 1000: none */
	u32 beta_high_milli;	/* beta above t_high; 0: beta_milli */
	u32 loss_milli;		/* cut on little loss with a short queue */
	u32 app_limit_milli;	/* no growth below this part of rate; 0: off */
	u32 rtt_floor_us;	/* drop samples below; 0: off */
	u32 base_slack_us;	/* base RTT over min_rtt that is ignored */
	u32 base_max_us;	/* longest base RTT believed; 0: ignore base */
	u32 low_frames;		/* frames that t_low leaves room for; 0: off */
	u32 noise_max_us;	/* most noise to take out of a sample; 0: off */
	u32 noise_slack_us;	/* jitter that is no noise */
	u32 noise_events;	/* samples of half a noise window */
	u32 rare_rtts;		/* events further apart are rare; 0: none is */
	u8 variant;
	u8 elapsed_gradient;	/* gradient over elapsed time, not min_rtt */
	u8 scale_updates;	/* a step per RTT, not per event */
	u8 decrease_once;	/* at most one decrease per RTT */
	u8 hai_low;		/* events below t_low count for HAI too */
	u8 high_drain;		/* above t_high: let a falling queue fall */
};

/*
 * Moments keep their low 40 bits, 18 minutes.
 */
struct timely_state {
	u64 rate_bps;
	s64 rtt_diff_q;		/* EWMA of RTT differences, ns << DIFF_SHIFT */
	u64 high_rate_bps:41,	/* before the decreases of the last round */
	    in_round:1,		/* high_rate and round_start are valid */
	    jitter_q:22;	/* EWMA, ns << JITTER_SHIFT */
	u64 undo_rate_bps:41,	/* before the loss episode; 0: none */
	    step_up:1,		/* sign of last_step */
	    last_step_ns:18,	/* newest RTT difference, no sign */
	    low_events:4;	/* samples in low_new */
	u64 round_start_ns:40,	/* of the first decrease of that round */
	    low_new_ns:24;	/* smallest sample of this half window */
	u64 last_event_ns:40,
	    low_old_ns:24;	/* and of the one before */
	u64 prev_rtt_ns:34,	/* 0: no sample yet */
	    hai_count:8,	/* events in a row that count for HAI */
	    hai_span_us:20,	/* and the time they took */
	    climb:1,		/* after a timeout, up to high_rate */
	    unused:1;
};

struct timely_sample {
	u64 now_ns;
	u64 rtt_ns;		/* burst serialization already removed */
	u32 acked_bytes;	/* since the last event */
	u64 base_rtt_ns;	/* smallest RTT of the flow; 0: unknown */
	u64 cap_bps;		/* line rate or the socket's limit; 0: none */
	bool app_limited;	/* the sender ran out of data since then */
};

enum timely_branch {
	TIMELY_BRANCH_FIRST,	/* first sample: only remembered */
	TIMELY_BRANCH_DROPPED,	/* below the floor: ignored */
	TIMELY_BRANCH_LOW,	/* rtt < t_low: additive step */
	TIMELY_BRANCH_HIGH,	/* rtt > t_high: decrease */
	TIMELY_BRANCH_INC,	/* gradient <= 0: additive step */
	TIMELY_BRANCH_HAI,	/* hyperactive additive step */
	TIMELY_BRANCH_DEC,	/* gradient > 0: decrease */
	TIMELY_BRANCH_BLEND,	/* patched, between the thresholds */
	TIMELY_BRANCH_COUNT,
};

struct timely_outcome {
	enum timely_branch branch;
	s64 gradient_q;		/* gradient, << TIMELY_Q */
	s64 gradient_micro;
	u64 rate_bps;
};

/*
 * Gradients, weights and factors have 28 fractional bits: 10 s over a min_rtt
 * of 1 us (2^24) still fits an s64 with room for a milli multiplier.
 */
#define TIMELY_Q		28
#define TIMELY_ONE		(1ULL << TIMELY_Q)
/*
 * The RTT difference keeps 18 bits below the nanosecond: 10 s << 18 times
 * 1000 fits an s64, and repeated EWMA steps of 1/8 stay exact long enough
 * that the sign of the gradient is the sign real numbers would give.
 */
#define TIMELY_DIFF_SHIFT	18
#define TIMELY_RTT_MAX_NS	10000000000ULL
#define TIMELY_HAI_SPAN_MAX_US	((1ULL << 20) - 1)
#define TIMELY_MOMENT_MASK	((1ULL << 40) - 1)
#define TIMELY_STEP_MAX_NS	((1ULL << 18) - 1)
#define TIMELY_LOW_MAX_NS	((1ULL << 24) - 1)
#define TIMELY_JITTER_SHIFT	4
#define TIMELY_NOISE_WIDTH	8	/* jitters that a sample has at most */
#define TIMELY_NOISE_REST	2	/* jitters that a minimum has left */
#define TIMELY_JITTER_WEIGHT	32	/* events that the average remembers */
#define TIMELY_RARE_SLACK	2	/* times the slack: a 400-flow queue swings by 7 us between samples */

#define TIMELY_FRAME_BITS	(1538 * 8)	/* full Ethernet frame and gap */

static inline u64 timely_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 timely_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* a - b, not below zero. */
static inline u64 timely_less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* Time since a moment that kept its low bits; none if that is in the future. */
static inline u64 timely_since_ns(u64 now_ns, u64 moment_ns)
{
	u64 since_ns = (now_ns - moment_ns) & TIMELY_MOMENT_MASK;

	return since_ns > TIMELY_MOMENT_MASK / 2 ? 0 : since_ns;
}

static inline u64 timely_abs(s64 value)
{
	return value < 0 ? 0 - (u64)value : (u64)value;
}

/* Quotient rounded away from zero: a decaying gradient never loses its sign. */
static inline s64 timely_div_away(s64 dividend, u64 divisor)
{
	u64 magnitude = timely_div(timely_abs(dividend) + divisor - 1, divisor);

	return dividend < 0 ? -(s64)magnitude : (s64)magnitude;
}

static inline u64 timely_us_to_ns(u32 value_us)
{
	return (u64)value_us * 1000;
}

static inline u64 timely_clamp_rate(const struct timely_params *p, u64 cap_bps,
				    u64 rate_bps)
{
	u64 top_bps = p->max_rate_bps;

	if (cap_bps)
		top_bps = timely_min(top_bps, cap_bps);
	return timely_max(timely_min(rate_bps, top_bps), p->min_rate_bps);
}

/* Integer square root, rounded down. */
static inline u32 timely_sqrt(u64 value)
{
	u64 bit = 1ULL << 62;
	u64 root = 0;

	while (bit > value)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (value >= root + bit) {
			value -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (u32)root;
}

/*
 * Events so far apart that the queue of one tells little of the next: with
 * hundreds of flows it comes and goes between two events of one. Then an event
 * is worth one step at most, and never HAI.
 */
static inline bool timely_is_rare(const struct timely_params *p, u64 elapsed_ns,
				  u64 rtt_ns)
{
	return p->rare_rtts && elapsed_ns > rtt_ns * p->rare_rtts;
}

/*
 * Steps that an event is worth, << Q: the RTTs that passed since the last one.
 * With one decrease per RTT the RTT of the moment is the unit, else min_rtt as
 * in the paper's section 5. scale_max bounds what rare events may catch up.
 */
static inline u64 timely_update_weight(const struct timely_params *p,
				       u64 elapsed_ns, u64 rtt_ns)
{
	u64 unit_ns = p->decrease_once ? rtt_ns : timely_us_to_ns(p->min_rtt_us);

	if (!p->scale_updates || timely_is_rare(p, elapsed_ns, rtt_ns))
		return TIMELY_ONE;
	if (elapsed_ns >= unit_ns * p->scale_max)
		return TIMELY_ONE * p->scale_max;
	return timely_div(elapsed_ns << TIMELY_Q, unit_ns);
}

/* The additive step at this rate. */
static inline u64 timely_step_bps(const struct timely_params *p, u64 rate_bps)
{
	u64 ratio_q20;

	if (!p->delta_ref_bps)
		return p->delta_bps;
	ratio_q20 = timely_div(rate_bps << 20, p->delta_ref_bps);
	return timely_mul_shr(p->delta_bps, timely_sqrt(ratio_q20 << 12), 16);
}

/* Enter a new RTT difference into the EWMA. */
static inline void timely_track_gradient(struct timely_state *s,
					 const struct timely_params *p,
					 s64 diff_ns, u64 elapsed_ns)
{
	u64 min_rtt_ns = timely_us_to_ns(p->min_rtt_us);
	s64 diff_q = diff_ns * (1LL << TIMELY_DIFF_SHIFT);

	/*
	 * The slope of a queue is its change over the time in which it
	 * changed. Flows whose events are further apart than min_rtt would
	 * overstate it by that factor.
	 */
	if (p->elapsed_gradient && elapsed_ns > min_rtt_ns) {
		u64 part_q = timely_div(min_rtt_ns << TIMELY_Q, elapsed_ns);
		u64 scaled = timely_mul_shr(timely_abs(diff_q), part_q,
					    TIMELY_Q);

		diff_q = diff_q < 0 ? -(s64)scaled : (s64)scaled;
	}
	s->rtt_diff_q = timely_div_away((1000 - (s64)p->alpha_milli) *
					s->rtt_diff_q +
					(s64)p->alpha_milli * diff_q, 1000);
}

static inline s64 timely_gradient_q(const struct timely_state *s,
				    const struct timely_params *p)
{
	s64 scaled = s->rtt_diff_q * (1LL << (TIMELY_Q - TIMELY_DIFF_SHIFT));

	return timely_div_away(scaled, timely_us_to_ns(p->min_rtt_us));
}

static inline s64 timely_gradient_micro(s64 gradient_q)
{
	u64 micro = timely_mul_shr(timely_abs(gradient_q), 1000000, TIMELY_Q);

	return gradient_q < 0 ? -(s64)micro : (s64)micro;
}

/* A decrease factor within its bound; 1000 is none, a factor may exceed one. */
static inline u64 timely_bounded_q(u64 factor_q, u32 bound_milli)
{
	if (bound_milli >= 1000)
		return factor_q;
	return timely_min(factor_q,
			  timely_div((u64)bound_milli << TIMELY_Q, 1000));
}

/*
 * What all RTT thresholds are moved up by: a path longer than min_rtt by more
 * than the slack would sit above t_low without any queue. The slack is for
 * flows that never saw the path empty, the maximum for those that were born
 * into an overload.
 */
static inline u64 timely_base_shift_ns(const struct timely_params *p,
				       u64 base_rtt_ns)
{
	u64 known_ns = timely_us_to_ns(p->min_rtt_us) +
		       timely_us_to_ns(p->base_slack_us);

	base_rtt_ns = timely_min(base_rtt_ns, timely_us_to_ns(p->base_max_us));
	return base_rtt_ns > known_ns ? base_rtt_ns - known_ns : 0;
}

/*
 * The same for slow links, where a few frames take longer than the queue that
 * t_low allows for: room for low_frames at line rate.
 */
static inline u64 timely_frames_shift_ns(const struct timely_params *p,
					 u64 cap_bps)
{
	u64 room_us = p->t_low_us > p->min_rtt_us ?
		      p->t_low_us - p->min_rtt_us : 0;
	u64 frames_ns;

	if (!p->low_frames || !cap_bps)
		return 0;
	frames_ns = timely_div(p->low_frames * TIMELY_FRAME_BITS * 1000000000ULL,
			       cap_bps);
	return frames_ns > room_us * 1000 ? frames_ns - room_us * 1000 : 0;
}

/* Jitter beyond the ordinary: how far a sample sticks out of its neighbours. */
static inline u64 timely_jitter_ns(const struct timely_state *s,
				   const struct timely_params *p)
{
	return timely_less(s->jitter_q >> TIMELY_JITTER_SHIFT,
			   timely_us_to_ns(p->noise_slack_us) / 2);
}

/*
 * Noise differs from a queue: it only adds, and the next sample knows nothing
 * of it, while a queue stays for round trips. What a sample has over the least
 * of the last ones, as far as the jitter explains it, is noise.
 */
static inline u64 timely_clean_rtt_ns(const struct timely_state *s,
				      const struct timely_params *p, u64 rtt_ns)
{
	u64 low_ns = timely_min(s->low_old_ns, s->low_new_ns);
	u64 noise_ns = timely_min(TIMELY_NOISE_WIDTH * timely_jitter_ns(s, p),
				  timely_us_to_ns(p->noise_max_us));

	return rtt_ns - timely_min(timely_less(rtt_ns, low_ns), noise_ns);
}

/* What the least of a few samples still has of the noise. */
static inline u64 timely_noise_shift_ns(const struct timely_state *s,
					const struct timely_params *p)
{
	return timely_min(TIMELY_NOISE_REST * timely_jitter_ns(s, p),
			  timely_us_to_ns(p->noise_max_us));
}

/*
 * Jitter is measured as the distance of the middle one of three samples from
 * the median of the three: none while the queue rises or falls, a sixth of the
 * width of uniform noise, half the mean of exponential noise. The slack is what
 * bursts of others do to single samples; half of it is left as their average.
 */
static inline void timely_track_noise(struct timely_state *s,
				      const struct timely_params *p,
				      u64 rtt_ns, u64 elapsed_ns)
{
	u64 slack_ns = timely_us_to_ns(p->noise_slack_us);
	bool up = rtt_ns > s->prev_rtt_ns;
	u64 step_ns = up ? rtt_ns - s->prev_rtt_ns : s->prev_rtt_ns - rtt_ns;
	u64 spike_ns = up != s->step_up ? timely_min(step_ns, s->last_step_ns) : 0;
	u64 jitter_q;

	/* Between rare events the queue itself comes and goes. */
	if (timely_is_rare(p, elapsed_ns, rtt_ns))
		slack_ns *= TIMELY_RARE_SLACK;
	spike_ns = timely_less(spike_ns, slack_ns);
	jitter_q = s->jitter_q - s->jitter_q / TIMELY_JITTER_WEIGHT;
	s->jitter_q = jitter_q + (spike_ns << TIMELY_JITTER_SHIFT) /
				 TIMELY_JITTER_WEIGHT;
	s->step_up = up;
	s->last_step_ns = timely_min(step_ns, TIMELY_STEP_MAX_NS);
	if (s->low_events >= p->noise_events) {
		s->low_old_ns = s->low_new_ns;
		s->low_new_ns = TIMELY_LOW_MAX_NS;
		s->low_events = 0;
	}
	s->low_new_ns = timely_min(s->low_new_ns, rtt_ns);
	s->low_events++;
}

/* Forget the samples, not the jitter. */
static inline void timely_forget_samples(struct timely_state *s)
{
	s->prev_rtt_ns = 0;
	s->rtt_diff_q = 0;
	s->hai_count = 0;
	s->last_step_ns = 0;
	s->low_new_ns = TIMELY_LOW_MAX_NS;
	s->low_old_ns = TIMELY_LOW_MAX_NS;
	s->low_events = 0;
}

/* Decrease factor above t_high: beta * (1 - t_high / rtt). */
static inline u64 timely_high_factor_q(const struct timely_params *p,
				       u64 rtt_ns)
{
	u64 ratio_q = timely_div(timely_us_to_ns(p->t_high_us) << TIMELY_Q,
				 rtt_ns);
	u32 beta_milli = p->beta_high_milli ? p->beta_high_milli : p->beta_milli;

	return timely_div((TIMELY_ONE - ratio_q) * beta_milli, 1000);
}

/* Weight of the decrease in Patched TIMELY (its eq. 30): 2g + 1/2 in 0..1. */
static inline u64 timely_blend_weight_q(s64 gradient_q)
{
	s64 quarter = (s64)TIMELY_ONE / 4;

	if (gradient_q <= -quarter)
		return 0;
	if (gradient_q >= quarter)
		return TIMELY_ONE;
	return (u64)(2 * gradient_q + (s64)TIMELY_ONE / 2);
}

/* Decrease factor of Patched TIMELY: beta * w * (rtt - t_low) / t_low. */
static inline u64 timely_blend_factor_q(const struct timely_params *p,
					u64 rtt_ns, u64 weight_q)
{
	u64 ref_ns = timely_us_to_ns(p->t_low_us);
	u64 error_q;

	if (!ref_ns)
		return 0;
	error_q = timely_div((rtt_ns - ref_ns) << TIMELY_Q, ref_ns);
	return timely_div(timely_mul_shr(error_q, weight_q, TIMELY_Q) *
			  p->beta_milli, 1000);
}

/*
 * Count an event that speaks for HAI; says whether HAI is on. A count of
 * events alone favours fast flows: they have five events in every trough of
 * the queue's oscillation and slow flows never do, so the fast ones would keep
 * what they have. The time makes HAI equal for all.
 */
static inline bool timely_count_hai(struct timely_state *s,
				    const struct timely_params *p,
				    u64 elapsed_ns)
{
	u64 span_us = s->hai_count ? s->hai_span_us : 0;

	span_us = timely_min(span_us + timely_div(elapsed_ns, 1000),
			     TIMELY_HAI_SPAN_MAX_US);
	s->hai_span_us = span_us;
	if (s->hai_count < 255)
		s->hai_count++;
	return p->hai_events && s->hai_count >= p->hai_events &&
	       span_us >= p->hai_us &&
	       !timely_is_rare(p, elapsed_ns, s->prev_rtt_ns);
}

/* What one event asks for, before bounds on growth. */
struct timely_verdict {
	enum timely_branch branch;
	u64 up_bps;
	u64 down_q;		/* part of the rate to take, << TIMELY_Q */
	u32 bound_milli;	/* and never takes more than this */
};

static inline void timely_judge_gradient(struct timely_state *s,
					 const struct timely_params *p,
					 u64 elapsed_ns, s64 gradient_q,
					 struct timely_verdict *v)
{
	u64 step_bps = timely_step_bps(p, s->rate_bps);

	if (gradient_q > 0) {
		s->hai_count = 0;
		v->branch = TIMELY_BRANCH_DEC;
		v->down_q = timely_div((u64)gradient_q * p->beta_milli, 1000);
		return;
	}
	v->branch = TIMELY_BRANCH_INC;
	v->up_bps = step_bps;
	if (timely_count_hai(s, p, elapsed_ns)) {
		v->branch = TIMELY_BRANCH_HAI;
		v->up_bps = step_bps * p->hai_mult;
	}
}

static inline void timely_judge_blend(struct timely_state *s,
				      const struct timely_params *p, u64 rtt_ns,
				      s64 gradient_q, struct timely_verdict *v)
{
	u64 weight_q = timely_blend_weight_q(gradient_q);

	s->hai_count = 0;
	v->branch = TIMELY_BRANCH_BLEND;
	v->up_bps = timely_mul_shr(timely_step_bps(p, s->rate_bps),
				   TIMELY_ONE - weight_q, TIMELY_Q);
	v->down_q = timely_blend_factor_q(p, rtt_ns, weight_q);
}

static inline void timely_judge_low(struct timely_state *s,
				    const struct timely_params *p,
				    u64 elapsed_ns, struct timely_verdict *v)
{
	v->branch = TIMELY_BRANCH_LOW;
	v->up_bps = timely_step_bps(p, s->rate_bps);
	if (!p->hai_low) {
		s->hai_count = 0;
	} else if (timely_count_hai(s, p, elapsed_ns)) {
		v->branch = TIMELY_BRANCH_HAI;
		v->up_bps *= p->hai_mult;
	}
}

/*
 * A queue above t_high that already falls by a quarter of its drain rate needs
 * no further decrease: RTTs tell of a decrease one long queue later, and flows
 * that brake until then brake to a standstill.
 */
static inline u64 timely_drain_weight_q(s64 gradient_q)
{
	if (gradient_q >= 0)
		return TIMELY_ONE;
	return TIMELY_ONE - timely_min(4 * timely_abs(gradient_q), TIMELY_ONE);
}

static inline void timely_judge_high(struct timely_state *s,
				     const struct timely_params *p,
				     u64 rtt_ns, s64 gradient_q,
				     struct timely_verdict *v)
{
	s->hai_count = 0;
	v->branch = TIMELY_BRANCH_HIGH;
	v->bound_milli = p->max_high_milli;
	v->down_q = timely_high_factor_q(p, rtt_ns);
	if (p->high_drain)
		v->down_q = timely_mul_shr(v->down_q,
					   timely_drain_weight_q(gradient_q),
					   TIMELY_Q);
}

static inline void timely_judge(struct timely_state *s,
				const struct timely_params *p, u64 rtt_ns,
				u64 elapsed_ns, s64 gradient_q,
				struct timely_verdict *v)
{
	v->up_bps = 0;
	v->down_q = 0;
	v->bound_milli = p->max_decrease_milli;
	if (rtt_ns < timely_us_to_ns(p->t_low_us))
		timely_judge_low(s, p, elapsed_ns, v);
	else if (rtt_ns > timely_us_to_ns(p->t_high_us))
		timely_judge_high(s, p, rtt_ns, gradient_q, v);
	else if (p->variant == TIMELY_VARIANT_PATCHED)
		timely_judge_blend(s, p, rtt_ns, gradient_q, v);
	else
		timely_judge_gradient(s, p, elapsed_ns, gradient_q, v);
}

/* Did the application use enough of the rate to deserve more? */
static inline bool timely_may_grow(const struct timely_state *s,
				   const struct timely_params *p,
				   const struct timely_sample *sample,
				   u64 elapsed_ns)
{
	u64 acked_bytes = timely_min(sample->acked_bytes, 1U << 30);
	u64 sent_bps;

	if (!sample->app_limited || !p->app_limit_milli || !elapsed_ns)
		return true;
	sent_bps = timely_div(acked_bytes * 8000000000ULL, elapsed_ns);
	return sent_bps >= timely_div(s->rate_bps * p->app_limit_milli, 1000);
}

/*
 * What one decrease per round trip takes: as much as the worst sample of that
 * round trip asks. Samples of bursts sent before the decrease tell of the same
 * overload, so they count from the rate before it, not from what is left.
 */
static inline u64 timely_round_cut_bps(struct timely_state *s, u64 now_ns,
				       u64 rtt_ns,
				       const struct timely_verdict *v)
{
	u64 most_bps = timely_mul_shr(s->rate_bps,
				      timely_bounded_q(TIMELY_ONE,
						       v->bound_milli),
				      TIMELY_Q);
	u64 goal_bps;

	if (!s->in_round || timely_since_ns(now_ns, s->round_start_ns) > rtt_ns) {
		s->high_rate_bps = s->rate_bps;
		s->round_start_ns = now_ns & TIMELY_MOMENT_MASK;
		s->in_round = 1;
	}
	goal_bps = timely_less(s->high_rate_bps,
			       timely_mul_shr(s->high_rate_bps, v->down_q,
					      TIMELY_Q));
	return timely_min(timely_less(s->rate_bps, goal_bps), most_bps);
}

/* What one event takes, scaled by its weight. */
static inline u64 timely_event_cut_bps(const struct timely_state *s,
				       const struct timely_verdict *v,
				       u64 weight_q)
{
	u64 down_q = timely_mul_shr(v->down_q, timely_min(weight_q, TIMELY_ONE),
				    TIMELY_Q);

	return timely_mul_shr(s->rate_bps,
			      timely_bounded_q(down_q, v->bound_milli),
			      TIMELY_Q);
}

static inline void timely_apply(struct timely_state *s,
				const struct timely_params *p,
				const struct timely_sample *sample,
				u64 elapsed_ns, u64 rtt_ns,
				const struct timely_verdict *v)
{
	u64 weight_q = timely_update_weight(p, elapsed_ns, rtt_ns);
	u64 up_bps = timely_mul_shr(v->up_bps, weight_q, TIMELY_Q);
	u64 cut_bps = 0;

	if (v->down_q && p->decrease_once)
		cut_bps = timely_round_cut_bps(s, sample->now_ns, rtt_ns, v);
	else if (v->down_q)
		cut_bps = timely_event_cut_bps(s, v, weight_q);
	if (!timely_may_grow(s, p, sample, elapsed_ns))
		up_bps = 0;
	s->rate_bps = timely_clamp_rate(p, sample->cap_bps,
					timely_less(s->rate_bps + up_bps,
						    cut_bps));
}

static inline void timely_report(const struct timely_state *s,
				 const struct timely_params *p,
				 enum timely_branch branch,
				 struct timely_outcome *out)
{
	out->branch = branch;
	out->gradient_q = timely_gradient_q(s, p);
	out->gradient_micro = timely_gradient_micro(out->gradient_q);
	out->rate_bps = s->rate_bps;
}

/* Begin at rate_bps; the first sample will only be remembered. */
static inline void timely_rate_start(struct timely_state *s,
				     const struct timely_params *p, u64 rate_bps)
{
	s->rate_bps = timely_clamp_rate(p, 0, rate_bps);
	s->high_rate_bps = 0;
	s->round_start_ns = 0;
	s->undo_rate_bps = 0;
	s->last_event_ns = 0;
	s->hai_span_us = 0;
	s->in_round = 0;
	s->jitter_q = 0;
	s->step_up = 0;
	s->climb = 0;
	s->unused = 0;
	timely_forget_samples(s);
}

/*
 * From the floor up after a timeout: double once a round trip, up to half the
 * former rate, as slow start does up to its threshold. At the floor a step an
 * event would take seconds.
 */
static inline void timely_climb(struct timely_state *s,
				const struct timely_params *p, u64 cap_bps,
				u64 rtt_ns, u64 elapsed_ns)
{
	u64 up_bps = s->rate_bps;

	if (elapsed_ns < rtt_ns)
		up_bps = timely_div(up_bps * (elapsed_ns >> 4), (rtt_ns >> 4) + 1);
	s->rate_bps = timely_clamp_rate(p, cap_bps,
					timely_min(s->rate_bps + up_bps,
						   s->high_rate_bps));
}

/* Still on the way up at this sample? A queue ends it, as does the top. */
static inline bool timely_climbing(struct timely_state *s,
				   const struct timely_params *p, u64 rtt_ns)
{
	if (rtt_ns >= timely_us_to_ns(p->t_low_us) ||
	    s->rate_bps >= s->high_rate_bps)
		s->climb = 0;
	return s->climb;
}

/* One completion event. */
static inline void timely_rate_sample(struct timely_state *s,
				      const struct timely_params *p,
				      const struct timely_sample *sample,
				      struct timely_outcome *out)
{
	u64 rtt_ns = timely_max(timely_min(sample->rtt_ns, TIMELY_RTT_MAX_NS), 1);
	u64 elapsed_ns = timely_since_ns(sample->now_ns, s->last_event_ns);
	struct timely_verdict verdict;
	u64 shift_ns, clean_ns, judged_ns;
	s64 diff_ns;

	if (rtt_ns < timely_us_to_ns(p->rtt_floor_us)) {
		timely_report(s, p, TIMELY_BRANCH_DROPPED, out);
		return;
	}
	s->last_event_ns = sample->now_ns & TIMELY_MOMENT_MASK;
	if (!s->prev_rtt_ns) {
		s->prev_rtt_ns = rtt_ns;
		s->rate_bps = timely_clamp_rate(p, sample->cap_bps, s->rate_bps);
		timely_report(s, p, TIMELY_BRANCH_FIRST, out);
		return;
	}
	elapsed_ns = timely_min(elapsed_ns, TIMELY_RTT_MAX_NS);
	diff_ns = -(s64)timely_clean_rtt_ns(s, p, s->prev_rtt_ns);
	timely_track_noise(s, p, rtt_ns, elapsed_ns);
	clean_ns = timely_clean_rtt_ns(s, p, rtt_ns);
	timely_track_gradient(s, p, diff_ns + (s64)clean_ns, elapsed_ns);
	s->prev_rtt_ns = rtt_ns;
	/* Longer paths move the thresholds up; here the RTT moves down. */
	shift_ns = timely_base_shift_ns(p, sample->base_rtt_ns) +
		   timely_frames_shift_ns(p, sample->cap_bps) +
		   timely_noise_shift_ns(s, p);
	judged_ns = timely_max(timely_less(clean_ns, shift_ns), 1);
	if (timely_climbing(s, p, judged_ns) &&
	    timely_may_grow(s, p, sample, elapsed_ns)) {
		timely_climb(s, p, sample->cap_bps, clean_ns, elapsed_ns);
		timely_report(s, p, TIMELY_BRANCH_LOW, out);
		return;
	}
	timely_judge(s, p, judged_ns, elapsed_ns, timely_gradient_q(s, p),
		     &verdict);
	timely_apply(s, p, sample, elapsed_ns, clean_ns, &verdict);
	timely_report(s, p, verdict.branch, out);
}

/*
 * Loss, once per recovery episode; the rate before it is remembered. Where
 * the queue is short and little was lost, the loss tells of a bad cable and
 * not of congestion: then the cut is loss_milli. Otherwise half, as Reno.
 */
static inline void timely_rate_loss(struct timely_state *s,
				    const struct timely_params *p, u64 now_ns,
				    bool heavy)
{
	u64 cut_milli = p->loss_milli;

	if (heavy || s->prev_rtt_ns >= timely_us_to_ns(p->t_low_us))
		cut_milli = 500;
	s->undo_rate_bps = s->rate_bps;
	s->rate_bps = timely_clamp_rate(p, 0, s->rate_bps -
					timely_div(s->rate_bps * cut_milli, 1000));
	s->high_rate_bps = s->rate_bps;
	s->round_start_ns = now_ns & TIMELY_MOMENT_MASK;
	s->in_round = 1;
	s->climb = 0;
	s->hai_count = 0;
}

/* Retransmission timeout: begin again from the floor. */
static inline void timely_rate_rto(struct timely_state *s,
				   const struct timely_params *p)
{
	if (!s->undo_rate_bps)
		s->undo_rate_bps = s->rate_bps;
	s->high_rate_bps = s->undo_rate_bps / 2;
	s->in_round = 0;
	s->climb = 1;
	s->rate_bps = p->min_rate_bps;
	timely_forget_samples(s);
}

/*
 * An ACK during recovery from a timeout. What was sent twice tells no RTT, but
 * it got through, and at the floor the rest of the window would take seconds.
 */
static inline void timely_rate_got_through(struct timely_state *s,
					   const struct timely_params *p,
					   u64 now_ns, u64 rtt_ns, u64 cap_bps)
{
	u64 elapsed_ns = timely_since_ns(now_ns, s->last_event_ns);

	if (!s->climb || s->rate_bps >= s->high_rate_bps)
		return;
	timely_climb(s, p, cap_bps, timely_max(rtt_ns, 1),
		     timely_min(elapsed_ns, TIMELY_RTT_MAX_NS));
	s->last_event_ns = now_ns & TIMELY_MOMENT_MASK;
}

/* The recovery was spurious: give back what it took. */
static inline void timely_rate_undo(struct timely_state *s)
{
	s->rate_bps = timely_max(s->rate_bps, s->undo_rate_bps);
	s->undo_rate_bps = 0;
}

/* Recovery ended for good: there is nothing left to undo. */
static inline void timely_rate_recovered(struct timely_state *s)
{
	s->undo_rate_bps = 0;
}

/* After an idle period: not faster than restart_bps, old gradient forgotten. */
static inline void timely_rate_idle(struct timely_state *s,
				    const struct timely_params *p,
				    u64 restart_bps)
{
	s->rate_bps = timely_clamp_rate(p, 0,
					timely_min(s->rate_bps, restart_bps));
	timely_forget_samples(s);
}

/* Bytes to send back to back, and to a completion event, at this rate. */
static inline u32 timely_burst_bytes(const struct timely_params *p,
				     u64 rate_bps, u32 mss)
{
	u32 pair = 2 * mss;
	u64 bytes = p->seg_bytes;

	if (p->burst_us)
		bytes = timely_min(bytes, timely_div(rate_bps * p->burst_us,
						     8000000));
	/*
	 * Even numbers of segments: a receiver acknowledges every second one
	 * at once, the odd last one only when its delayed-ACK timer says so.
	 */
	if (bytes <= pair || !mss)
		return pair;
	return (u32)timely_div(bytes, pair) * pair;
}

#endif /* TIMELY_RATE_H */
