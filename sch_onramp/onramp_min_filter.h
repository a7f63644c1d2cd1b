/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A min filter: a delay's least in the last seconds, of two spans.  Pure.  Model: ONRAMP21.
 */
#ifndef ONRAMP_MIN_FILTER_H
#define ONRAMP_MIN_FILTER_H

#include "include/turnpike_types.h"

/* A longer route shows after one to two of these. */
#define ONRAMP_MIN_FILTER_SPAN_NS	5000000000ULL

/* The least of the last 5 to 10 seconds. */
struct onramp_min_filter {
	u64 end_ns;		/* of the present span */
	u64 now_ns;		/* least of the present span, */
	u64 before_ns;		/* and of the one before */
};

static inline void onramp_min_filter_init(struct onramp_min_filter *f)
{
	f->end_ns = 0;
	f->now_ns = ~0ULL;
	f->before_ns = ~0ULL;
}

static inline u64 onramp_min_filter_sample(struct onramp_min_filter *f, u64 now_ns, u64 rtt_ns)
{
	if (now_ns >= f->end_ns) {
		f->before_ns = f->end_ns && now_ns - f->end_ns < ONRAMP_MIN_FILTER_SPAN_NS ?
			       f->now_ns : ~0ULL;
		f->now_ns = rtt_ns;
		f->end_ns = now_ns + ONRAMP_MIN_FILTER_SPAN_NS;
	} else if (rtt_ns < f->now_ns) {
		f->now_ns = rtt_ns;
	}
	return f->now_ns < f->before_ns ? f->now_ns : f->before_ns;
}

/* What was before is of another path: the least is @rtt_ns until a sample is less. */
static inline void onramp_min_filter_raise(struct onramp_min_filter *f, u64 rtt_ns)
{
	if (f->now_ns < rtt_ns)
		f->now_ns = rtt_ns;
	if (f->before_ns < rtt_ns)
		f->before_ns = rtt_ns;
}

#endif /* ONRAMP_MIN_FILTER_H */
