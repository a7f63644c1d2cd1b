/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one event asks for: Algorithm 1 (TIMELY15), Algorithm 2 and the PI controller's p
 * (ECNDELAY16).
 */
#ifndef TIMELY_DECIDE_H
#define TIMELY_DECIDE_H

#include "timely_empty.h"
#include "timely_pi.h"

/* What one event asks for, before bounds on growth. */
struct timely_verdict {
	enum timely_branch branch;
	u64 up_bps;
	u64 down_q;		/* part of the rate to take, << TIMELY_Q */
	u32 bound_milli;	/* most that the decrease may take */
};

/* A decrease factor within its bound; 1000 is none, a factor may exceed one. */
static inline u64 timely_bounded_q(u64 factor_q, u32 bound_milli)
{
	if (bound_milli >= 1000)
		return factor_q;
	return timely_min(factor_q,
			  timely_div((u64)bound_milli << TIMELY_Q, 1000));
}

/* Decrease factor above t_high: beta * (1 - t_high / rtt). */
static inline u64 timely_high_factor_q(const struct timely_params *p,
				       const struct timely_path *path,
				       u64 rtt_ns)
{
	u64 ratio_q = timely_div(path->high_ns << TIMELY_Q,
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
					u64 ref_ns, u64 rtt_ns,
					u64 weight_q)
{
	u64 error_q;

	if (!ref_ns)
		return 0;
	error_q = timely_div((rtt_ns - ref_ns) << TIMELY_Q, ref_ns);
	return timely_div(timely_mul_shr(error_q, weight_q, TIMELY_Q) *
			  p->beta_milli, 1000);
}

static inline void timely_judge_gradient(struct timely_state *s,
					 const struct timely_params *p,
					 const struct timely_path *path,
					 u64 elapsed_ns,
					 struct timely_verdict *v)
{
	if (s->rtt_diff_q > 0) {
		s->hai_count = 0;
		v->branch = TIMELY_BRANCH_DEC;
		v->down_q = timely_div((u64)timely_gradient_q(s, path) * p->beta_milli,
				       1000);
		return;
	}
	v->branch = TIMELY_BRANCH_INC;
	v->up_bps = timely_step_bps(p, s->rate_bps);
	if (timely_count_hai(s, p, elapsed_ns)) {
		v->branch = TIMELY_BRANCH_HAI;
		v->up_bps *= p->hai_mult;
	}
}

static inline void timely_judge_blend(struct timely_state *s,
				      const struct timely_params *p,
				      const struct timely_path *path, u64 rtt_ns,
				      struct timely_verdict *v)
{
	u64 weight_q = timely_blend_weight_q(timely_gradient_q(s, path));

	s->hai_count = 0;
	v->branch = TIMELY_BRANCH_BLEND;
	v->up_bps = timely_mul_shr(timely_step_bps(p, s->rate_bps),
				   TIMELY_ONE - weight_q, TIMELY_Q);
	v->down_q = timely_blend_factor_q(p, path->low_ns, rtt_ns, weight_q);
}

/*
 * A slow flow has one sample in tens of round trips, and with a step for each needs seconds to its
 * share. If one sample after the other finds the path empty, no other flow takes the free capacity:
 * a queue of many flows comes and goes between two samples of one flow.
 */
static inline void timely_judge_slow(struct timely_state *s,
				     const struct timely_params *p,
				     const struct timely_path *path, u64 rtt_ns,
				     u64 elapsed_ns, struct timely_verdict *v)
{
	if (!timely_is_empty(path, rtt_ns)) {
		s->hai_count = 0;
		return;
	}
	timely_count_hai(s, p, elapsed_ns);
	if (s->hai_count >= TIMELY_SLOW_EVENTS)
		v->up_bps = timely_max(v->up_bps, s->rate_bps >> TIMELY_SLOW_SHIFT);
}

static inline void timely_judge_low(struct timely_state *s,
				    const struct timely_params *p,
				    const struct timely_path *path, u64 rtt_ns,
				    u64 elapsed_ns, struct timely_verdict *v)
{
	v->branch = TIMELY_BRANCH_LOW;
	v->up_bps = timely_step_bps(p, s->rate_bps);
	if (p->path_law && timely_is_rare(p, elapsed_ns, rtt_ns, TIMELY_RARE_HAI)) {
		timely_judge_slow(s, p, path, rtt_ns, elapsed_ns, v);
		return;
	}
	/* Additive, so that shares still converge. */
	if (p->fill_empty && p->hai_events && timely_stays_empty(s, path, rtt_ns))
		v->up_bps = timely_empty_bps(path, v->up_bps, s->rate_bps);
	if (!p->hai_low) {
		s->hai_count = 0;
	} else if (timely_count_hai(s, p, elapsed_ns)) {
		v->branch = TIMELY_BRANCH_HAI;
		v->up_bps = timely_hai_bps(p, v->up_bps, s->rate_bps);
	}
}

/*
 * A queue above t_high that already falls by a quarter of its drain rate needs no
 * further decrease. RTTs show a decrease one long queue later, and flows that
 * decrease until then come to a standstill.
 */
static inline u64 timely_drain_weight_q(s64 gradient_q)
{
	if (gradient_q >= 0)
		return TIMELY_ONE;
	return TIMELY_ONE - timely_min(4 * timely_abs(gradient_q), TIMELY_ONE);
}

static inline void timely_judge_high(struct timely_state *s,
				     const struct timely_params *p,
				     const struct timely_path *path,
				     u64 rtt_ns, struct timely_verdict *v)
{
	timely_forget_hai(s, p);
	v->branch = TIMELY_BRANCH_HIGH;
	v->bound_milli = p->max_high_milli;
	v->down_q = timely_high_factor_q(p, path, rtt_ns);
	if (p->high_drain && s->rtt_diff_q < 0)
		v->down_q = timely_mul_shr(v->down_q,
					   timely_drain_weight_q(timely_gradient_q(s, path)),
					   TIMELY_Q);
}

/*
 * No decrease takes more of the rate than drains the queue in one round trip. On a
 * short path the bounds above are stricter; on a long one this keeps the link full.
 */
static inline void timely_bound_by_queue(const struct timely_params *p,
					 const struct timely_path *path,
					 u64 rtt_ns, struct timely_verdict *v)
{
	u64 queue_ns = timely_less(rtt_ns, path->base_ns);

	if (!p->path_law || !v->down_q)
		return;
	v->down_q = timely_min(v->down_q, timely_bounded_q(TIMELY_ONE, v->bound_milli));
	/* Only a cut that is too large costs a division. */
	if (v->down_q * (rtt_ns >> 4) > (queue_ns >> 4) << TIMELY_Q)
		v->down_q = timely_div(queue_ns << TIMELY_Q, rtt_ns);
}

/*
 * timely_pi: as the blend, with the controller's p in place of the error, and below the
 * reference as above it. The cut above t_high is the others', if it is more.
 */
static inline void timely_judge_pi(struct timely_state *s,
				   const struct timely_params *p,
				   const struct timely_path *path, u64 rtt_ns,
				   struct timely_verdict *v)
{
	u64 weight_q = timely_blend_weight_q(timely_gradient_q(s, path));
	u64 down_q = timely_pi_factor_q(s, p, weight_q);

	if (rtt_ns > path->high_ns) {
		timely_judge_high(s, p, path, rtt_ns, v);
		if (v->down_q >= down_q)
			return;
	}
	v->branch = TIMELY_BRANCH_BLEND;
	v->bound_milli = p->max_decrease_milli;
	v->up_bps = timely_mul_shr(timely_pi_step_bps(p, s->rate_bps),
				   TIMELY_ONE - weight_q, TIMELY_Q);
	v->down_q = down_q;
}

static inline void timely_judge(struct timely_state *s,
				const struct timely_params *p,
				const struct timely_path *path, u64 rtt_ns,
				u64 elapsed_ns, struct timely_verdict *v)
{
	v->up_bps = 0;
	v->down_q = 0;
	v->bound_milli = p->max_decrease_milli;
	if (p->variant == TIMELY_VARIANT_PI)
		timely_judge_pi(s, p, path, rtt_ns, v);
	else if (rtt_ns < path->low_ns)
		timely_judge_low(s, p, path, rtt_ns, elapsed_ns, v);
	else if (rtt_ns > path->high_ns)
		timely_judge_high(s, p, path, rtt_ns, v);
	else if (p->variant == TIMELY_VARIANT_PATCHED)
		timely_judge_blend(s, p, path, rtt_ns, v);
	else
		timely_judge_gradient(s, p, path, elapsed_ns, v);
	timely_bound_by_queue(p, path, rtt_ns, v);
}

#endif /* TIMELY_DECIDE_H */
