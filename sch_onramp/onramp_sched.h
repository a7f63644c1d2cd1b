/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdisc and its flows.  Model: fq, and On-Ramp (ONRAMP21).
 *
 * Locks: the qdisc's lock guards struct onramp_sched and its flows.  A flow's control block has
 * its own lock.  The qdisc takes it inside its lock; feedback takes it alone.
 */
#ifndef ONRAMP_SCHED_H
#define ONRAMP_SCHED_H

#include <linux/llist.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "compat/compat.h"
#include "include/uapi/turnpike.h"
#include "onramp_hist.h"
#include "onramp_line.h"
#include "onramp_option.h"
#include "onramp_packet.h"
#include "onramp_release.h"
#include "onramp_source.h"

struct onramp_ctl;
struct onramp_net;

struct onramp_flow {
	/* looked at by lookup, enqueue and dequeue */
	struct rb_root out_of_order;	/* packets that leave before the list's last */
	struct sk_buff *head;		/* packets by departure time */
	union {
		struct sk_buff *tail;	/* while there are packets */
		unsigned long idle;	/* jiffies | 1 since the flow is on no list */
	};
	union {
		struct rb_node node;	/* in its bucket */
		u64 fast_packets;	/* of the fast path's flow, which is in none */
	};
	unsigned long key;		/* socket, or hash with bit 0, or socket with bit 1 */
	u32 socket_hash;		/* tells a new socket at an old address */
	int qlen;

	int credit;
	u8 band;
	bool held;			/* its first packet met a pause */
	bool pace_anew;			/* was paused: its packets' times are in the past */
	bool asked;			/* asked_at is valid */
	u8 source;			/* of ctl, as it is counted */
	struct onramp_flow *next;	/* in a list; &onramp_throttled: in the tree */
	struct rb_node delayed_node;	/* in onramp_sched.delayed */
	u64 time_next_ns;		/* pacing: not before */
	u64 wake_ns;			/* key of the tree */
	struct onramp_release release;	/* of data after a pause */

	struct onramp_ctl *ctl;		/* NULL: never paused */
	struct list_head controlled;	/* in onramp_sched's, while there is ctl */
	unsigned long asked_at;		/* jiffies: there was no feedback to be had */
};

struct onramp_list {
	struct onramp_flow *first;
	struct onramp_flow *last;
};

struct onramp_band {
	struct onramp_list new_flows;
	struct onramp_list old_flows;
	int credit;
};

struct onramp_stats {
	u64 gc_flows, highprio, throttled, flow_limit, too_long, alloc_errors;
	u64 ce_marks, horizon_drops, horizon_caps, band_drops[TP_FQ_BANDS];
	u64 held_packets, held_ns, timeouts, bypassed, burst_cuts, gated;
};

/* Feedback counts these without the qdisc's lock, for each processor, so that no ACK waits. */
struct onramp_counts {
	u64 samples, samples_orack, pauses, capped, recalled, drains, unknown, late, steps;
	u64 coarse, samples_wire, unstamped, noisy;
	u64 delay[ONRAMP_HIST_BUCKETS];
};

#define onramp_count(q, name)	this_cpu_inc((q)->counts->name)

struct onramp_sched {
	/* read mostly */
	struct onramp_config config;
	struct rb_root *buckets;	/* 1 << buckets_log of them */
	u32 buckets_log;
	struct Qdisc *sch;
	struct net *net;
	struct onramp_net *on;		/* of net */
	bool listening;			/* onramp_hook_get() was called; RTNL */
	struct onramp_release_params release;	/* from the threshold */
	u64 burst_mult;			/* from the threshold: onramp_burst.h */
	u64 burst_per_line;		/* from the line: onramp_burst.h */

	/* read and written by every packet */
	struct onramp_line line;
	unsigned int band_nr;		/* being served */
	struct onramp_band bands[TP_FQ_BANDS];
	struct onramp_flow internal;	/* fast path; on older kernels high priority */
	struct rb_root delayed;
	u64 delayed_next_ns;		/* earliest wake_ns in delayed; ~0: none */
	u64 unthrottle_latency_ns;
	u64 used_ns;			/* no destination is told to OR-ACKs before */
	bool held_pending;		/* held data of ended pauses may be queued */
	u32 band_packets[TP_FQ_BANDS];
	u32 flows;
	u32 inactive;			/* flows without packets */
	u32 throttled;			/* flows in delayed */
	struct qdisc_watchdog watchdog;
	struct llist_head kicked;	/* control blocks whose pause got shorter */
	struct list_head controlled;	/* flows with a control block */

	/* seldom used */
	struct onramp_stats stats;
	struct onramp_counts __percpu *counts;
	atomic_t controlled_by[ONRAMP_SOURCES];	/* flows, by where their feedback is from */
};

/* In an skb while it is queued. */
struct onramp_cb {
	u64 send_ns;			/* departure time */
	u32 note_ns;			/* pause counter at enqueue, low bits */
	u8 band;
	u8 kind;			/* enum onramp_kind */
};

static inline struct onramp_cb *onramp_cb(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct onramp_cb));
	return (struct onramp_cb *)qdisc_skb_cb(skb)->data;
}

#define ONRAMP_NEVER_NS		(~0ULL)

/* Where fq has one band there is no index to look up. */
static inline struct onramp_band *onramp_served(struct onramp_sched *q)
{
	return &q->bands[TP_FQ_BANDS > 1 ? q->band_nr : 0];
}

static inline struct onramp_band *onramp_band_of(struct onramp_sched *q,
						 const struct onramp_flow *f)
{
	return &q->bands[TP_FQ_BANDS > 1 ? f->band : 0];
}

extern struct onramp_flow onramp_throttled;

static inline bool onramp_flow_is_throttled(const struct onramp_flow *f)
{
	return f->next == &onramp_throttled;
}

static inline bool onramp_flow_is_idle(const struct onramp_flow *f)
{
	return f->idle & 1UL;
}

/* After so long an idle flow's connection is likely to be over; fq has the same. */
#define ONRAMP_GC_AGE		(3 * HZ)

static inline bool onramp_flow_is_old(const struct onramp_flow *f)
{
	return onramp_flow_is_idle(f) && time_after(jiffies, f->idle + ONRAMP_GC_AGE);
}

/* -- flows (onramp_flow.c) -------------------------------------------------- */

int onramp_flow_init(void);
void onramp_flow_exit(void);
struct onramp_flow *onramp_flow_find(struct onramp_sched *q, struct sk_buff *skb,
				     u64 now_ns);
void onramp_flow_release_all(struct onramp_sched *q);
u32 onramp_flow_trim(struct onramp_sched *q, u32 limit, u32 *bytes);
int onramp_flow_resize(struct onramp_sched *q, u32 log);
void onramp_flow_drop_all(struct onramp_sched *q);
void onramp_flow_queue(struct onramp_flow *f, struct sk_buff *skb);

/* -- flows that wait (onramp_wait.c) ----------------------------------------- */

void onramp_flow_throttle(struct onramp_sched *q, struct onramp_flow *f, u64 wake_ns);
void onramp_flow_wake_at(struct onramp_sched *q, struct onramp_flow *f, u64 wake_ns);
void onramp_flow_unthrottle(struct onramp_sched *q, struct onramp_flow *f);

/* -- a flow and its control block (onramp_attach.c) --------------------------- */

void onramp_attach(struct onramp_sched *q, struct onramp_flow *f, struct sk_buff *skb, u64 now_ns);
void onramp_detach(struct onramp_sched *q, struct onramp_flow *f);
void onramp_wake_kicked(struct onramp_sched *q);

/* -- the rest ----------------------------------------------------------------- */

/* onramp_stat.c */
int onramp_stat_dump(struct Qdisc *sch, struct gnet_dump *d);

/* onramp_sched.c */
extern struct Qdisc_ops onramp_qdisc_ops;

#endif /* ONRAMP_SCHED_H */
