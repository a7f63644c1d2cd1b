/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a namespace has (onramp_net.c).  onramp_hook.c makes and frees it.  Model: ONRAMP21.
 */
#ifndef ONRAMP_NET_H
#define ONRAMP_NET_H

#include <linux/percpu.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "include/uapi/turnpike.h"
#include "onramp_hook.h"
#include "orack/orack_acking.h"
#include "orack/orack_clock.h"
#include "orack/orack_hearing.h"
#include "orack/orack_leave.h"
#include "orack/orack_peer.h"
#include "orack/orack_price_net.h"
#include "orack/orack_socket.h"

struct onramp_paths;
struct orack_cpu;
struct orack_keys;

/* A processor's counts, by enum onramp_stat. */
struct orack_counts {
	u64 of[ONRAMP_STATS];
};

/* A namespace's state: each file declares its part. */
struct onramp_net {
	struct net *net;			/* constant */
	struct onramp_hook_net hook;
	struct orack_socket_net socket;
	struct orack_cpu __percpu *acker;	/* as long as there are users */
	struct orack_keys __rcu *keys;		/* NULL: none; RTNL writes */
	struct orack_acking_net acking;
	struct orack_hearing_net hearing;
	struct orack_clock_net clock;
	struct orack_price_net price;
	atomic_t ctls;				/* control blocks */
	struct orack_peer_net peers;
	struct orack_leave_net leave;
	struct orack_counts __percpu *counts;	/* since the first user; RTNL writes */
	struct onramp_paths *paths;		/* since the first user; RTNL writes */
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

static inline void orack_count_add(struct onramp_net *on, enum onramp_stat stat, u64 value)
{
	this_cpu_add(on->counts->of[stat], value);
}

#endif /* ONRAMP_NET_H */
