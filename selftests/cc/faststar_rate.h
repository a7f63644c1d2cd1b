/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of FAST* (TIMELY15 section 6.1): the equation of FAST TCP for a rate in place of
 * its window.
 *
 *   R <- min(2 R, (1 - gamma) R + gamma (R D / RTT + alpha))
 *
 * D is the base RTT.  At rest RTT = D R / (R - alpha): alpha is the part of its rate that a
 * flow keeps in queues.
 */
#ifndef FASTSTAR_RATE_H
#define FASTSTAR_RATE_H

#include "include/turnpike_types.h"

struct faststar_params {
	u64 line_bps;		/* no flow sends faster, */
	u64 floor_bps;		/* nor slower */
	u64 alpha_bps;
	u32 gamma_milli;	/* of 1000, how far an update goes */
};

/* The rate after an RTT in which packets took @rtt_us; @base_us is the least so far, not 0. */
static inline u64 faststar_rate(const struct faststar_params *p, u64 rate_bps, u32 base_us,
				u32 rtt_us)
{
	u64 calls_for_bps = tp_div(rate_bps * base_us, rtt_us) + p->alpha_bps;
	u64 next_bps = tp_div(rate_bps * (1000 - p->gamma_milli) + calls_for_bps * p->gamma_milli,
			      1000);

	if (next_bps > 2 * rate_bps)
		next_bps = 2 * rate_bps;
	if (next_bps > p->line_bps)
		next_bps = p->line_bps;
	return next_bps < p->floor_bps ? p->floor_bps : next_bps;
}

#endif /* FASTSTAR_RATE_H */
