/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the TIMELY rate engine knows of one flow, what it is given and what it
 * answers; its knobs; the arithmetic that its parts share.
 */
#ifndef TIMELY_STATE_H
#define TIMELY_STATE_H

#include "timely_types.h"

enum timely_variant {
	TIMELY_VARIANT_TIMELY,
	TIMELY_VARIANT_PATCHED,
};

/*
 * Departures from the pseudo-code (on = 1) are u8 switches; numbers that have
 * an "off" value say so.
 */
struct timely_params {
	u64 init_rate_bps;	/* first rate; 0: line rate / (flows + 1) */
	u64 min_rate_bps;
	u64 max_rate_bps;
	u64 delta_bps;		/* additive step */
	u64 delta_ref_bps;	/* step grows as sqrt(rate / this); 0: fixed */
	u32 t_low_us;
	u32 t_high_us;
	u32 min_rtt_us;		/* normalizes the gradient */
	u32 alpha_milli;	/* EWMA weight of the newest RTT difference */
	u32 beta_milli;
	u32 hai_events;		/* 0: no HAI */
	u32 hai_us;		/* and they must span this time; 0: any */
	u32 hai_mult;
	u32 scale_max;		/* most steps one event stands for */
	u32 seg_bytes;		/* largest burst and completion event */
	u32 burst_us;		/* burst = rate * this; 0: always seg_bytes */
	u32 max_decrease_milli;	/* bound below t_high; 1000: none */
	u32 max_high_milli;	/* bound above t_high; 1000: none */
	u32 beta_high_milli;	/* beta above t_high; 0: beta_milli */
	u32 loss_milli;		/* cut on little loss with a short queue */
	u32 app_limit_milli;	/* no growth below this part of rate; 0: off */
	u32 rtt_floor_us;	/* drop samples below; 0: off */
	u32 base_slack_us;	/* base RTT over min_rtt that is ignored */
	u32 base_max_us;	/* longest base RTT believed; 0: ignore base */
	u32 low_frames;		/* frames that t_low leaves room for; 0: off */
	u32 noise_max_us;	/* most noise to take out of a sample; 0: off */
	u32 noise_slack_us;	/* jitter that is no noise */
	u32 noise_events;	/* samples of half a noise window */
	u32 rare_rtts;		/* events further apart count less; 0: never */
	u8 variant;
	u8 elapsed_gradient;	/* gradient over elapsed time, not min_rtt */
	u8 scale_updates;	/* a step per RTT, not per event */
	u8 decrease_once;	/* at most one decrease per RTT */
	u8 hai_low;		/* events below t_low count for HAI too */
	u8 high_drain;		/* above t_high: let a falling queue fall */
};

/*
 * Moments keep their low 40 bits, 18 minutes.
 */
struct timely_state {
	u64 rate_bps;
	s64 rtt_diff_q;		/* EWMA of RTT differences, ns << DIFF_SHIFT */
	u64 high_rate_bps:41,	/* before the decreases of the last round */
	    in_round:1,		/* high_rate and round_start are valid */
	    jitter_q:22;	/* EWMA, ns << JITTER_SHIFT */
	u64 undo_rate_bps:41,	/* before the loss episode; 0: none */
	    step_up:1,		/* sign of last_step */
	    last_step_ns:18,	/* newest RTT difference, no sign */
	    low_events:4;	/* samples in low_new */
	u64 round_start_ns:40,	/* of the first decrease of that round */
	    low_new_ns:24;	/* smallest sample of this half window */
	u64 last_event_ns:40,
	    low_old_ns:24;	/* and of the one before */
	u64 prev_rtt_ns:34,	/* 0: no sample yet */
	    hai_count:8,	/* events in a row that count for HAI */
	    hai_span_us:20,	/* and the time they took */
	    climb:1,		/* after a timeout, up to high_rate */
	    unused:1;
};

struct timely_sample {
	u64 now_ns;
	u64 rtt_ns;		/* burst serialization already removed */
	u32 acked_bytes;	/* since the last event */
	u64 base_rtt_ns;	/* smallest RTT of the flow; 0: unknown */
	u64 cap_bps;		/* line rate or the socket's limit; 0: none */
	bool app_limited;	/* the sender ran out of data since then */
};

enum timely_branch {
	TIMELY_BRANCH_FIRST,	/* first sample: only remembered */
	TIMELY_BRANCH_DROPPED,	/* below the floor: ignored */
	TIMELY_BRANCH_LOW,	/* rtt < t_low: additive step */
	TIMELY_BRANCH_HIGH,	/* rtt > t_high: decrease */
	TIMELY_BRANCH_INC,	/* gradient <= 0: additive step */
	TIMELY_BRANCH_HAI,	/* hyperactive additive step */
	TIMELY_BRANCH_DEC,	/* gradient > 0: decrease */
	TIMELY_BRANCH_BLEND,	/* patched, between the thresholds */
	TIMELY_BRANCH_COUNT,
};

struct timely_outcome {
	enum timely_branch branch;
	s64 gradient_q;		/* gradient, << TIMELY_Q */
	s64 gradient_micro;
	u64 rate_bps;
};

/*
 * Gradients, weights and factors have 28 fractional bits: 10 s over a min_rtt
 * of 1 us (2^24) still fits an s64 with room for a milli multiplier.
 */
#define TIMELY_Q		28
#define TIMELY_ONE		(1ULL << TIMELY_Q)
/*
 * The RTT difference keeps 18 bits below the nanosecond: 10 s << 18 times
 * 1000 fits an s64, and repeated EWMA steps of 1/8 stay exact long enough
 * that the sign of the gradient is the sign real numbers would give.
 */
#define TIMELY_DIFF_SHIFT	18
#define TIMELY_RTT_MAX_NS	10000000000ULL
#define TIMELY_HAI_SPAN_MAX_US	((1ULL << 20) - 1)
#define TIMELY_MOMENT_MASK	((1ULL << 40) - 1)
#define TIMELY_STEP_MAX_NS	((1ULL << 18) - 1)
#define TIMELY_LOW_MAX_NS	((1ULL << 24) - 1)

#define TIMELY_FRAME_BITS	(1538 * 8)	/* full Ethernet frame and gap */

static inline u64 timely_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 timely_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* a - b, not below zero. */
static inline u64 timely_less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* Time since a moment that kept its low bits; none if that is in the future. */
static inline u64 timely_since_ns(u64 now_ns, u64 moment_ns)
{
	u64 since_ns = (now_ns - moment_ns) & TIMELY_MOMENT_MASK;

	return since_ns > TIMELY_MOMENT_MASK / 2 ? 0 : since_ns;
}

static inline u64 timely_abs(s64 value)
{
	return value < 0 ? 0 - (u64)value : (u64)value;
}

/* Quotient rounded away from zero: a decaying gradient never loses its sign. */
static inline s64 timely_div_away(s64 dividend, u64 divisor)
{
	u64 magnitude = timely_div(timely_abs(dividend) + divisor - 1, divisor);

	return dividend < 0 ? -(s64)magnitude : (s64)magnitude;
}

static inline u64 timely_us_to_ns(u32 value_us)
{
	return (u64)value_us * 1000;
}

/* Integer square root, rounded down. */
static inline u32 timely_sqrt(u64 value)
{
	u64 bit = 1ULL << 62;
	u64 root = 0;

	while (bit > value)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (value >= root + bit) {
			value -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (u32)root;
}

/*
 * Are events further apart than rare_rtts round trips, times this? The further,
 * the less does the queue of one tell of the next: with hundreds of flows it
 * comes and goes between two events of one.
 */
static inline bool timely_is_rare(const struct timely_params *p, u64 elapsed_ns,
				  u64 rtt_ns, u32 times)
{
	return p->rare_rtts && elapsed_ns > rtt_ns * p->rare_rtts * times;
}

#endif /* TIMELY_STATE_H */
