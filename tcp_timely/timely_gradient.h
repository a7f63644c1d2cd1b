/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The gradient (TIMELY15): how fast the queue grows or shrinks.
 */
#ifndef TIMELY_GRADIENT_H
#define TIMELY_GRADIENT_H

#include "timely_path.h"

/*
 * Enter a new RTT difference into the EWMA.
 *
 * With elapsed_gradient it tracks the change of the queue in one min_rtt, however
 * far apart events are. Events further apart than min_rtt count by their part of
 * that time. Events closer together add up, as the average forgets by the time that
 * passed. By the event, flows with rare events overstate the slope, and flows with
 * many understate it and take the larger share (figure 9 of ECNDELAY16 with the
 * smallest bursts: 1.12 : 1).
 */
static inline void timely_track_gradient(struct timely_state *s,
					 const struct timely_params *p,
					 const struct timely_path *path,
					 s64 diff_ns, u64 elapsed_ns)
{
	s64 diff_q = timely_within(diff_ns, TIMELY_DIFF_MAX_NS) * (1LL << TIMELY_DIFF_SHIFT);
	s64 forget_q = s->rtt_diff_q;
	s64 new_q;

	if (p->elapsed_gradient && elapsed_ns > path->unit_ns)
		diff_q = timely_part_of(diff_q, path->unit_ns, elapsed_ns);
	else if (p->elapsed_gradient)
		forget_q = timely_part_of(forget_q, elapsed_ns, path->unit_ns);
	new_q = timely_div_away(1000 * (s64)s->rtt_diff_q +
				(s64)p->alpha_milli * (diff_q - forget_q), 1000);
	s->rtt_diff_q = timely_within(new_q, (s64)TIMELY_DIFF_MAX_NS << TIMELY_DIFF_SHIFT);
}

static inline s64 timely_slope_q(s64 rtt_diff_q, u64 unit_ns)
{
	return timely_div_away(rtt_diff_q * (1LL << (TIMELY_Q - TIMELY_DIFF_SHIFT)), unit_ns);
}

static inline s64 timely_gradient_q(const struct timely_state *s,
				    const struct timely_path *path)
{
	return timely_slope_q(s->rtt_diff_q, path->unit_ns);
}

/* The gradient in millionths, for ss and trace events. */
static inline s64 timely_gradient_micro(s64 rtt_diff_q, u64 unit_ns)
{
	s64 gradient_q = timely_slope_q(rtt_diff_q, unit_ns);
	u64 micro = timely_mul_shr(timely_abs(gradient_q), 1000000, TIMELY_Q);

	return gradient_q < 0 ? -(s64)micro : (s64)micro;
}

#endif /* TIMELY_GRADIENT_H */
