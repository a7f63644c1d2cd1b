/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts that we ask for receipts (orack_acking.c).  Model: On-Ramp (ONRAMP21).
 */
#ifndef ORACK_ACKING_H
#define ORACK_ACKING_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>

#include "orack_absolute.h"
#include "orack_ask.h"
#include "orack_clock.h"
#include "orack_delay.h"
#include "orack_price.h"
#include "orack_relative.h"
#include "orack_sparse.h"
#include "sch_onramp/onramp_min_filter.h"
#include "sch_onramp/onramp_standing_queue.h"

struct onramp_key;
struct onramp_net;
struct orack_contact;
struct orack_peer;
struct sock;

/* Constant once in place; a new one replaces it (RCU). */
struct orack_asked {
	struct orack_prefixes of;
	struct rcu_head rcu;
};

/* Counters of peers by address: flows to all other hosts need no more than fq does. */
#define ORACK_ACKING_LOG	8
#define ORACK_ACKING		(1 << ORACK_ACKING_LOG)

/* In a namespace. */
struct orack_acking_net {
	struct orack_asked __rcu *asked;	/* whom we may ask; NULL: all; RTNL writes */
	atomic_t peers[ORACK_ACKING];	/* that send us receipts, by orack_acking_index() */
};

/* State of a host that we send data to.  The peer's lock guards writes, but for used and ports. */
struct orack_acking {
	unsigned long used;		/* jiffies | 1 of the last data, coarse; 0: never */
	__be16 sport, dport;		/* of that data's flow */
	unsigned long announced;	/* jiffies of our last announcement */
	u32 unanswered;			/* announcements since it showed that it has On-Ramp */
	bool answered;			/* it ever sent a receipt */
	unsigned long receipted;		/* jiffies of its last receipt that counted */
	bool acks;			/* it sends receipts; lockless readers */
	struct orack_relative relative;
	struct orack_absolute absolute;
	struct orack_clock_report report;
	struct orack_given_offset given;
	struct onramp_min_filter rtt;	/* least round trip, without the age in the entry */
	struct onramp_standing_queue standing;	/* in the clock's base */
	u64 window_ns;			/* start of the millisecond that is counted */
	u32 window_count;
	u64 receipts, samples, refused;
	struct orack_delay delay;
	struct orack_request request;
	bool request_now;			/* the worker is to tell it now */
	struct orack_price price;	/* of our flows to it */
};

static inline void orack_acking_begin(struct orack_acking *a)
{
	orack_relative_init(&a->relative);
	orack_absolute_init(&a->absolute);
	onramp_min_filter_init(&a->rtt);
	orack_request_all(&a->request, ktime_get_ns());
}

/* Long enough that repeats cost nothing.  Short enough that a host that loses its qdisc without
 * saying so soon gets no more receipts.
 */
#define ORACK_LIFETIME_MS	10000

/* With data within this time a host is in use, and we ask it again so often. */
#define ORACK_REFRESH		(3 * HZ)

/* After so long without data and receipts we forget a host. */
#define ORACK_IDLE		(60 * HZ)

void orack_peer_used(struct onramp_net *on, const struct onramp_key *key, const struct sock *sk);
void orack_peer_request_all(struct onramp_net *on, const struct onramp_key *key, u64 now_ns);
bool orack_peer_acks(const struct onramp_key *key);
bool orack_peer_may_ack(const struct onramp_net *on, const struct sock *sk);
void orack_peer_receipted(struct onramp_net *on, struct orack_peer *peer);
void orack_peer_contact(const struct orack_peer *peer, struct orack_contact *to);
bool orack_announce(struct onramp_net *on, const struct orack_contact *to, u32 lifetime_ms);
void orack_peer_ask_again(struct onramp_net *on);
bool orack_acking_is_silent(const struct orack_acking *a);
bool orack_peer_is_spare(const struct orack_peer *peer, unsigned long keep);
bool orack_peer_asks_now(struct orack_peer *peer, struct orack_contact *to);
void orack_peer_unsaid(struct orack_peer *peer);
void orack_peer_set_acks(struct onramp_net *on, struct orack_peer *peer, bool acks);
void orack_peer_expire_acks(struct onramp_net *on, struct orack_peer *peer);
u32 orack_peer_count_acking(struct onramp_net *on);
int orack_peer_set_asked(struct onramp_net *on, const struct orack_prefixes *of);
void orack_peer_drop_asked(struct onramp_net *on);
void orack_acking_init(void);

#endif /* ORACK_ACKING_H */
