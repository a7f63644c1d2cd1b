/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hosts on the other side (orack_peer.c).  Model: On-Ramp (ONRAMP21).
 */
#ifndef ORACK_PEER_H
#define ORACK_PEER_H

#include <linux/llist.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "orack_acking.h"
#include "orack_hearing.h"
#include "orack_pair.h"
#include "orack_xmit.h"

/* Peers of a namespace: more than any rack has hosts; 15 MB. */
#define ORACK_PEERS_MAX		16384

/* How often the worker looks at all peers, and how exact acking.used has to be. */
#define ORACK_TICK		(HZ / 4)

struct orack_peer {
	struct rhash_head node;
	struct orack_pair pair;		/* constant */
	struct list_head list;		/* in on->peers.list */
	struct llist_node ask;		/* in on->peers.urgent */
	bool urgent;			/* it is in the list, or with the worker; lock */
	struct rcu_head rcu;
	struct orack_acking acking;	/* we send data to it */
	struct orack_hearing hearing;	/* it sends data to us */
	int oif;			/* for link-local addresses: its device, else 0 */
	bool removed;
	spinlock_t lock;		/* bottom halves off; inside that of a flow */
};

/* In a namespace. */
struct orack_peer_net {
	spinlock_t lock;		/* guards the next two; bottom halves off */
	struct list_head list;
	u32 count;
	bool crowded;			/* a peer found no place since it made some; any order */
	struct llist_head urgent;	/* peers to ask at once, by the worker below */
	struct work_struct ask;
	struct delayed_work work;	/* announcements to all others, peers that are gone */
};

static inline void orack_peer_address(const struct orack_peer *peer, struct orack_packet *p)
{
	orack_address(&peer->pair, READ_ONCE(peer->oif), p);
}

struct orack_peer *orack_peer_find(const struct orack_pair *pair);
struct orack_peer *orack_peer_make(struct onramp_net *on, const struct orack_pair *pair,
				   const struct sock *sk);
void orack_peer_unlink(struct onramp_net *on, struct orack_peer *peer);
void orack_peer_set_oif(struct orack_peer *peer, int oif);
int orack_peer_init(void);
void orack_peer_exit(void);

#endif /* ORACK_PEER_H */
