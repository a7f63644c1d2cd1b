// SPDX-License-Identifier: GPL-2.0
/*
 * TLT's flows (TLT21) of a namespace, by the address of their socket.  The module's parameter
 * max_flows bounds them: packets of further flows pass unmarked, and a counter tells.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/inet_hashtables.h>

#include "compat/account.h"
#include "tlt_flow.h"
#include "tlt_net.h"
#include "tlt_select.h"

/* Some 500 MB, which a host with that many active connections can spare. */
static unsigned int max_flows = 1000000;
module_param(max_flows, uint, 0644);
MODULE_PARM_DESC(max_flows, "most flows of a network namespace that TLT looks after (1000000)");

/*
 * The reaper forgets a flow silent for so long if its connection is gone.  If flows are many it
 * does not look: a flow silent for so long has nothing in flight.
 */
#define TLT_FLOW_IDLE	(10 * HZ)
/* After a FIN or RST a connection mostly ends in a few round trips. */
#define TLT_FLOW_LINGER	HZ
#define TLT_REAP_EVERY	(2 * HZ)
/* Flows that the reaper looks at before it yields the CPU: some tens of microseconds. */
#define TLT_REAP_AT_ONCE	1024

/*
 * Computed for each packet.  No peer chooses the addresses of sockets, so a multiplication
 * spreads them well enough (Fibonacci hashing, whose upper half is the better one).
 */
static u32 tlt_flow_hash(const void *key, u32 bytes, u32 seed)
{
	return (((u64)*(const unsigned long *)key ^ seed) * GOLDEN_RATIO_64) >> 32;
}

static int tlt_flow_differs(struct rhashtable_compare_arg *arg, const void *object)
{
	return ((const struct tlt_flow *)object)->key != *(const struct sock * const *)arg->key;
}

static const struct rhashtable_params tlt_flow_table = {
	.key_len = sizeof_field(struct tlt_flow, key),
	.key_offset = offsetof(struct tlt_flow, key),
	.head_offset = offsetof(struct tlt_flow, node),
	.hashfn = tlt_flow_hash,
	.obj_cmpfn = tlt_flow_differs,
	.automatic_shrinking = true,
};

void tlt_flow_put(struct tlt_flow *flow)
{
	if (refcount_dec_and_test(&flow->refs))
		kfree_rcu(flow, rcu);
}

/* A reader that finds the flow now may use it until its RCU read side ends. */
static void tlt_flow_drop(struct tlt_net *tn, struct tlt_flow *flow)
{
	if (rhashtable_remove_fast(&tn->flows, &flow->node, tlt_flow_table))
		return;
	tlt_flow_put(flow);
}

/*
 * Does its connection still exist?  Compares only addresses of sockets, among those of the same
 * hash.  Begins anew if a socket moved to another list meanwhile.
 */
static bool tlt_flow_has_socket(const struct tlt_flow *flow)
{
	const struct inet_hashinfo *table = flow->tn->net->ipv4.tcp_death_row.hashinfo;
	unsigned int slot = READ_ONCE(flow->hash) & table->ehash_mask;
	const struct hlist_nulls_node *node;
	const struct sock *sk;

	do {
		sk_nulls_for_each_rcu(sk, node, &table->ehash[slot].chain) {
			if (sk == flow->key)
				return true;
		}
	} while (get_nulls_value(node) != slot);
	return false;
}

/*
 * A flow stays as long as its connection.  So after an idle time, or for a retransmission long
 * after a FIN, TLT still knows the peer.  RCU read side.
 */
static bool tlt_flow_is_over(struct tlt_flow *flow, bool crowded)
{
	u32 limit = READ_ONCE(flow->ending) ? TLT_FLOW_LINGER : TLT_FLOW_IDLE;
	u32 now = tcp_jiffies32;

	if (now - READ_ONCE(flow->used) <= limit || test_bit(TLT_FLOW_QUEUED, &flow->state))
		return false;
	if (crowded)
		return true;
	if (now - flow->asked <= limit)
		return false;
	flow->asked = now;
	return !tlt_flow_has_socket(flow);
}

/* Where TLT is off, flows do not keep memory either. */
static bool tlt_flow_is_crowded(struct tlt_net *tn)
{
	return !rcu_access_pointer(tn->config) ||
	       atomic_read(&tn->flows.nelems) > READ_ONCE(max_flows) / 2;
}

static void tlt_flow_reap(struct work_struct *work)
{
	struct tlt_net *tn = container_of(to_delayed_work(work), struct tlt_net, reaper);
	bool crowded = tlt_flow_is_crowded(tn);
	struct rhashtable_iter iter;
	unsigned int seen = 0;
	struct tlt_flow *flow;

	rhashtable_walk_enter(&tn->flows, &iter);
	rhashtable_walk_start(&iter);
	while ((flow = rhashtable_walk_next(&iter))) {
		/* An error means a resized table; a flow seen twice is judged twice. */
		if (!IS_ERR(flow) && tlt_flow_is_over(flow, crowded))
			tlt_flow_drop(tn, flow);
		if (++seen % TLT_REAP_AT_ONCE)
			continue;
		rhashtable_walk_stop(&iter);
		cond_resched();
		rhashtable_walk_start(&iter);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);

	if (rcu_access_pointer(tn->config) || atomic_read(&tn->flows.nelems))
		tlt_flow_start_reaper(tn);
}

void tlt_flow_start_reaper(struct tlt_net *tn)
{
	schedule_delayed_work(&tn->reaper, TLT_REAP_EVERY);
}

static void tlt_flow_name(struct tlt_flow *flow, const struct sock *sk)
{
	flow->family = sk->sk_family;
	flow->local_port = inet_sk(sk)->inet_sport;
	flow->remote_port = sk->sk_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		flow->local = sk->sk_v6_rcv_saddr;
		flow->remote = sk->sk_v6_daddr;
		return;
	}
#endif
	flow->family = AF_INET;
	flow->local.s6_addr32[0] = sk->sk_rcv_saddr;
	flow->remote.s6_addr32[0] = sk->sk_daddr;
}

static void tlt_flow_forget_stats(struct tlt_flow *flow)
{
	memset(flow->sent, 0, sizeof(flow->sent));
	flow->stat_echoes = 0;
	flow->stat_echoes_dropped = 0;
	flow->stat_clocks_dropped = 0;
	flow->stat_rtos = 0;
	flow->stat_injected_byte = 0;
	flow->stat_injected_segment = 0;
	flow->stat_injected_bytes = 0;
	flow->stat_refused = 0;
	flow->stat_cuts = 0;
	flow->stat_cut_bytes = 0;
}

/* Begin as the flow of @sk. */
static void tlt_flow_begin(struct tlt_flow *flow, const struct sock *sk)
{
	tlt_sender_init(&flow->sender);
	tlt_receiver_init(&flow->receiver);
	/* A CPU that finds its own numbers below reads the rest: pairs with tlt_flow_check(). */
	smp_wmb();
	WRITE_ONCE(flow->hash, sk->sk_hash);
	WRITE_ONCE(flow->ports, (__force u32)sk->sk_portpair);
	tlt_flow_name(flow, sk);
	flow->ending = false;
	flow->clocks = 0;
	flow->effort = (struct tlt_effort){ };
	/* No user of this field has the socket's lock yet. */
	flow->retransmits = 0;
	tlt_flow_forget_stats(flow);
}

/* Is the flow that of @sk, and not of a socket that had its memory before? */
static bool tlt_flow_is_of(const struct tlt_flow *flow, const struct sock *sk)
{
	return flow->key == sk && READ_ONCE(flow->hash) == sk->sk_hash &&
	       READ_ONCE(flow->ports) == (__force u32)sk->sk_portpair;
}

/* If the flow's socket is gone and @sk has its memory, begin anew. */
static void tlt_flow_check(struct tlt_flow *flow, const struct sock *sk)
{
	if (likely(tlt_flow_is_of(flow, sk))) {
		/* Pairs with tlt_flow_begin(): the caller now reads this connection's state. */
		smp_rmb();
		return;
	}
	tlt_flow_lock(flow);
	tlt_flow_begin(flow, sk);
	tlt_flow_unlock(flow);
	tlt_count(flow->tn, TLT_STAT_FLOWS);
}

static struct tlt_flow *tlt_flow_new(struct tlt_net *tn, const struct sock *sk)
{
	struct tlt_flow *flow;

	if (atomic_read(&tn->flows.nelems) >= READ_ONCE(max_flows))
		return NULL;
	flow = tp_sk_zalloc(sizeof(*flow), sk);
	if (!flow)
		return NULL;
	flow->key = sk;
	flow->tn = tn;
	flow->used = tcp_jiffies32;
	flow->asked = flow->used;
	spin_lock_init(&flow->lock);
	refcount_set(&flow->refs, 1);
	tlt_flow_begin(flow, sk);
	return flow;
}

/* The flow of a socket if there is one; valid until the RCU read side ends. */
static struct tlt_flow *tlt_flow_find(struct tlt_net *tn, const struct sock *sk)
{
	struct tlt_flow *flow = rhashtable_lookup(&tn->flows, &sk, tlt_flow_table);

	if (flow)
		tlt_flow_check(flow, sk);
	return flow;
}

/* The flow of a socket, made if necessary; NULL: there is no room for it. */
struct tlt_flow *tlt_flow_get(struct tlt_net *tn, const struct sock *sk)
{
	struct tlt_flow *flow, *there;

	flow = tlt_flow_find(tn, sk);
	if (likely(flow))
		return flow;
	flow = tlt_flow_new(tn, sk);
	if (!flow)
		goto refused;
	there = rhashtable_lookup_get_insert_fast(&tn->flows, &flow->node, tlt_flow_table);
	if (!there) {
		tlt_count(tn, TLT_STAT_FLOWS);
		return flow;
	}
	kfree(flow);
	if (!IS_ERR(there))
		return there;
refused:
	tlt_count(tn, TLT_STAT_FLOWS_REFUSED);
	return NULL;
}

int tlt_flow_net_init(struct tlt_net *tn)
{
	INIT_DELAYED_WORK(&tn->reaper, tlt_flow_reap);
	return rhashtable_init(&tn->flows, &tlt_flow_table);
}

static void tlt_flow_free(void *pointer, void *unused)
{
	tlt_flow_put(pointer);
}

/* No hook runs any more and nothing is queued. */
void tlt_flow_net_exit(struct tlt_net *tn)
{
	cancel_delayed_work_sync(&tn->reaper);
	rhashtable_free_and_destroy(&tn->flows, tlt_flow_free, NULL);
}
