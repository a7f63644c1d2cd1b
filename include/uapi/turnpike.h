/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What Turnpike's kernel modules and user space say to each other.
 *
 * Numbers are never reused and meanings never change: what is new gets a new number, and
 * structures grow at their end only.  Who reads one takes what is there of it, by its
 * length; what is missing reads as zero.
 */
#ifndef _UAPI_TURNPIKE_H
#define _UAPI_TURNPIKE_H

#include <linux/types.h>

/* -- the queueing discipline "onramp" -------------------------------------- */

/* Attributes within TCA_OPTIONS.  Times are u32 microseconds where not said otherwise,
 * rates are u64 bytes per second.  Those up to PRIOMAP mean what they mean for fq.
 */
enum {
	TCA_ONRAMP_UNSPEC,
	TCA_ONRAMP_VERSION,		/* u32, ONRAMP_ABI_VERSION; in answers only */

	TCA_ONRAMP_LIMIT,		/* u32 packets, of each band */
	TCA_ONRAMP_FLOW_LIMIT,		/* u32 packets */
	TCA_ONRAMP_QUANTUM,		/* u32 bytes */
	TCA_ONRAMP_INITIAL_QUANTUM,	/* u32 bytes */
	TCA_ONRAMP_PACING,		/* u8 */
	TCA_ONRAMP_MAXRATE,		/* u64; all ones: none */
	TCA_ONRAMP_BUCKETS_LOG,		/* u32 */
	TCA_ONRAMP_REFILL_DELAY,	/* time */
	TCA_ONRAMP_ORPHAN_MASK,		/* u32 */
	TCA_ONRAMP_LOW_RATE,		/* u64 */
	TCA_ONRAMP_CE_THRESHOLD,	/* time; all ones: none */
	TCA_ONRAMP_TIMER_SLACK,		/* u32 nanoseconds */
	TCA_ONRAMP_HORIZON,		/* time */
	TCA_ONRAMP_HORIZON_DROP,	/* u8 */
	TCA_ONRAMP_PRIOMAP,		/* u8[16]; where fq has bands */
	TCA_ONRAMP_WEIGHTS,		/* s32[3]; where fq has bands */

	TCA_ONRAMP_PAUSE,		/* u8: hold packets at all */
	TCA_ONRAMP_MODE,		/* u8, ONRAMP_UAPI_STRAWMAN or _FINAL */
	TCA_ONRAMP_THRESHOLD,		/* u32 nanoseconds */
	TCA_ONRAMP_GAIN_SHIFT,		/* u8: the gain is 2^-this */
	TCA_ONRAMP_PAUSE_MAX,		/* time */
	TCA_ONRAMP_FEEDBACK,		/* u8, ONRAMP_FEEDBACK_ */
	TCA_ONRAMP_FEEDBACK_TIMEOUT,	/* time */
	TCA_ONRAMP_GOVERNOR,		/* u8: keep bursts small */
	TCA_ONRAMP_GATE,		/* u8, ONRAMP_GATE_ */
	TCA_ONRAMP_LINE_RATE,		/* u64; 0: ask the device */
	TCA_ONRAMP_PAD,
	__TCA_ONRAMP_MAX
};

#define TCA_ONRAMP_MAX		(__TCA_ONRAMP_MAX - 1)

#define ONRAMP_ABI_VERSION	1

enum {
	ONRAMP_UAPI_STRAWMAN,		/* On-Ramp's eq. 2 */
	ONRAMP_UAPI_FINAL,		/* On-Ramp's eq. 3 and 4 */
};

enum {
	ONRAMP_FEEDBACK_AUTO,		/* the best there is */
	ONRAMP_FEEDBACK_TCPTS,		/* microsecond TCP timestamps */
	ONRAMP_FEEDBACK_ORACK,		/* receipts by the receiver */
};

enum {
	ONRAMP_GATE_AUTO,		/* where the driver limits no bytes in its queue */
	ONRAMP_GATE_ON,
	ONRAMP_GATE_OFF,
};

#define ONRAMP_UAPI_BANDS	3

/* Statistics (TCA_STATS_APP). Counters only grow. */
struct tc_onramp_stats {
	__u32 version;			/* ONRAMP_ABI_VERSION */
	__u32 bands;			/* of the arrays below in use */

	/* as fq has them */
	__u64 gc_flows;
	__u64 highprio_packets;
	__u64 fastpath_packets;
	__u64 throttled;
	__u64 flows_plimit;
	__u64 pkts_too_long;
	__u64 allocation_errors;
	__s64 time_next_delayed_ns;	/* from now; the next flow that may send again */
	__u64 ce_mark;
	__u64 horizon_drops;
	__u64 horizon_caps;
	__u64 band_drops[ONRAMP_UAPI_BANDS];
	__u32 band_packets[ONRAMP_UAPI_BANDS];
	__u32 flows;
	__u32 inactive_flows;
	__u32 throttled_flows;
	__u32 unthrottle_latency_ns;
	__u32 controlled_flows;		/* that are paused when need be */

	/* On-Ramp's own */
	__u64 samples;			/* delays believed */
	__u64 pauses;			/* samples that asked for a pause */
	__u64 pauses_capped;		/* cut by pause_max */
	__u64 pauses_recalled;		/* of new flows, from the path's memory */
	__u64 held_packets;		/* packets that a pause kept from leaving */
	__u64 held_ns;			/* time they were kept, together */
	__u64 timeouts;			/* pauses ended since feedback had stopped */
	__u64 ignored_unknown;		/* feedback on packets not known, or sent twice */
	__u64 ignored_late;		/* ACKs that the receiver had delayed */
	__u64 bypassed;			/* packets without data that overtook held data */
	__u64 burst_cuts;		/* times the governor made a flow's bursts smaller */
	__u64 gated;			/* times the line-rate gate was shut */
	__u64 base_steps;		/* base delays that moved at once */
	__u64 line_rate;		/* bytes per second; 0: not known */
	__u64 delay_p50_ns;		/* queueing delay, by samples */
	__u64 delay_p99_ns;
	__u32 gate_active;
	__u32 bql;			/* 0: not known yet, 1: the driver has it, 2: it has not */
};

#endif /* _UAPI_TURNPIKE_H */
