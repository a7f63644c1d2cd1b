/* SPDX-License-Identifier: GPL-2.0 */
/*
 * No flow waits for longer than a bound without sending a packet.  Model: On-Ramp (ONRAMP21).
 *
 * Several pauses hold a flow: a sample's, another flow's, a drain's.  Each ends, but feedback may
 * start the next, and a peer may send anything.  This bound overrides them all: its time runs
 * from the first refusal since a packet left.
 *
 * The rule has a bound of its own, by the same max_ns: on pauses, from when the first of them
 * began (onramp_pause_assert()).  Feedback's silence ends a hold, too (onramp_ctl_timeout()).
 */
#ifndef ONRAMP_BOUND_H
#define ONRAMP_BOUND_H

#include "include/turnpike_types.h"

struct onramp_bound {
	u64 since_ns;		/* first refusal; valid if refused */
	bool refused;
};

/* A packet left. */
static inline void onramp_bound_sent(struct onramp_bound *b)
{
	b->refused = false;
}

/* The end of a hold: the pause asks for @until_ns, @max_ns bounds it. */
static inline u64 onramp_bound_hold(struct onramp_bound *b, u64 now_ns, u64 until_ns,
				    u64 max_ns)
{
	u64 end_ns;

	if (until_ns <= now_ns)
		return until_ns;
	if (!b->refused) {
		b->refused = true;
		b->since_ns = now_ns;
	}
	end_ns = b->since_ns + max_ns;
	return until_ns < end_ns ? until_ns : end_ns;
}

#endif /* ONRAMP_BOUND_H */
