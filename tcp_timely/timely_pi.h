/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The controller of timely_pi (ECNDELAY16, section 5.2, equation 32): p follows the queue's error.
 *
 *   e = (queue - reference) / reference
 *   dp/dt = K1 de/dt + K2 (e - droop * (p - 1)),  p >= 0
 *
 * p takes the place of e in Patched TIMELY's decrease beta * w * e * rate (its eq. 29), and
 * rests where that decrease equals the step: at 2 for a flow of half the rate at which it is 1.
 *
 * The paper's law is that of droop 0. The queue then is the reference, whatever the number of
 * flows. But each flow has a p of its own, so that any shares are a fixed point (Theorem 6), and
 * flows drift apart by what their samples differ. With a droop the queue is droop * (p - 1)
 * references above its own at rest. Flows that see one queue then have one p, hence one rate,
 * and the queue moves with their number, by as little as the droop is small.
 */
#ifndef TIMELY_PI_H
#define TIMELY_PI_H

#include "timely_step.h"

#define TIMELY_PI_SHIFT		20
#define TIMELY_PI_ONE		(1LL << TIMELY_PI_SHIFT)
/* What the field holds: p below 256, where flows of 20 kbit/s rest in the shipped preset. */
#define TIMELY_PI_MAX_Q		((1ULL << 28) - 1)
/*
 * Errors count up to so many references. That must be more than swings have, since K2 takes their
 * mean to nothing. With one, the empty half of a swing counts as much as a full half of 150 us: p
 * comes to nothing, and forty flows swing for ever.
 */
#define TIMELY_PI_ERROR_REFS	8
/* After a silence the queue is another one: the integral counts so much of it. */
#define TIMELY_PI_ELAPSED_NS	2000000ULL

/*
 * The root to 6 %: straight lines between the powers of four. timely_sqrt() takes a fifth of an
 * event's instructions, and here the step needs to grow with the rate, and no more.
 */
static inline u64 timely_pi_root(u64 value)
{
	u32 half = tp_log2(timely_max(value, 1)) / 2;

	return (1ULL << half) + timely_div(timely_less(value, 1ULL << (2 * half)) >> half, 3);
}

/* The additive step at this rate: timely_step_bps() with that root. */
static inline u64 timely_pi_step_bps(const struct timely_params *p, u64 rate_bps)
{
	if (!p->root_step)
		return p->delta_bps;
	return timely_mul_shr(p->delta_bps, timely_pi_root(timely_step_ratio(rate_bps)), 16);
}

/* p of a flow that is to stay at its rate. */
static inline u64 timely_pi_rest_q(const struct timely_params *p, u64 rate_bps)
{
	u64 step_bps = timely_pi_step_bps(p, rate_bps);
	u64 cut_bps = timely_div(rate_bps * p->beta_milli, 1000);

	return timely_min(timely_div(step_bps << TIMELY_PI_SHIFT, timely_max(cut_bps, 1)),
			  TIMELY_PI_MAX_Q);
}

/* A flow begins at a guess of its share, and keeps that until the queue says otherwise. */
static inline void timely_pi_start(struct timely_state *s, const struct timely_params *p)
{
	if (p->variant == TIMELY_VARIANT_PI)
		s->pi_p_q = timely_pi_rest_q(p, s->rate_bps);
}

/* The error at which a flow with this p rests, up to the reference itself. */
static inline s64 timely_pi_droop_ns(const struct timely_params *p, u64 p_q)
{
	s64 droop_q = timely_within(((s64)p_q - TIMELY_PI_ONE) * p->pi_droop_milli,
				    1000 * TIMELY_PI_ONE);

	/* p's thousandths times microseconds are nanoseconds. */
	return (droop_q * p->t_low_us) >> TIMELY_PI_SHIFT;
}

/*
 * What one event adds to p, elapsed_ns after the last: the queue is error_ns above the reference,
 * and was before_ns above it. held: a larger p would have no effect, so K2 does not add to it.
 *
 * K1 is below 2^24, K2 times the time below 2^28, and errors are below 2^33 ns: the sum fits into
 * 62 bits.
 */
static inline s64 timely_pi_change_q(const struct timely_params *p, u64 p_q, s64 error_ns,
				     s64 before_ns, u64 elapsed_ns, bool held)
{
	u64 ref_ns = timely_us_to_ns(p->t_low_us);
	s64 k1_q = timely_div((u64)p->pi_k1_milli << TIMELY_PI_SHIFT, 1000);
	s64 k2_q = timely_div((timely_min(elapsed_ns, TIMELY_PI_ELAPSED_NS) * p->pi_k2_per_s) <<
			      TIMELY_PI_SHIFT, 1000000000);
	s64 off_ns, sum;

	error_ns = timely_within(error_ns, TIMELY_PI_ERROR_REFS * ref_ns);
	before_ns = timely_within(before_ns, TIMELY_PI_ERROR_REFS * ref_ns);
	sum = k1_q * (error_ns - before_ns);
	off_ns = error_ns - timely_pi_droop_ns(p, p_q);
	if (off_ns < 0 || !held)
		sum += k2_q * off_ns;
	return sum < 0 ? -(s64)timely_div(-sum, ref_ns) : (s64)timely_div(sum, ref_ns);
}

static inline void timely_pi_step(struct timely_state *s, const struct timely_params *p,
				  s64 error_ns, s64 before_ns, u64 elapsed_ns, bool held)
{
	s64 p_q = (s64)s->pi_p_q + timely_pi_change_q(p, s->pi_p_q, error_ns, before_ns,
						      elapsed_ns, held);

	s->pi_p_q = p_q < 0 ? 0 : timely_min(p_q, TIMELY_PI_MAX_Q);
}

/* Decrease factor: beta * w * p. */
static inline u64 timely_pi_factor_q(const struct timely_state *s, const struct timely_params *p,
				     u64 weight_q)
{
	u64 p_q = (u64)s->pi_p_q << (TIMELY_Q - TIMELY_PI_SHIFT);

	return timely_div(timely_mul_shr(p_q, weight_q, TIMELY_Q) * p->beta_milli, 1000);
}

#endif /* TIMELY_PI_H */
