/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State, parameters, input and output of the rate engine (TIMELY15, ECNDELAY16), for one
 * flow.
 */
#ifndef TIMELY_STATE_H
#define TIMELY_STATE_H

#include "timely_math.h"

enum timely_variant {
	TIMELY_VARIANT_TIMELY,
	TIMELY_VARIANT_PATCHED,
	TIMELY_VARIANT_PI,
};

/*
 * The operator's settings, and the constants in which the papers and this project
 * differ. A departure from the pseudo-code (on = 1) is a u8 switch; numbers that
 * have an "off" value say so.
 */
struct timely_params {
	/* settings: timely_knobs[] */
	u64 init_rate_bps;	/* first rate; 0: line rate / (flows + 1) */
	u64 min_rate_bps;
	u64 max_rate_bps;
	u64 delta_bps;		/* additive step */
	u32 t_low_us;		/* over the base with path_law, else RTTs */
	u32 t_high_us;
	u32 beta_milli;
	u32 hai_events;		/* 0: no HAI */
	u32 loss_milli;		/* cut on little loss with a short queue */
	u32 noise_max_us;	/* most noise to take out of a sample; 0: off */
	u32 seg_bytes;		/* largest burst and completion event */
	u32 burst_us;		/* burst = rate * this; 0: always seg_bytes */
	/* settings of timely_pi alone: timely_pi_knobs[] */
	u32 pi_k1_milli;	/* p per reference that the queue moves */
	u32 pi_k2_per_s;	/* p per reference of error, per second */
	u32 pi_droop_milli;	/* part of the reference that each 1 of p adds to the queue */
	/* constants of a preset: timely_constants[] */
	u32 min_rtt_us;		/* the papers' unit of the gradient */
	u32 alpha_milli;	/* EWMA weight of the newest RTT difference */
	u32 beta_high_milli;	/* beta above t_high; 0: beta_milli */
	u32 max_decrease_milli;	/* bound below t_high; 1000: none */
	u32 max_high_milli;	/* bound above t_high; 1000: none */
	u32 hai_us;		/* hai_events must span this time; 0: any */
	u32 hai_mult;
	u32 scale_max;		/* most steps one event stands for */
	u32 app_limit_milli;	/* no growth below this part of rate; 0: off */
	u32 rtt_floor_us;	/* drop samples below; 0: off */
	u32 rare_rtts;		/* events further apart count less; 0: never */
	u8 variant;
	u8 path_law;		/* thresholds and bounds of the path (timely_path.h) */
	u8 own_bursts;		/* half of a flow's own burst counts as queue */
	u8 fill_empty;		/* larger steps while the path stays empty */
	u8 climb_back;		/* to the rate before a burst of other flows */
	u8 root_step;		/* the step grows as the root of the rate */
	u8 elapsed_gradient;	/* gradient over elapsed time, not per event */
	u8 scale_updates;	/* a step per RTT, not per event */
	u8 decrease_once;	/* at most one decrease per RTT */
	u8 hai_low;		/* events below t_low count for HAI too */
	u8 high_drain;		/* above t_high: let a falling queue fall */
};

/*
 * Moments keep their low 40 bits, 18 minutes.
 * In C, gcc computes with a field wider than an int in as many bits as the field has, clang and
 * C++ in all bits of its type. So code casts it before it adds or multiplies;
 * unit/timely_c_test compares the two.
 */
struct timely_state {
	u64 rate_bps:41,
	    path_tick:14,	/* when a sample was last near the base */
	    path_events:4,	/* samples of this drain, or since the last */
	    draining:1,		/* nearly stopped, to see the base */
	    drained:3,		/* number of drains, up to TIMELY_PATH_DRAINS */
	    below:1;		/* the last sample was below the base */
	s64 rtt_diff_q:48;	/* EWMA of RTT differences, ns << DIFF_SHIFT */
	u64 spike_ns:16;	/* EWMA of how far single samples stick out */
	u64 high_rate_bps:41,	/* before the decreases of the last round */
	    in_round:1,		/* high_rate and round_start are valid */
	    jitter_q:22;	/* EWMA, ns << JITTER_SHIFT */
	u64 undo_rate_bps:41,	/* before the loss episode; 0: none */
	    step_up:1,		/* sign of last_step */
	    last_step:18,	/* newest RTT difference, no sign, ns >> STEP_SHIFT */
	    low_events:4;	/* samples in low_new */
	u64 round_start_ns:40,	/* of the first decrease of that round */
	    low_new_ns:24;	/* smallest sample of this half window */
	u64 last_event_ns:40,
	    low_old_ns:24;	/* smallest sample of the half window before */
	union {
		struct {
			u64 prev_rtt_ns:34,	/* 0: no sample yet */
			    hai_count:8,	/* events in a row that count for HAI */
			    hai_span_us:20,	/* time that these took */
			    climb:1;	/* after a timeout, a longer path or a burst, up to high_rate */
			u64 burst:1;	/* a sample above T_high since one was near the base */
		};
		struct {		/* timely_pi, which has no HAI */
			u64 pi_same:34,	/* prev_rtt_ns */
			    pi_p_q:28;	/* the controller's p, << PI_SHIFT */
		};
	};
	u32 base_ns;		/* RTT of the empty path; 0: unknown */
	u32 drain_tick:23,	/* when this drain began, or the last ended */
	    near_rate:9;	/* the rate when a sample was last near the base */
};

struct timely_sample {
	u64 now_ns;
	u64 rtt_ns;		/* burst serialization already removed */
	u64 cap_bps;		/* line rate or the socket's limit; 0: none */
	u32 acked_bytes;	/* since the last event; of app_limited ones only */
	u32 frame_bytes;	/* of a full frame on the wire; 0: 1538 */
	u32 frame_ns;		/* its time at the line's speed, whatever the cap; 0: unknown */
	u32 burst_ns;		/* wire time of this flow's own bursts; 0: unknown */
	u32 coalesce_ns;	/* longest wait for a NIC's interrupt; 0: none */
	u32 back_load;		/* load of the link on which ACKs come, << LOAD_SHIFT */
	bool app_limited;	/* the sender ran out of data since the last event */
};

enum timely_branch {
	TIMELY_BRANCH_FIRST,	/* first sample: only remembered */
	TIMELY_BRANCH_DROPPED,	/* RTT below rtt_floor_us: ignored */
	TIMELY_BRANCH_LOW,	/* rtt < t_low: additive step */
	TIMELY_BRANCH_HIGH,	/* rtt > t_high: decrease */
	TIMELY_BRANCH_INC,	/* gradient <= 0: additive step */
	TIMELY_BRANCH_HAI,	/* hyperactive additive step */
	TIMELY_BRANCH_DEC,	/* gradient > 0: decrease */
	TIMELY_BRANCH_BLEND,	/* patched, between the thresholds */
	TIMELY_BRANCH_DRAIN,	/* looking for the base RTT */
	TIMELY_BRANCH_MERGED,	/* came with the event before, by one interrupt */
	TIMELY_BRANCH_COUNT,
};

struct timely_outcome {
	enum timely_branch branch;
	s64 rtt_diff_q;		/* the gradient is this over unit_ns */
	u64 unit_ns;
	u64 rate_bps;
	u64 pi_p_q;		/* of timely_pi; 0 of others */
};

/*
 * The RTT difference keeps 18 bits below the nanosecond. So repeated EWMA steps of 1/8
 * stay exact long enough for the gradient to have the sign that real numbers would give.
 * 48 bits hold half a second of it.
 */
#define TIMELY_DIFF_SHIFT	18
#define TIMELY_DIFF_MAX_NS	500000000
#define TIMELY_RTT_MAX_NS	10000000000ULL
#define TIMELY_HAI_SPAN_MAX_US	((1ULL << 20) - 1)
#define TIMELY_MOMENT_MASK	((1ULL << 40) - 1)
#define TIMELY_LOAD_SHIFT	10
#define TIMELY_SPIKE_MAX_NS	((1ULL << 16) - 1)
#define TIMELY_STEP_SHIFT	2	/* 18 bits hold a millisecond */
#define TIMELY_STEP_MAX		((1ULL << 18) - 1)
#define TIMELY_LOW_MAX_NS	((1ULL << 24) - 1)
#define TIMELY_FRAME_BYTES	1538	/* full Ethernet frame and gap */

/* Time since a moment that kept its low bits; none if that is in the future. */
static inline u64 timely_since_ns(u64 now_ns, u64 moment_ns)
{
	u64 since_ns = (now_ns - moment_ns) & TIMELY_MOMENT_MASK;

	return since_ns > TIMELY_MOMENT_MASK / 2 ? 0 : since_ns;
}

/*
 * Are events further apart than "times" rare_rtts round trips? The further they are, the
 * less does the queue of one tell of the next: with hundreds of flows it comes and goes
 * between two events of one flow.
 */
static inline bool timely_is_rare(const struct timely_params *p, u64 elapsed_ns,
				  u64 rtt_ns, u32 times)
{
	return p->rare_rtts && elapsed_ns > rtt_ns * p->rare_rtts * times;
}

#endif /* TIMELY_STATE_H */
