// SPDX-License-Identifier: GPL-2.0
/*
 * What the burst governor took from a socket, given back when nobody governs it any more:
 * the option was switched off, the flow was forgotten, the qdisc goes.  A connection that
 * lives on would otherwise keep its small bursts for ever.
 */
#include <net/tcp.h>

#include "onramp_ctl.h"

/* ctl->lock is held, or nobody else has the control block.  A limit that somebody else set
 * since is not ours to change.
 */
void onramp_return_to(struct onramp_ctl *ctl, struct sock *sk)
{
	cmpxchg(&sk->sk_gso_max_size, ctl->gso_set, ctl->gso_before);
	ctl->gso_set = 0;
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
	sk = onramp_packet_socket(&ctl->key, ctl->bound_if);
	if (sk) {
		if (sk_fullsock(sk))
			onramp_return_to(ctl, sk);
		sock_gen_put(sk);
	}
	rcu_read_unlock();
}
