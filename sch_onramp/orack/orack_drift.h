/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far a clock has drifted since its offset was told.  ONRAMP21 section 3.3: clocks of servers
 * drift by up to 30 us a second, so an offset alone is good for a few milliseconds.
 */
#ifndef ORACK_DRIFT_H
#define ORACK_DRIFT_H

#include "include/turnpike_types.h"

/* A millisecond a second in 2^-36 takes 27 bits and a day in 1024 ns 37, so the product fits. */
#define ORACK_DRIFT_SHIFT	36
#define ORACK_DRIFT_TICK_SHIFT	10
#define ORACK_DRIFT_MOST_NS	86400000000000ULL	/* nothing that is told counts for longer */

/*
 * In 2^-36 of the time that passes, from 10^-12 of it, at most 10^9 either way.  It is 15 * 10^-12
 * off at most, 1 ns in a minute.
 */
static inline s64 orack_drift_q(s32 drift_ppt)
{
	u64 size = drift_ppt < 0 ? -(s64)drift_ppt : drift_ppt;
	s64 size_q = tp_div(size << (ORACK_DRIFT_SHIFT - 4), 1000000000000ULL >> 4);

	return drift_ppt < 0 ? -size_q : size_q;
}

/* What the offset has grown by after @elapsed_ns. */
static inline s64 orack_drift_ns(s64 drift_q, u64 elapsed_ns)
{
	if (elapsed_ns > ORACK_DRIFT_MOST_NS)
		elapsed_ns = ORACK_DRIFT_MOST_NS;
	return (drift_q * (s64)(elapsed_ns >> ORACK_DRIFT_TICK_SHIFT)) >>
	       (ORACK_DRIFT_SHIFT - ORACK_DRIFT_TICK_SHIFT);
}

#endif /* ORACK_DRIFT_H */
