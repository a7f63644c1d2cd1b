/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The delays on the way to a peer, for an operator to read (ONRAMP21): one-way delay where clocks
 * tell it, else queueing delay.  One histogram has both, as a host has one kind or the other:
 *
 *      kind of samples   q q q q o q q q o o o o o o ...
 *      histogram of      queueing delay          | one-way delay
 *                                ^ not counted     ^ ORACK_DELAY_STRAYS in a row: begun anew
 */
#ifndef ORACK_DELAY_H
#define ORACK_DELAY_H

#include "include/turnpike_types.h"
#include "sch_onramp/onramp_hist.h"

/* Now and then a delay is impossible (orack_absolute.h), and counts as the other kind. */
#define ORACK_DELAY_STRAYS	16

/* All zero: empty. */
struct orack_delay {
	struct onramp_recent recent;
	bool absolute;		/* one-way delays are in it */
	bool some;		/* it is not empty */
	u8 strays;		/* samples of the other kind, in a row */
};

/* Is the sample of the histogram's kind?  That kind may change with it. */
static inline bool orack_delay_counts(struct orack_delay *d, bool absolute)
{
	if (d->some && d->absolute == absolute) {
		d->strays = 0;
		return true;
	}
	if (d->some && ++d->strays < ORACK_DELAY_STRAYS)
		return false;
	onramp_recent_clear(&d->recent);
	d->absolute = absolute;
	d->some = true;
	d->strays = 0;
	return true;
}

/* One-way delay may be below zero by the clocks' error. */
static inline void orack_delay_sample(struct orack_delay *d, u64 now_ns, bool absolute, s64 delay_ns)
{
	if (orack_delay_counts(d, absolute))
		onramp_recent_sample(&d->recent, now_ns,
				     onramp_hist_bucket(delay_ns > 0 ? (u64)delay_ns : 0));
}

#endif /* ORACK_DELAY_H */
