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
 *    which it changed. By the event, flows with rare events overstate it, and
 *    flows with many understate it.
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
 *  - rare_rtts: growth that no sample can stop in time is kept small, without
 *    a step in the weight, which would split equal flows into fast and slow.
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

#include "timely_noise.h"

/*
 * Times rare_rtts: events further apart than that span no part of a round trip
 * sequence that HAI could be sure of.
 */
#define TIMELY_RARE_HAI		3

static inline u64 timely_clamp_rate(const struct timely_params *p, u64 cap_bps,
				    u64 rate_bps)
{
	u64 top_bps = p->max_rate_bps;

	if (cap_bps)
		top_bps = timely_min(top_bps, cap_bps);
	return timely_max(timely_min(rate_bps, top_bps), p->min_rate_bps);
}

/*
 * What rare events count for, << Q: the fourth root of how much too far apart
 * they are. Growth that no sample can stop in time must be small, but flows
 * with rarer events must not grow too much slower than their neighbours, or
 * the shares stay as they are.
 */
static inline u64 timely_rare_part_q(const struct timely_params *p,
				     u64 elapsed_ns, u64 rtt_ns)
{
	u64 part_q = timely_div((rtt_ns * p->rare_rtts) << TIMELY_Q, elapsed_ns);

	part_q = timely_sqrt(part_q << TIMELY_Q);
	return timely_sqrt(part_q << TIMELY_Q);
}

/*
 * Steps that an event is worth, << Q: the RTTs that passed since the last one.
 * With one decrease per RTT the RTT of the moment is the unit, else min_rtt as
 * in the paper's section 5. scale_max bounds what few events may catch up.
 */
static inline u64 timely_update_weight(const struct timely_params *p,
				       u64 elapsed_ns, u64 rtt_ns)
{
	u64 unit_ns = p->decrease_once ? rtt_ns : timely_us_to_ns(p->min_rtt_us);
	u64 weight_q = TIMELY_ONE * p->scale_max;

	if (!p->scale_updates)
		return TIMELY_ONE;
	if (elapsed_ns < unit_ns * p->scale_max)
		weight_q = timely_div(elapsed_ns << TIMELY_Q, unit_ns);
	if (timely_is_rare(p, elapsed_ns, rtt_ns, 1))
		weight_q = timely_mul_shr(weight_q,
					  timely_rare_part_q(p, elapsed_ns, rtt_ns),
					  TIMELY_Q);
	return weight_q;
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

/* value * part / whole, part <= whole <= 10 s; the sign is kept. */
static inline s64 timely_part_of(s64 value, u64 part_ns, u64 whole_ns)
{
	u64 part_q = timely_div(part_ns << TIMELY_Q, whole_ns);
	u64 scaled = timely_mul_shr(timely_abs(value), part_q, TIMELY_Q);

	return value < 0 ? -(s64)scaled : (s64)scaled;
}

/*
 * Enter a new RTT difference into the EWMA.
 *
 * With elapsed_gradient it tracks the change of the queue in one min_rtt,
 * however far apart events are: of events further apart than min_rtt their
 * part of that time, and events closer together add up, as the average forgets
 * by the time that passed. Taken event by event, flows with rare events would
 * overstate the slope, and flows with many would understate it and take the
 * larger share (ECN or Delay's figure 9 with the smallest bursts: 1.12 : 1).
 */
static inline void timely_track_gradient(struct timely_state *s,
					 const struct timely_params *p,
					 s64 diff_ns, u64 elapsed_ns)
{
	u64 min_rtt_ns = timely_us_to_ns(p->min_rtt_us);
	s64 diff_q = diff_ns * (1LL << TIMELY_DIFF_SHIFT);
	s64 forget_q = s->rtt_diff_q;

	if (p->elapsed_gradient && elapsed_ns > min_rtt_ns)
		diff_q = timely_part_of(diff_q, min_rtt_ns, elapsed_ns);
	else if (p->elapsed_gradient)
		forget_q = timely_part_of(forget_q, elapsed_ns, min_rtt_ns);
	s->rtt_diff_q = timely_div_away(1000 * s->rtt_diff_q +
					(s64)p->alpha_milli * (diff_q - forget_q),
					1000);
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
	       !timely_is_rare(p, elapsed_ns, s->prev_rtt_ns, TIMELY_RARE_HAI);
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
	shift_ns = timely_base_shift_ns(p, sample->base_rtt_ns) +
		   timely_frames_shift_ns(p, sample->cap_bps);
	timely_track_noise(s, p, rtt_ns,
			   timely_noise_floor_ns(s, p, rtt_ns, elapsed_ns,
						 shift_ns));
	clean_ns = timely_clean_rtt_ns(s, p, rtt_ns);
	timely_track_gradient(s, p, diff_ns + (s64)clean_ns, elapsed_ns);
	s->prev_rtt_ns = rtt_ns;
	/* Longer paths move the thresholds up; here the RTT moves down. */
	shift_ns += timely_noise_shift_ns(s, p);
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
