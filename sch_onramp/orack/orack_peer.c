// SPDX-License-Identifier: GPL-2.0
/*
 * The hosts on the other side: how the module finds, enters and removes one.
 *
 *      orack_acking.c   those that we send data to: we ask them for receipts
 *      orack_hearing.c  those that send data to us: they ask us
 *      orack_round.c    workers that look at all of them
 *
 * Most hosts are both.  Model: On-Ramp (ONRAMP21).
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat/account.h"
#include "orack_peer.h"
#include "sch_onramp/onramp_net.h"
#include "sch_onramp/onramp_quota.h"

/* For all namespaces but the first: one alone may still have ORACK_PEERS_MAX. */
#define ORACK_PEERS_OTHERS	(2 * ORACK_PEERS_MAX)

static struct kmem_cache *orack_peer_cache;
static struct rhashtable orack_peers;
static atomic_t orack_peer_others = ATOMIC_INIT(0);	/* of all namespaces but the first */

static const struct rhashtable_params orack_peer_params = {
	.key_len = sizeof(struct orack_pair),
	.key_offset = offsetof(struct orack_peer, pair),
	.head_offset = offsetof(struct orack_peer, node),
	.automatic_shrinking = true,
};

/* Caller holds the RCU read lock. */
struct orack_peer *orack_peer_find(const struct orack_pair *pair)
{
	return rhashtable_lookup(&orack_peers, pair, orack_peer_params);
}

static void orack_peer_free(struct rcu_head *head)
{
	kmem_cache_free(orack_peer_cache, container_of(head, struct orack_peer, rcu));
}

/* The peer came to the table, or left it.  on->peers.lock is held. */
static void orack_peer_account(struct onramp_net *on, int more)
{
	on->peers.count += more;
	if (!net_eq(on->net, &init_net))
		atomic_add(more, &orack_peer_others);
}

static bool orack_peer_has_quota(const struct onramp_net *on)
{
	bool first = net_eq(on->net, &init_net);

	return onramp_quota_has(first, on->peers.count, atomic_read(&orack_peer_others),
				first ? ORACK_PEERS_MAX : ORACK_PEERS_OTHERS);
}

/* @sk: of a connection with the pair; the memory is charged to it.  NULL: too many, no memory, or
 * another processor was faster, whose peer is found next time.
 */
struct orack_peer *orack_peer_make(struct onramp_net *on, const struct orack_pair *pair,
				   const struct sock *sk)
{
	struct orack_peer *peer = NULL;

	spin_lock_bh(&on->peers.lock);
	if (!orack_peer_has_quota(on)) {
		if (!on->peers.crowded)
			mod_delayed_work(system_highpri_wq, &on->peers.work, 0);
		WRITE_ONCE(on->peers.crowded, true);
		goto out;
	}
	peer = tp_sk_cache_alloc(orack_peer_cache, sk);
	if (!peer)
		goto out;
	memset(peer, 0, sizeof(*peer));
	peer->pair = *pair;
	spin_lock_init(&peer->lock);
	orack_acking_begin(&peer->acking);
	if (rhashtable_insert_fast(&orack_peers, &peer->node, orack_peer_params)) {
		kmem_cache_free(orack_peer_cache, peer);
		peer = NULL;
		goto out;
	}
	list_add_tail_rcu(&peer->list, &on->peers.list);
	orack_peer_account(on, 1);
out:
	spin_unlock_bh(&on->peers.lock);
	return peer;
}

/* on->peers.lock is held. */
void orack_peer_unlink(struct onramp_net *on, struct orack_peer *peer)
{
	rhashtable_remove_fast(&orack_peers, &peer->node, orack_peer_params);
	list_del_rcu(&peer->list);
	orack_peer_account(on, -1);
	call_rcu(&peer->rcu, orack_peer_free);
}

/* A link-local address belongs to a device; the socket knows which. */
void orack_peer_set_oif(struct orack_peer *peer, int oif)
{
	if (!(ipv6_addr_type(&peer->pair.remote) & IPV6_ADDR_LINKLOCAL))
		oif = 0;
	if (READ_ONCE(peer->oif) != oif)
		WRITE_ONCE(peer->oif, oif);
}

int orack_peer_init(void)
{
	int err = -ENOMEM;

	orack_peer_cache = kmem_cache_create("onramp_peer", sizeof(struct orack_peer), 0,
					     SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	if (!orack_peer_cache)
		return err;
	err = rhashtable_init(&orack_peers, &orack_peer_params);
	if (err)
		kmem_cache_destroy(orack_peer_cache);
	return err;
}

void orack_peer_exit(void)
{
	rcu_barrier();
	rhashtable_destroy(&orack_peers);
	kmem_cache_destroy(orack_peer_cache);
}
