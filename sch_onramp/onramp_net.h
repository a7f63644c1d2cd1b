/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a namespace has (onramp_net.c).  onramp_hook.c makes it and takes it away.
 */
#ifndef ONRAMP_NET_H
#define ONRAMP_NET_H

#include <linux/llist.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "include/uapi/turnpike.h"

struct onramp_paths;
struct orack_asked;
struct orack_contact;
struct orack_cpu;
struct orack_keys;

/* Counters of peers by their address: flows to all others need no more than fq does. */
#define ORACK_ACKING_LOG	8
#define ORACK_ACKING		(1 << ORACK_ACKING_LOG)

/* Of netfilter: one for each family. */
#define ONRAMP_HOOKS		(IS_ENABLED(CONFIG_IPV6) ? 2 : 1)

/* By enum onramp_stat, of a processor. */
struct orack_counts {
	u64 of[ONRAMP_STATS];
};

/* A namespace's. */
struct onramp_net {
	struct net *net;		/* constant */
	unsigned int users;		/* qdiscs that pause; RTNL */
	struct nf_hook_ops hooks[ONRAMP_HOOKS];	/* as long as there are; constant then */
	u16 port;			/* RTNL writes, anybody reads */
	int open_err;			/* why there is no socket; RTNL */
	struct sock __rcu *sk;		/* RTNL writes */
	struct orack_cpu __percpu *acker;	/* as long as there are users */
	struct orack_keys __rcu *keys;	/* NULL: none; RTNL writes */
	struct orack_asked __rcu *asked;	/* who may be; NULL: everybody; RTNL writes */
	atomic_t acking[ORACK_ACKING];	/* peers that send us receipts, by orack_acking_index() */
	atomic_t hearing;		/* peers that want receipts */
	atomic_t sparse;		/* of these, those that sparse ones are enough for */
	atomic_t all_requests;		/* times that one wanted all again */
	atomic_t arrived;		/* bytes of data while there were such, modulo 2^32 */
	/* RTNL writes, anybody reads */
	u32 error_ns;			/* bound of our CLOCK_REALTIME's error; 0: not known */
	unsigned long error_until;	/* jiffies | 1; 0: until it is taken back */
	u32 offsets;			/* peers whose clock's offset was given */
	struct list_head offset_list;	/* these; RTNL writes, RCU */
	atomic_t ctls;			/* control blocks */

	spinlock_t lock;		/* guards the next two; bottom halves off */
	struct list_head peers;
	u32 peer_count;
	bool crowded;			/* one had no place since the worker made some; any order */
	struct llist_head urgent;	/* peers to be asked at once, by the worker below */
	struct work_struct ask;
	struct delayed_work work;	/* announcements to all others, peers that are gone */
	struct work_struct leave;
	struct orack_contact *leaving;	/* to be told that nobody wants receipts; RTNL */
	u32 leaving_count;		/* RTNL */
	struct orack_counts __percpu *counts;	/* since the first user; RTNL writes */
	struct onramp_paths *paths;	/* since the first user; RTNL writes */
};

/* onramp_net.c */
extern unsigned int onramp_net_id;

int onramp_net_count(struct onramp_net *on);

static inline struct onramp_net *onramp_net(const struct net *net)
{
	return net_generic(net, onramp_net_id);
}

/* A host that only receives has none. */
static inline bool onramp_ctl_any(const struct onramp_net *on)
{
	return atomic_read(&on->ctls);
}

static inline void orack_count(struct onramp_net *on, enum onramp_stat stat)
{
	this_cpu_inc(on->counts->of[stat]);
}

static inline void orack_count_more(struct onramp_net *on, enum onramp_stat stat, u64 more)
{
	this_cpu_add(on->counts->of[stat], more);
}

#endif /* ONRAMP_NET_H */
