/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of sch_onramp.ko share.
 *
 * Locks: the qdisc's lock guards struct onramp_sched and its flows; the control block
 * of a flow has a lock of its own, taken inside the former, and by feedback alone.
 */
#ifndef ONRAMP_H
#define ONRAMP_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/llist.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "include/uapi/turnpike.h"
#include "include/turnpike_base.h"
#include "include/turnpike_tick.h"
#include "onramp_bound.h"
#include "onramp_burst.h"
#include "onramp_departure.h"
#include "onramp_drain.h"
#include "onramp_excess.h"
#include "onramp_flight.h"
#include "onramp_hist.h"
#include "onramp_noise.h"
#include "onramp_pause.h"
#include "onramp_quota.h"
#include "onramp_release.h"

/* -- options (onramp_option.c) --------------------------------------------- */

/* All settings.  Changed as a whole under the qdisc's lock.  Feedback reads its part
 * without: for one sample it may see old and new ones together, each of them valid.
 */
struct onramp_config {
	/* fq's */
	u32 limit;
	u32 flow_limit;
	u32 quantum;
	u32 initial_quantum;
	u32 refill_delay;		/* jiffies */
	u32 orphan_mask;
	u32 timer_slack_ns;
	u32 buckets_log;
	u64 max_rate;			/* bytes per second; ~0: none */
	u64 low_rate;			/* bytes per second */
	u64 ce_threshold_ns;
	u64 horizon_ns;
	u64 offload_ns;			/* the device takes packets so long before their time */
	s32 weights[TP_FQ_BANDS];
	u8 prio2band[TC_PRIO_MAX + 1];
	bool horizon_drop;
	bool pacing;
	/* On-Ramp's */
	bool pause_on;
	bool governor;
	u8 feedback;			/* ONRAMP_FEEDBACK_ */
	u8 gate;			/* ONRAMP_GATE_ */
	u64 feedback_timeout_ns;
	u64 line_rate;			/* bytes per second; 0: ask the device */
	struct onramp_pause_params pause;
};

/* -- the line (onramp_line.c) ---------------------------------------------- */

enum onramp_bql {
	ONRAMP_BQL_UNKNOWN,
	ONRAMP_BQL_YES,
	ONRAMP_BQL_NO,
};

/* The device's wire.  Under the qdisc's lock, but for what the notifier writes. */
struct onramp_line {
	u64 rate;			/* bytes per second, 0: not known; RTNL writes */
	u32 mult;			/* ns per byte << ONRAMP_LINE_SHIFT; RTNL writes */
	bool real;			/* the device is hardware; set once */
	bool gated;			/* the gate is in use */
	u8 bql;				/* enum onramp_bql */
	u8 looks;			/* packets without a sign of BQL so far */
	u64 free_ns;			/* the line is busy until then */
	struct list_head stale;		/* with those whose rate the worker is to ask for; RTNL */
	struct hlist_node node;		/* with those of the same device; RTNL */
};

#define ONRAMP_LINE_SHIFT	20

/* -- flows (onramp_flow.c) -------------------------------------------------- */

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
	u32 socket_hash;		/* to notice that a socket is a new one */
	int qlen;

	int credit;
	u8 band;
	bool held;			/* its first packet met a pause */
	bool pace_anew;			/* was paused: its packets' times are in the past */
	bool asked;			/* asked_at is valid */
	u8 source;			/* of ctl, as it is counted */
	struct onramp_flow *next;	/* in a list; ONRAMP_THROTTLED: in the tree */
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

enum onramp_source {
	ONRAMP_SOURCE_NONE,
	ONRAMP_SOURCE_TCPTS,		/* microsecond TCP timestamps */
	ONRAMP_SOURCE_ORACK,		/* receipts of the peer */
	ONRAMP_SOURCES,
};

/* What is left where the peer's timestamps turn out not to be in microseconds. */
static inline enum onramp_source onramp_source_instead(const struct onramp_config *c)
{
	return c->feedback == ONRAMP_FEEDBACK_AUTO ? ONRAMP_SOURCE_ORACK : ONRAMP_SOURCE_NONE;
}

/* What feedback counts, without the qdisc's lock: a processor's, so that no ACK waits. */
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
	u64 note_ns;			/* a destination is noted for OR-ACKs not before then */
	bool left_behind;		/* held data may be queued that no pause holds any more */
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

enum onramp_kind {
	ONRAMP_PLAIN,			/* fq's rules and nothing else */
	ONRAMP_DATA,			/* held while the path is overloaded */
	ONRAMP_BEHIND,			/* a FIN: never held, never before its data */
	ONRAMP_AHEAD,			/* a pure ACK or RST: overtakes held data */
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

/* Idle for so long, a flow's connection is likely to be over; what fq has. */
#define ONRAMP_GC_AGE		(3 * HZ)

static inline bool onramp_flow_is_old(const struct onramp_flow *f)
{
	return onramp_flow_is_idle(f) && time_after(jiffies, f->idle + ONRAMP_GC_AGE);
}

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

/* -- control (onramp_ctl.c) -------------------------------------------------- */

/* A connection as the socket has it. */
struct onramp_key {
	possible_net_t net;
	struct in6_addr saddr;		/* IPv4 is mapped */
	struct in6_addr daddr;
	__be16 sport;
	__be16 dport;
	u32 pad;
};

/* What became of a flow, for those who look at it (orack_genl_flow.c). */
struct onramp_tally {
	u64 sampled_ns;			/* newest sample; valid if there are any */
	u64 samples;
	u64 pauses;			/* of the samples: asked for one */
	u64 held_packets;
	u64 held_ns;			/* time they were kept, together */
	struct onramp_recent delay;
};

/* What pausing needs to know of a connection.  Flows of several queues of a device may
 * share one.
 */
struct onramp_ctl {
	struct rhash_head node;
	struct onramp_key key;		/* constant */
	refcount_t refs;		/* flows that refer to it */
	int bound_if;			/* constant: device that the socket is bound to */
	spinlock_t lock;		/* guards the rest */
	u8 source;			/* enum onramp_source */
	bool coarse;			/* receipts, since timestamps are not in us; lockless readers */
	bool mute;			/* nothing came of the source since it was changed to */
	u32 birth_seq;			/* tells connections of the same ports apart */
	struct onramp_flow *flow;	/* that sent last; NULL: gone */
	struct onramp_sched *sched;	/* of flow */
	struct llist_node kick;
	bool kicked;			/* in sched->kicked */

	/* another connection of the key begins these anew, and flight */
	struct_group(of_connection,
		u32 mss;			/* of the newest packet */
		u32 gso_set, gso_before;	/* governor: what it wrote, and over what; 0: nothing */
		u64 heard_ns;			/* last feedback */
		u64 drained_ns;			/* last time it stopped for the queue to empty */
		u32 edge_seq;			/* newest data there was feedback on */
		u32 receipt_seq;		/* newest data that was receipted */
		u32 least_rtt_ns;		/* TCP's, until a receipt took it; 0: unknown */
		u32 ts_ref;			/* raw delay that counts as 0, us modulo 2^32 */
		bool ts_known;			/* ts_ref is valid */
		struct tp_tick tick;		/* of the peer's timestamps */
		struct onramp_bound bound;
		struct onramp_pause pause;
		struct onramp_noise noise;	/* by which delay it is judged */
		struct onramp_tally tally;
		struct tp_base base;
		struct onramp_gap gap;		/* what base has of standing queue */
		struct orack_source leaves;	/* whose times departures are: nic, or the qdisc's */
	);
	struct rcu_head rcu;
	struct onramp_flight flight;
};

/* When the packet left, for whoever makes a delay of it. */
struct onramp_departure {
	u64 tx_ns;			/* of the byte asked for, CLOCK_MONOTONIC */
	bool wire;			/* by the NIC's stamp, off by ORACK_NIC_ERROR_NS at most */
	bool unstamped;			/* not told, since that stamp is missing */
};

int onramp_ctl_init(void);
void onramp_ctl_exit(void);
bool onramp_ctl_serves(const struct onramp_ctl *ctl, const struct sock *sk);
struct onramp_ctl *onramp_ctl_lookup(const struct onramp_key *key);
struct onramp_ctl *onramp_ctl_get(const struct onramp_key *key);
void onramp_ctl_put(struct onramp_ctl *ctl);
struct onramp_ctl *onramp_ctl_make(struct onramp_sched *q, const struct onramp_key *key,
				   const struct sock *sk, u32 seq, u64 now_ns);
int onramp_ctl_insert(struct onramp_ctl *ctl);
void onramp_ctl_renew(struct onramp_ctl *ctl, const struct onramp_sched *q, struct sock *sk,
		      u32 seq, u64 now_ns);
struct rhashtable *onramp_ctl_table(void);
u32 onramp_ctl_enqueued(struct onramp_sched *q, struct onramp_flow *f, struct sock *sk, u64 now_ns);
u64 onramp_ctl_until(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns);
void onramp_ctl_sent(struct onramp_sched *q, struct onramp_flow *f, struct sk_buff *skb,
		     bool late, u64 now_ns);

/* The two functions through which every feedback source works; the caller holds
 * ctl->lock and made sure that ctl->sched is not NULL.
 *
 * onramp_ctl_departure() tells when the byte before @end_seq left, or false when that is
 * not known, ambiguous or never happened; it is called once a sample.  onramp_ctl_sample()
 * then takes its delay: the queueing delay, or with synchronized clocks the one-way delay.
 * A source that knows of a cumulative acknowledgement calls onramp_flight_acked() afterwards.
 */
bool onramp_ctl_departure(struct onramp_ctl *ctl, u32 end_seq, u64 now_ns,
			  struct onramp_departure *d);
void onramp_ctl_sample(struct onramp_ctl *ctl, u32 end_seq, u64 owd_ns, u64 now_ns);
void onramp_ctl_drain(struct onramp_ctl *ctl, u64 now_ns, u64 pause_ns);

/* The peer's timestamps are no use; @instead is what is left. */
void onramp_ctl_coarse(struct onramp_ctl *ctl, enum onramp_source instead, u64 now_ns);

/* -- a flow and its control block (onramp_attach.c) --------------------------- */

void onramp_attach(struct onramp_sched *q, struct onramp_flow *f, struct sk_buff *skb, u64 now_ns);
void onramp_detach(struct onramp_sched *q, struct onramp_flow *f);
void onramp_wake_kicked(struct onramp_sched *q);

/* -- which feedback a connection has (onramp_feedback.c) ---------------------- */

bool onramp_feedback_wanted(struct onramp_sched *q, const struct sk_buff *skb, u64 now_ns);
enum onramp_source onramp_feedback_ask(struct onramp_sched *q, const struct sock *sk,
				       const struct onramp_key *key, u64 now_ns);
void onramp_feedback_set(struct onramp_ctl *ctl, const struct onramp_sched *q,
			 const struct sock *sk, enum onramp_source source);
void onramp_feedback_adopt(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns);
void onramp_feedback_begin(struct onramp_sched *q, const struct onramp_key *key,
			   enum onramp_source source, u64 now_ns);
void onramp_feedback_sent(struct onramp_sched *q, const struct onramp_ctl *ctl,
			  const struct sk_buff *skb, u64 now_ns);

/* -- sources of feedback ------------------------------------------------------ */

/* TCP that arrived for this host, SYN and RST left out. */
struct onramp_arrival {
	struct onramp_key key;		/* our end is the source */
	u32 seq;
	u32 payload;			/* bytes */
	u8 tos;				/* without ECN */
};

/* onramp_hook.c: netfilter */
int onramp_hook_get(struct onramp_net *on);
void onramp_hook_put(struct onramp_net *on);
int onramp_hook_set_port(struct onramp_net *on, u16 port);
int onramp_hook_init(void);
void onramp_hook_exit(void);

/* onramp_tcpts.c: ACKs, and microsecond TCP timestamps */
void onramp_tcpts_arrived(const struct tcphdr *th, const struct onramp_arrival *a);

/* -- packets (onramp_packet.c) ------------------------------------------------ */

struct onramp_segment {
	u32 seq;
	u32 payload;
};

enum onramp_kind onramp_packet_kind(const struct sk_buff *skb, struct onramp_segment *seg);
void onramp_packet_key(const struct sock *sk, struct onramp_key *key);
struct sock *onramp_packet_socket(const struct onramp_key *key, int ifindex);

/* -- the rest ----------------------------------------------------------------- */

/* onramp_path.c: what flows to a destination learned, for those that come */
struct onramp_path_visit {
	struct onramp_path_set *set;
	struct onramp_path *path;	/* NULL: another flow is there; nothing is known */
};

int onramp_path_open(struct onramp_net *on);
void onramp_path_close(struct onramp_net *on);
void onramp_path_enter(struct onramp_path_visit *v, const struct onramp_key *key, u64 now_ns);
void onramp_path_leave(const struct onramp_path_visit *v);
bool onramp_path_excess_ns(const struct onramp_path_visit *v, u64 rtt_ns, u64 now_ns,
			   u64 *excess_ns);
bool onramp_path_base_us(const struct onramp_path_visit *v, u64 now_ns, u32 *base_us);
u64 onramp_path_drain_ns(const struct onramp_path_visit *v, const struct onramp_ctl *ctl,
			 u64 queue_ns, bool lowered, u64 now_ns);
void onramp_path_learn(const struct onramp_path_visit *v, const struct onramp_ctl *ctl, u64 now_ns);
u64 onramp_path_until_ns(const struct onramp_key *key);
void onramp_path_set_coarse(const struct onramp_key *key, u64 now_ns);
bool onramp_path_is_coarse(const struct onramp_key *key, u64 now_ns);

/* onramp_burst.c: the burst governor; f->ctl->lock is held */
void onramp_burst_govern(struct onramp_sched *q, const struct onramp_flow *f, struct sock *sk);

/* onramp_return.c: what the governor took from a socket, given back */
void onramp_return_to(struct onramp_ctl *ctl, struct sock *sk);
void onramp_return(struct onramp_ctl *ctl);

/* onramp_line.c */
int onramp_line_init(void);
void onramp_line_exit(void);
void onramp_line_add(struct onramp_sched *q);
void onramp_line_del(struct onramp_sched *q);
void onramp_line_refresh(struct onramp_sched *q);
void onramp_line_advise(const struct onramp_sched *q, struct netlink_ext_ack *extack);
void onramp_line_look(struct onramp_sched *q, const struct sk_buff *skb);
void onramp_line_sent(struct onramp_sched *q, const struct sk_buff *skb, u64 now_ns);

static inline u64 onramp_line_ns(const struct onramp_line *line, u32 bytes)
{
	return ((u64)READ_ONCE(line->mult) * bytes) >> ONRAMP_LINE_SHIFT;
}

/* onramp_option.c */
void onramp_option_default(struct onramp_config *c, const struct net_device *dev);
int onramp_option_parse(struct onramp_config *c, const struct net_device *dev,
			struct nlattr *opt, struct netlink_ext_ack *extack);
int onramp_option_feedback(const struct onramp_config *c, int port_err,
			   struct netlink_ext_ack *extack);
int onramp_option_dump(const struct onramp_sched *q, struct sk_buff *skb);

/* onramp_stat.c */
int onramp_stat_dump(struct Qdisc *sch, struct gnet_dump *d);

/* onramp_sched.c */
extern struct Qdisc_ops onramp_qdisc_ops;

#endif /* ONRAMP_H */
