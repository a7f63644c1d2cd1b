// SPDX-License-Identifier: GPL-2.0
/*
 * The way back of each connection (timely_forward.h), for those whose namespace has
 * signal=forward and whose peer sends timestamps.
 *
 * A socket's private part has no room for it, so a table has it, by the address of the
 * socket.  The module makes it at the first ACK that needs it, and frees it when the socket
 * leaves this congestion control.  Without memory for it a connection uses its RTT (TIMELY15).
 */
#include <linux/hash.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "compat/account.h"
#include "timely_completion.h"
#include "timely_forward.h"
#include "timely_signal.h"

struct timely_way {
	const struct sock *sk;		/* the key; never dereferenced */
	struct rhash_head node;		/* the table's locks */
	struct timely_forward forward;	/* the socket's lock */
	struct rcu_head rcu;
};

static struct rhashtable timely_ways;

/* No peer chooses the addresses of sockets, so a multiplication spreads them well enough. */
static u32 timely_way_hash(const void *key, u32 bytes, u32 seed)
{
	return (((u64)*(const unsigned long *)key ^ seed) * GOLDEN_RATIO_64) >> 32;
}

static const struct rhashtable_params timely_way_params = {
	.key_len = sizeof_field(struct timely_way, sk),
	.key_offset = offsetof(struct timely_way, sk),
	.head_offset = offsetof(struct timely_way, node),
	.hashfn = timely_way_hash,
	.automatic_shrinking = true,
};

static struct timely_way *timely_way_new(const struct sock *sk)
{
	struct timely_way *way = tp_sk_zalloc(sizeof(*way), sk);

	if (!way)
		return NULL;
	way->sk = sk;
	if (rhashtable_insert_fast(&timely_ways, &way->node, timely_way_params)) {
		kfree(way);
		return NULL;
	}
	return way;
}

/* The socket is locked, so no other CPU makes its way or takes it away. */
static struct timely_way *timely_way_get(const struct sock *sk)
{
	struct timely_way *way = rhashtable_lookup(&timely_ways, &sk, timely_way_params);

	return way ?: timely_way_new(sk);
}

/* RCU read side, for an ACK with an RTT.  Fills in the queueing delay of its way back; false:
 * that is not known.
 */
bool timely_forward_ack(const struct sock *sk, const struct rate_sample *rs,
			struct timely_ack *a)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct timely_forward_ack ack;
	long least_us = tcp_min_rtt(tp);
	struct timely_way *way;

	if (!tp->rx_opt.saw_tstamp || rs->rtt_us < least_us)
		return false;
	way = timely_way_get(sk);
	if (!way)
		return false;
	ack.now_ns = tp->tcp_clock_cache;
	ack.now_us = tp->tcp_mstamp;
	ack.tsval = tp->rx_opt.rcv_tsval;
	ack.excess_us = rs->rtt_us - least_us;
	return timely_forward_back(&way->forward, &ack, &a->back_ns);
}

void timely_forward_forget(const struct sock *sk)
{
	struct timely_way *way;

	rcu_read_lock();
	way = rhashtable_lookup(&timely_ways, &sk, timely_way_params);
	if (way && !rhashtable_remove_fast(&timely_ways, &way->node, timely_way_params))
		kfree_rcu(way, rcu);
	rcu_read_unlock();
}

int timely_forward_table_init(void)
{
	return rhashtable_init(&timely_ways, &timely_way_params);
}

/* The last socket has left. */
void timely_forward_table_exit(void)
{
	rhashtable_destroy(&timely_ways);
}
