/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much one event is worth: the additive step, its weight, HAI (TIMELY15, section 4).
 */
#ifndef TIMELY_STEP_H
#define TIMELY_STEP_H

#include "timely_gradient.h"

/* The rate at which the step is delta_bps: a fair share in Table 1 of TIMELY15. */
#define TIMELY_STEP_REF_BPS	500000000ULL

/*
 * HAI waits for so many round trips without a queue: on paths longer than 300 us
 * 10 ms would be fewer than the oscillation of the queue takes.
 */
#define TIMELY_HAI_RTTS		32

/* HAI adds this part of the rate: a path's free half is taken in 64 round trips. */
#define TIMELY_HAI_PART		64

/*
 * In rare_rtts: of events further apart than that HAI cannot be sure that the queue was
 * empty all the time between.
 */
#define TIMELY_RARE_HAI		3

/*
 * Weight of a rare event, << Q: the fourth root of how much too far apart they are.
 * Growth that no sample can stop in time must be small. But flows with rarer events
 * must not grow too much slower than their neighbours, or the shares stay as they are.
 */
static inline u64 timely_rare_part_q(const struct timely_params *p,
				     u64 elapsed_ns, u64 rtt_ns)
{
	u64 part_q = timely_div((rtt_ns * p->rare_rtts) << TIMELY_Q, elapsed_ns);

	part_q = timely_sqrt(part_q << TIMELY_Q);
	return timely_sqrt(part_q << TIMELY_Q);
}

/*
 * Steps that an event is worth, << Q: the RTTs that passed since the last one. The unit
 * is the current RTT with decrease_once, otherwise min_rtt as in TIMELY15, section 5.
 * scale_max bounds how much a few events may catch up.
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

/* The rate over that of the step's reference, as timely_sqrt() wants it for 16 bits of fraction. */
static inline u64 timely_step_ratio(u64 rate_bps)
{
	return timely_div(rate_bps << 20, TIMELY_STEP_REF_BPS) << 12;
}

/* The additive step at this rate. */
static inline u64 timely_step_bps(const struct timely_params *p, u64 rate_bps)
{
	if (!p->root_step)
		return p->delta_bps;
	return timely_mul_shr(p->delta_bps, timely_sqrt(timely_step_ratio(rate_bps)), 16);
}

/*
 * Count an event that speaks for HAI; returns whether HAI is on. A count of events alone
 * favours fast flows: they have five events in every trough of the queue's oscillation,
 * and slow flows never do, so the fast ones would keep their share. The time makes HAI
 * equal for all.
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
	       (!p->path_law || span_us * 1000 >= (u64)s->prev_rtt_ns * TIMELY_HAI_RTTS) &&
	       !timely_is_rare(p, elapsed_ns, s->prev_rtt_ns, TIMELY_RARE_HAI);
}

/*
 * The step of HAI. With path_law it is at least a part of the rate, which takes a long
 * path's free capacity in tens of round trips and not in hundreds.
 */
static inline u64 timely_hai_bps(const struct timely_params *p, u64 step_bps,
				 u64 rate_bps)
{
	step_bps *= p->hai_mult;
	return p->path_law ? timely_max(step_bps, rate_bps / TIMELY_HAI_PART) : step_bps;
}

#endif /* TIMELY_STEP_H */
