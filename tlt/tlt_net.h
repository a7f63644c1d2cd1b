/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What TLT (TLT21) has for a network namespace: what is set, its flows and its counters.
 */
#ifndef TLT_NET_H
#define TLT_NET_H

#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/rhashtable.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>

#include "include/uapi/turnpike.h"

struct tlt_config;

struct tlt_stats {
	u64 count[TLT_STATS];
};

/* State of a network namespace. */
struct tlt_net {
	struct tlt_config __rcu *config;	/* NULL: off; written under mutex */
	struct tlt_stats __percpu *stats;
	struct rhashtable flows;		/* by the socket's address */
	struct delayed_work reaper;		/* forgets silent flows */
	atomic_t deferred;			/* number of queued flows */
	struct mutex mutex;			/* guards hooks and config */
	bool hooked;				/* under mutex */
	struct nf_hook_ops hooks[4];		/* of both families; constant while hooked */
	struct net *net;
};

extern unsigned int tlt_net_id;

static inline struct tlt_net *tlt_net(const struct net *net)
{
	return net_generic(net, tlt_net_id);
}

static inline void tlt_count(const struct tlt_net *tn, int stat)
{
	this_cpu_inc(tn->stats->count[stat]);
}

static inline void tlt_count_add(const struct tlt_net *tn, int stat, u64 value)
{
	this_cpu_add(tn->stats->count[stat], value);
}

#endif /* TLT_NET_H */
