// SPDX-License-Identifier: GPL-2.0
/*
 * The flows that a consumer follows (TIMELY15), by socket (transmit, consumer) and by addresses
 * and ports (receive, where no socket is known yet). A received packet cannot tell two sockets
 * of the same addresses, in two namespaces, apart: nicstamp refuses the second. Stamps of
 * another NIC than the first one's have another clock, and never mix with these.
 *
 * The parameter max_flows bounds them: further flows get no stamps, and a counter tells. Flows
 * outside the first network namespace get half of that at most: any user can make some.
 */
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat/account.h"
#include "nicstamp_flow.h"
#include "nicstamp_port.h"

/* 1.5 KB each: 24 MB at most. With more flows there are few samples for each. */
static unsigned int max_flows = 16384;
module_param(max_flows, uint, 0444);
MODULE_PARM_DESC(max_flows, "most flows whose stamps are matched, 16 to 1048576 (16384)");

static DEFINE_SPINLOCK(nicstamp_flow_lock);	/* writers of both tables; bottom halves off */
static struct hlist_head *nicstamp_by_socket;
static struct hlist_head *nicstamp_by_tuple;
static u32 nicstamp_flow_bits;
static u32 nicstamp_flow_seed;
static atomic_t nicstamp_flow_count;
static atomic_t nicstamp_flow_others;	/* of these: not of the first namespace */

static struct hlist_head *nicstamp_socket_bucket(const struct sock *sk)
{
	return &nicstamp_by_socket[hash_ptr(sk, nicstamp_flow_bits)];
}

/* The remote end chooses part of the tuple, hence the seed. */
static struct hlist_head *nicstamp_tuple_bucket(const struct nicstamp_tuple *tuple)
{
	u32 hash;

	BUILD_BUG_ON(sizeof(*tuple) % sizeof(u32));
	hash = jhash2((const u32 *)tuple, sizeof(*tuple) / sizeof(u32), nicstamp_flow_seed);
	return &nicstamp_by_tuple[hash >> (32 - nicstamp_flow_bits)];
}

bool nicstamp_flow_any(void)
{
	return atomic_read(&nicstamp_flow_count);
}

u32 nicstamp_flow_buckets(void)
{
	return 1U << nicstamp_flow_bits;
}

struct hlist_head *nicstamp_flow_bucket(u32 i)
{
	return &nicstamp_by_socket[i];
}

/* Valid until the RCU read side ends. */
struct nicstamp_flow *nicstamp_flow_of_socket(const struct sock *sk)
{
	struct nicstamp_flow *flow;

	hlist_for_each_entry_rcu(flow, nicstamp_socket_bucket(sk), by_socket,
				 lockdep_is_held(&nicstamp_flow_lock)) {
		if (flow->sk == sk)
			return flow;
	}
	return NULL;
}

struct nicstamp_flow *nicstamp_flow_of_tuple(const struct nicstamp_tuple *tuple)
{
	struct nicstamp_flow *flow;

	hlist_for_each_entry_rcu(flow, nicstamp_tuple_bucket(tuple), by_tuple,
				 lockdep_is_held(&nicstamp_flow_lock)) {
		if (!memcmp(&flow->tuple, tuple, sizeof(*tuple)))
			return flow;
	}
	return NULL;
}

static void nicstamp_tuple_of_socket(struct nicstamp_tuple *tuple, const struct sock *sk)
{
	tuple->local_port = inet_sk(sk)->inet_sport;
	tuple->remote_port = sk->sk_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		tuple->local = sk->sk_v6_rcv_saddr;
		tuple->remote = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &tuple->local);
	ipv6_addr_set_v4mapped(sk->sk_daddr, &tuple->remote);
}

/* Checked before memory is taken: a refused flow asks again with every sample. */
static bool nicstamp_tuple_is_taken(const struct nicstamp_tuple *tuple)
{
	bool taken;

	rcu_read_lock();
	taken = nicstamp_flow_of_tuple(tuple);
	rcu_read_unlock();
	return taken;
}

static bool nicstamp_flow_has_room(bool other)
{
	if (other && atomic_read(&nicstamp_flow_others) >= max_flows / 2)
		return false;
	return atomic_read(&nicstamp_flow_count) < max_flows;
}

static struct nicstamp_flow *nicstamp_flow_new(const struct sock *sk)
{
	bool other = !net_eq(sock_net(sk), &init_net);
	struct nicstamp_flow *flow;
	struct nicstamp_tuple tuple;

	nicstamp_tuple_of_socket(&tuple, sk);
	if (!nicstamp_flow_has_room(other) || nicstamp_tuple_is_taken(&tuple))
		return NULL;
	flow = tp_sk_zalloc(sizeof(*flow), sk);
	if (!flow)
		return NULL;
	flow->sk = sk;
	flow->other = other;
	flow->tuple = tuple;
	spin_lock_init(&flow->lock);
	flow->missed = U32_MAX;
	return flow;
}

/* False if a flow of the same name is there. */
static bool nicstamp_flow_insert(struct nicstamp_flow *flow)
{
	bool free;

	spin_lock_bh(&nicstamp_flow_lock);
	free = !nicstamp_flow_of_socket(flow->sk) && !nicstamp_flow_of_tuple(&flow->tuple);
	if (free) {
		hlist_add_head_rcu(&flow->by_socket, nicstamp_socket_bucket(flow->sk));
		hlist_add_head_rcu(&flow->by_tuple, nicstamp_tuple_bucket(&flow->tuple));
		atomic_add(flow->other, &nicstamp_flow_others);
	}
	spin_unlock_bh(&nicstamp_flow_lock);
	return free;
}

/* The caller found no flow of @sk: make one. */
void nicstamp_flow_follow(const struct sock *sk)
{
	struct nicstamp_flow *flow = nicstamp_flow_new(sk);

	if (!flow) {
		nicstamp_count(STAMPS_STAT_FLOWS_REFUSED);
		return;
	}
	if (!nicstamp_flow_insert(flow)) {
		kfree(flow);
		nicstamp_count(STAMPS_STAT_FLOWS_REFUSED);
		return;
	}
	nicstamp_count(STAMPS_STAT_FLOWS);
	atomic_inc(&nicstamp_flow_count);
	nicstamp_clocks_want();
}

static void nicstamp_flow_remove(struct nicstamp_flow *flow)
{
	hlist_del_rcu(&flow->by_socket);
	hlist_del_rcu(&flow->by_tuple);
	atomic_dec(&nicstamp_flow_count);
	nicstamp_clocks_unwant();
	atomic_sub(flow->other, &nicstamp_flow_others);
	kfree_rcu(flow, rcu);
}

void nicstamp_flow_forget(const struct sock *sk)
{
	struct nicstamp_flow *flow;

	spin_lock_bh(&nicstamp_flow_lock);
	flow = nicstamp_flow_of_socket(sk);
	if (flow)
		nicstamp_flow_remove(flow);
	spin_unlock_bh(&nicstamp_flow_lock);
}

int __init nicstamp_flow_init(void)
{
	max_flows = clamp(max_flows, 16U, 1U << 20);
	/* two flows a bucket when full */
	nicstamp_flow_bits = ilog2(roundup_pow_of_two(max_flows)) - 1;
	nicstamp_flow_seed = get_random_u32();
	nicstamp_by_socket = kvcalloc(nicstamp_flow_buckets(), sizeof(*nicstamp_by_socket),
				      GFP_KERNEL);
	nicstamp_by_tuple = kvcalloc(nicstamp_flow_buckets(), sizeof(*nicstamp_by_tuple),
				     GFP_KERNEL);
	if (nicstamp_by_socket && nicstamp_by_tuple)
		return 0;
	kvfree(nicstamp_by_socket);
	kvfree(nicstamp_by_tuple);
	return -ENOMEM;
}

/* Consumers and drivers are gone. */
void nicstamp_flow_exit(void)
{
	struct nicstamp_flow *flow;
	struct hlist_node *next;
	u32 i;

	spin_lock_bh(&nicstamp_flow_lock);
	for (i = 0; i < nicstamp_flow_buckets(); i++) {
		hlist_for_each_entry_safe(flow, next, nicstamp_flow_bucket(i), by_socket)
			nicstamp_flow_remove(flow);
	}
	spin_unlock_bh(&nicstamp_flow_lock);
	kvfree(nicstamp_by_socket);
	kvfree(nicstamp_by_tuple);
}
