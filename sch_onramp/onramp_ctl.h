/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control block of a connection, and the controller (onramp_ctl.c).  Model: ONRAMP21.
 */
#ifndef ONRAMP_CTL_H
#define ONRAMP_CTL_H

#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>

#include "onramp_bound.h"
#include "onramp_departure.h"
#include "onramp_flight.h"
#include "onramp_hist.h"
#include "onramp_noise.h"
#include "onramp_packet.h"
#include "onramp_pause.h"
#include "onramp_source.h"
#include "onramp_tcpts.h"
#include "orack/orack_receive.h"
#include "orack/orack_stamper.h"

struct onramp_flow;
struct onramp_sched;

/* What happened to a flow, for orack_genl_flow.c to show. */
struct onramp_flow_stats {
	u64 sampled_ns;			/* newest sample; valid if there are any */
	u64 samples;
	u64 pauses;			/* of the samples, those that asked for one */
	u64 held_packets;
	u64 held_ns;			/* sum of their holds */
	struct onramp_recent delay;
};

/* What pausing needs to know of a connection.  Flows of several queues of a device may share it. */
struct onramp_ctl {
	struct rhash_head node;
	struct onramp_key key;		/* constant */
	refcount_t refs;		/* flows that refer to it */
	int bound_if;			/* constant: device that the socket is bound to */
	spinlock_t lock;		/* guards the rest */
	u8 source;			/* enum onramp_source */
	bool coarse;			/* timestamps are not in us, so not used; lockless */
	bool mute;			/* the source changed, and gave no feedback yet */
	u32 birth_seq;			/* tells connections of the same ports apart */
	struct onramp_flow *flow;	/* that sent last; NULL: gone */
	struct onramp_sched *sched;	/* of flow */
	struct llist_node kick;
	bool kicked;			/* in sched->kicked */

	/* another connection of the key begins these and flight anew */
	struct_group(of_connection,
		u32 mss;			/* of the newest packet */
		u32 gso_set, gso_before;	/* governor: what it wrote, over what; 0: nothing */
		u64 feedback_ns;		/* last feedback */
		u64 drained_ns;			/* when it last stopped for a drain */
		u32 edge_seq;			/* newest data with feedback */
		struct orack_feedback orack;	/* of feedback by receipts */
		struct onramp_bound bound;
		struct onramp_pause pause;
		struct onramp_noise noise;	/* which delay judges it */
		struct onramp_flow_stats stats;
		struct onramp_tcpts tcpts;	/* of feedback by timestamps */
		struct orack_stamper stamper;	/* who times its departures: NIC or qdisc */
	);
	struct rcu_head rcu;
	struct onramp_flight flight;
};

/* When the packet left, for a source to make a delay of. */
struct onramp_departure {
	u64 tx_ns;			/* of the byte asked for, CLOCK_MONOTONIC */
	bool nic;			/* the NIC's stamp, ORACK_NIC_ERROR_NS off at most */
	bool unstamped;			/* not known: the NIC's stamp is missing */
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

/* Every feedback source has delays judged by these two functions.  The caller holds ctl->lock, and
 * ctl->sched is not NULL.
 *
 * onramp_ctl_departure() tells when the byte before @end_seq left.  It returns false when that is
 * unknown, ambiguous or never happened.  A source calls it once a sample, then
 * onramp_ctl_sample() with the queueing delay.
 * A source that sees a cumulative ACK calls onramp_flight_acked() afterwards.
 */
bool onramp_ctl_departure(struct onramp_ctl *ctl, u32 end_seq, u64 now_ns,
			  struct onramp_departure *d);
void onramp_ctl_sample(struct onramp_ctl *ctl, u32 end_seq, u64 delay_ns, u64 now_ns);
void onramp_ctl_drain(struct onramp_ctl *ctl, u64 now_ns, u64 pause_ns);

/* For tcp_timely (include/onramp_hold.h). */
u32 onramp_ctl_hold_ns(const struct sock *sk, u32 end_seq);

/* The peer's timestamps are of no use; the flow changes to source @instead. */
void onramp_ctl_coarse(struct onramp_ctl *ctl, enum onramp_source instead, u64 now_ns);

/* onramp_burst.c: the burst governor; f->ctl->lock is held */
void onramp_burst_govern(struct onramp_sched *q, const struct onramp_flow *f, struct sock *sk);

/* onramp_return.c: what the governor took from a socket, given back */
void onramp_return_to(struct onramp_ctl *ctl, struct sock *sk);
void onramp_return(struct onramp_ctl *ctl);

#endif /* ONRAMP_CTL_H */
