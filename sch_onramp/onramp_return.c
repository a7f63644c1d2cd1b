// SPDX-License-Identifier: GPL-2.0
/*
 * Gives back what the burst governor took from a socket, when the governor ends: the operator
 * switched it off, the flow is forgotten, the qdisc goes.  Otherwise a connection that lives on
 * would keep its small bursts for ever.  Not in ONRAMP21.
 */
#include <net/tcp.h>

#include "onramp_ctl.h"

/* ctl->lock is held, or the last reference is gone.  A limit that another writer set since is not
 * ours to change.
 */
void onramp_return_to(struct onramp_ctl *ctl, struct sock *sk)
{
	cmpxchg(&sk->sk_gso_max_size, ctl->gso_set, ctl->gso_before);
	ctl->gso_set = 0;
}

/* The last reference to @ctl is gone.  Its namespace is not: a device of it, or a packet of its
 * sockets, brought us here.
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
