// SPDX-License-Identifier: GPL-2.0
/*
 * What the burst governor took from a socket, given back when nobody governs it any more:
 * the option was switched off, the flow was forgotten, the qdisc goes.  A connection that
 * lives on would otherwise keep its small bursts for ever.
 */
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/tcp.h>

#include "onramp.h"

/* ctl->lock is held, or nobody else has the control block.  A limit that somebody else set
 * since is not ours to change.
 */
void onramp_return_to(struct onramp_ctl *ctl, struct sock *sk)
{
	cmpxchg(&sk->sk_gso_max_size, ctl->gso_set, ctl->gso_before);
	ctl->gso_set = 0;
}

/* The key has our own end as source. */
static struct sock *onramp_return_find(const struct onramp_ctl *ctl)
{
	const struct onramp_key *key = &ctl->key;
	struct net *net = read_pnet(&key->net);
	struct inet_hashinfo *hashinfo = net->ipv4.tcp_death_row.hashinfo;

#if IS_ENABLED(CONFIG_IPV6)
	if (!ipv6_addr_v4mapped(&key->daddr))
		return __inet6_lookup_established(net, hashinfo, &key->daddr, key->dport,
						  &key->saddr, ntohs(key->sport),
						  ctl->bound_if, 0);
#endif
	return __inet_lookup_established(net, hashinfo, key->daddr.s6_addr32[3], key->dport,
					 key->saddr.s6_addr32[3], ntohs(key->sport),
					 ctl->bound_if, 0);
}

/* The last reference to @ctl is gone.  Its namespace is not: a device of it, or a packet
 * of one of its sockets, is why we are here.
 */
void onramp_return(struct onramp_ctl *ctl)
{
	struct sock *sk;

	if (!ctl->gso_set)
		return;
	rcu_read_lock();
	sk = onramp_return_find(ctl);
	if (sk) {
		if (sk_fullsock(sk))
			onramp_return_to(ctl, sk);
		sock_gen_put(sk);
	}
	rcu_read_unlock();
}
