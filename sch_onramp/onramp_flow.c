// SPDX-License-Identifier: GPL-2.0
/*
 * Flows: a socket's packets, or those of one hash value, in order of departure.
 *
 *   bucket (one of 1024) -> red-black tree by key -> flow -> packets
 *
 * A flow that ran empty stays for some seconds, as its socket is likely to send again.  Lookups
 * of other flows that pass it later free it.  Model: fq, for On-Ramp (ONRAMP21).
 */
#include <linux/hash.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "compat/account.h"
#include "onramp_ctl.h"
#include "onramp_queue.h"

static struct kmem_cache *onramp_flow_cache;

/* -- packets of a flow ---------------------------------------------------------- */

/* Nearly every packet leaves after all before it: its place is the list's end. */
void onramp_flow_queue(struct onramp_flow *f, struct sk_buff *skb)
{
	struct rb_node **link = &f->out_of_order.rb_node, *parent = NULL;
	u64 send_ns = onramp_cb(skb)->send_ns;

	if (!f->head || send_ns >= onramp_cb(f->tail)->send_ns) {
		if (f->head)
			f->tail->next = skb;
		else
			f->head = skb;
		f->tail = skb;
		skb->next = NULL;
		return;
	}
	while (*link) {
		parent = *link;
		link = send_ns >= onramp_cb(rb_to_skb(parent))->send_ns ? &parent->rb_right
									: &parent->rb_left;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &f->out_of_order);
}

static void onramp_flow_purge(struct onramp_flow *f)
{
	struct rb_node *node;

	while ((node = rb_first(&f->out_of_order))) {
		struct sk_buff *skb = rb_to_skb(node);

		rb_erase(node, &f->out_of_order);
		rtnl_kfree_skbs(skb, skb);
	}
	if (f->head)
		rtnl_kfree_skbs(f->head, f->tail);
	f->head = NULL;
	f->qlen = 0;
}

/* -- lookup ----------------------------------------------------------------------- */

static void onramp_flow_free(struct onramp_sched *q, struct onramp_flow *f)
{
	if (unlikely(f->ctl))
		onramp_detach(q, f);
	kmem_cache_free(onramp_flow_cache, f);
}

/* Is a search for old flows worth its time? */
static bool onramp_flow_crowded(const struct onramp_sched *q)
{
	return TP_FQ_GC_ALWAYS ||
	       (q->flows >= 2U << q->buckets_log && q->inactive > q->flows / 2);
}

/* Frees old flows on the way to @key. */
static void onramp_flow_collect(struct onramp_sched *q, struct rb_root *root,
				unsigned long key)
{
	struct rb_node *node = root->rb_node;
	struct onramp_flow *old = NULL, *f;
	u32 count = 0;

	while (node) {
		f = rb_entry(node, struct onramp_flow, node);
		if (f->key == key)
			break;
		if (onramp_flow_is_old(f)) {
			f->next = old;
			old = f;
		}
		node = f->key > key ? node->rb_left : node->rb_right;
	}
	for (; old; count++) {
		f = old;
		old = f->next;
		rb_erase(&f->node, root);
		onramp_flow_free(q, f);
	}
	q->flows -= count;
	q->inactive -= count;
	q->stats.gc_flows += count;
}

static void onramp_flow_claim(const struct onramp_sched *q, struct sock *sk)
{
	if (!q->config.pacing || READ_ONCE(sk->sk_pacing_status) == SK_PACING_FQ)
		return;
	/* TCP leaves pacing to us from now on.  Pairs with TCP's reading before it sets a timer. */
	smp_store_release(&sk->sk_pacing_status, SK_PACING_FQ);
}

/* Another connection has the address of this socket now. */
static void onramp_flow_renew(struct onramp_sched *q, struct onramp_flow *f, struct sock *sk)
{
	f->credit = q->config.initial_quantum;
	f->socket_hash = sk->sk_hash;
	onramp_flow_claim(q, sk);
	if (onramp_flow_is_throttled(f))
		onramp_flow_unthrottle(q, f);
	f->time_next_ns = 0;
	f->pace_anew = false;
	f->asked = false;
	onramp_release_init(&f->release, 0);
	if (f->ctl)
		onramp_detach(q, f);
}

/* A packet goes past all flows if it may leave now and nothing limits its rate.  No flow may be
 * ready to send, and it waits behind at most seven packets like it.
 */
static bool onramp_flow_fast(const struct onramp_sched *q, struct sk_buff *skb, u64 now_ns)
{
	const struct onramp_cb *cb = onramp_cb(skb);
	const struct sock *sk = skb->sk;

	now_ns += q->config.offload_ns;
	if (!TP_FQ_FAST_PATH || cb->send_ns > now_ns ||
	    cb->kind == ONRAMP_DATA || cb->kind == ONRAMP_FIN)
		return false;
	if (q->sch->q.qlen && (q->flows != q->inactive + q->throttled || q->held_pending ||
			       q->internal.qlen >= 8 || q->delayed_next_ns <= now_ns))
		return false;
	if (sk && sk_fullsock(sk) && !tp_sk_is_tcp(sk) &&
	    READ_ONCE(sk->sk_max_pacing_rate) != ~0UL)
		return false;
	return q->config.max_rate == ~0ULL;
}

static struct onramp_flow *onramp_flow_search(struct rb_root *root, unsigned long key,
					      struct rb_node **parent,
					      struct rb_node ***link)
{
	struct onramp_flow *f;

	*link = &root->rb_node;
	*parent = NULL;
	while (**link) {
		*parent = **link;
		f = rb_entry(*parent, struct onramp_flow, node);
		if (f->key == key)
			return f;
		*link = f->key > key ? &(*parent)->rb_left : &(*parent)->rb_right;
	}
	return NULL;
}

static struct onramp_flow *onramp_flow_make(struct onramp_sched *q, unsigned long key,
					    const struct sock *sk)
{
	struct onramp_flow *f = tp_sk_cache_alloc(onramp_flow_cache, sk);

	if (unlikely(!f)) {
		q->stats.alloc_errors++;
		return NULL;
	}
	memset(f, 0, sizeof(*f));
	f->idle = jiffies | 1UL;
	f->key = key;
	f->credit = q->config.initial_quantum;
	q->flows++;
	q->inactive++;
	return f;
}

/* @sk: the packet's socket where the flow is the socket's, NULL where it is a hash's. */
static struct onramp_flow *onramp_flow_get(struct onramp_sched *q, unsigned long key,
					   struct sock *sk)
{
	struct rb_root *root = &q->buckets[hash_long(key, q->buckets_log)];
	struct rb_node *parent, **link;
	struct onramp_flow *f;

	if (onramp_flow_crowded(q))
		onramp_flow_collect(q, root, key);
	f = onramp_flow_search(root, key, &parent, &link);
	if (f) {
		if (unlikely(sk && f->socket_hash != sk->sk_hash))
			onramp_flow_renew(q, f, sk);
		return f;
	}
	f = onramp_flow_make(q, key, sk);
	if (unlikely(!f))
		return &q->internal;
	if (sk) {
		f->socket_hash = sk->sk_hash;
		onramp_flow_claim(q, sk);
	}
	rb_link_node(&f->node, parent, link);
	rb_insert_color(&f->node, root);
	return f;
}

/* A pure ACK or RST does not wait behind data that a pause holds, or that is paced after one.
 * While there is such data, these packets of the socket are a flow of their own.
 */
static bool onramp_flow_overtakes(struct onramp_sched *q, unsigned long key, u64 now_ns)
{
	struct rb_root *root = &q->buckets[hash_long(key, q->buckets_log)];
	struct rb_node *parent, **link;
	struct onramp_flow *f = onramp_flow_search(root, key, &parent, &link);

	return f && f->ctl && f->qlen &&
	       (f->pace_anew || onramp_ctl_until(q, f->ctl, now_ns) > now_ns);
}

struct onramp_flow *onramp_flow_find(struct onramp_sched *q, struct sk_buff *skb, u64 now_ns)
{
	struct sock *sk = skb->sk;
	unsigned long key = (unsigned long)sk;
	bool own = true;

	/* On older kernels fq puts control traffic before all else. */
	if (!TP_FQ_FAST_PATH && unlikely((skb->priority & TC_PRIO_MAX) == TC_PRIO_CONTROL)) {
		q->stats.highprio++;
		return &q->internal;
	}
	/* SYN-ACKs belong to a listener or a request, forwarded packets to no socket. */
	if (!sk || sk_listener(sk)) {
		key = (skb_get_hash(skb) & q->config.orphan_mask) << 1 | 1UL;
		skb_orphan(skb);
		own = false;
	} else if ((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_TIME_WAIT)) {
		/* Unconnected sockets send to many destinations.  TIME_WAIT sockets are stubs
		 * without a pacing rate.
		 */
		key = (skb_get_hash(skb) & q->config.orphan_mask) << 1 | 1UL;
		own = false;
	}
	if (onramp_flow_fast(q, skb, now_ns)) {
		q->internal.fast_packets++;
		if (own)
			onramp_flow_claim(q, sk);
		return &q->internal;
	}
	if (own && onramp_cb(skb)->kind == ONRAMP_AHEAD && !list_empty(&q->controlled) &&
	    onramp_flow_overtakes(q, key, now_ns)) {
		q->stats.bypassed++;
		key |= 2UL;
	}
	return onramp_flow_get(q, key, own ? sk : NULL);
}

/* -- the table --------------------------------------------------------------------- */

static void onramp_flow_rehash(struct onramp_sched *q, struct rb_root *to, u32 log)
{
	struct rb_node *node, *parent, **link;
	struct onramp_flow *f;
	struct rb_root *root;
	u32 i;

	for (i = 0; i < 1U << q->buckets_log; i++) {
		while ((node = rb_first(&q->buckets[i]))) {
			rb_erase(node, &q->buckets[i]);
			f = rb_entry(node, struct onramp_flow, node);
			if (onramp_flow_is_old(f)) {
				onramp_flow_free(q, f);
				q->flows--;
				q->inactive--;
				q->stats.gc_flows++;
				continue;
			}
			root = &to[hash_long(f->key, log)];
			onramp_flow_search(root, f->key, &parent, &link);
			rb_link_node(&f->node, parent, link);
			rb_insert_color(&f->node, root);
		}
	}
}

/* Drops the flow's oldest packets, all but @keep. */
static u32 onramp_flow_cut(struct onramp_sched *q, struct onramp_flow *f, u32 keep, u32 *bytes)
{
	struct sk_buff *skb;
	u32 packets = 0;

	while (f->qlen > keep) {
		skb = onramp_flow_peek(f);
		onramp_flow_unlink(q, f, skb);
		if (f != &q->internal) {
			q->band_packets[onramp_cb(skb)->band]--;
			if (!f->qlen)
				q->inactive++;
		}
		*bytes += qdisc_pkt_len(skb);
		packets++;
		rtnl_kfree_skbs(skb, skb);
	}
	return packets;
}

/* Drops packets until at most @limit stay, of each flow the same part.  Their times and pauses do
 * not matter.  Returns how many went.  Under the qdisc's lock.
 */
u32 onramp_flow_trim(struct onramp_sched *q, u32 limit, u32 *bytes)
{
	u32 all = q->sch->q.qlen, packets, i;
	struct onramp_flow *f;
	struct rb_node *node;

	*bytes = 0;
	if (all <= limit)
		return 0;
	packets = onramp_flow_cut(q, &q->internal,
				  div_u64((u64)q->internal.qlen * limit, all), bytes);
	for (i = 0; i < 1U << q->buckets_log; i++) {
		for (node = rb_first(&q->buckets[i]); node; node = rb_next(node)) {
			f = rb_entry(node, struct onramp_flow, node);
			packets += onramp_flow_cut(q, f, div_u64((u64)f->qlen * limit, all), bytes);
		}
	}
	return packets;
}

/* Ends all pauses.  Under the qdisc's lock. */
void onramp_flow_release_all(struct onramp_sched *q)
{
	struct onramp_flow *f;
	struct rb_node *node;
	u32 i;

	for (i = 0; i < 1U << q->buckets_log; i++) {
		for (node = rb_first(&q->buckets[i]); node; node = rb_next(node)) {
			f = rb_entry(node, struct onramp_flow, node);
			if (!f->ctl)
				continue;
			onramp_detach(q, f);
			f->pace_anew = false;
			if (onramp_flow_is_throttled(f))
				onramp_flow_unthrottle(q, f);
		}
	}
}

int onramp_flow_resize(struct onramp_sched *q, u32 log)
{
	int node = netdev_queue_numa_node_read(q->sch->dev_queue);
	struct rb_root *buckets, *before;
	u32 i;

	if (q->buckets && log == q->buckets_log)
		return 0;
	buckets = kvmalloc_node(sizeof(*buckets) << log,
				GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL, node);
	if (!buckets)
		return -ENOMEM;
	for (i = 0; i < 1U << log; i++)
		buckets[i] = RB_ROOT;
	sch_tree_lock(q->sch);
	before = q->buckets;
	if (before)
		onramp_flow_rehash(q, buckets, log);
	q->buckets = buckets;
	q->buckets_log = log;
	sch_tree_unlock(q->sch);
	kvfree(before);
	return 0;
}

void onramp_flow_drop_all(struct onramp_sched *q)
{
	struct onramp_flow *f;
	struct rb_node *node;
	u32 i;

	onramp_flow_purge(&q->internal);
	if (!q->buckets)
		return;
	/* While all flows are still there: wakes what was kicked. */
	onramp_flow_release_all(q);
	for (i = 0; i < 1U << q->buckets_log; i++) {
		while ((node = rb_first(&q->buckets[i]))) {
			f = rb_entry(node, struct onramp_flow, node);
			rb_erase(node, &q->buckets[i]);
			onramp_flow_purge(f);
			onramp_flow_free(q, f);
		}
	}
	for (i = 0; i < TP_FQ_BANDS; i++) {
		memset(&q->bands[i], 0, sizeof(q->bands[i]));
		q->band_packets[i] = 0;
	}
	q->delayed = RB_ROOT;
	q->delayed_next_ns = ONRAMP_NEVER_NS;
	q->flows = 0;
	q->inactive = 0;
	q->throttled = 0;
}

int onramp_flow_init(void)
{
	onramp_flow_cache = kmem_cache_create("onramp_flow", sizeof(struct onramp_flow), 0,
					      SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	return onramp_flow_cache ? 0 : -ENOMEM;
}

void onramp_flow_exit(void)
{
	kmem_cache_destroy(onramp_flow_cache);
}
