// SPDX-License-Identifier: GPL-2.0
/*
 * How a flow of the qdisc gets a control block, is woken by it and loses it.  Model: ONRAMP21.
 *
 *      flow's first data --> has it feedback? --> control block, of another queue if there is one
 *      feedback makes a pause shorter --> q->kicked --> flow looks again
 *
 * The qdisc's lock is held.
 */
#include "onramp_ctl.h"
#include "onramp_feedback.h"
#include "onramp_queue.h"

/* A flow without feedback asks again after so long; asking costs what noting a destination does. */
#define ONRAMP_ASK_AGAIN	(HZ / 100)

/* A new flow looks at so many old ones: with two the dead cannot outnumber the living. */
#define ONRAMP_SWEPT		2

/* Feedback made these pauses shorter: their flows wait for the wrong time. */
void onramp_wake_kicked(struct onramp_sched *q)
{
	struct llist_node *list = llist_del_all(&q->kicked);
	struct onramp_ctl *ctl, *next;
	struct onramp_flow *f;

	llist_for_each_entry_safe(ctl, next, list, kick) {
		spin_lock(&ctl->lock);
		ctl->kicked = false;
		f = ctl->sched == q ? ctl->flow : NULL;
		spin_unlock(&ctl->lock);
		if (f && f->ctl == ctl && onramp_flow_is_throttled(f))
			onramp_flow_unthrottle(q, f);
		onramp_ctl_put(ctl);
	}
}

/* Under the qdisc's lock, or with the qdisc out of reach of packets. */
void onramp_detach(struct onramp_sched *q, struct onramp_flow *f)
{
	struct onramp_ctl *ctl = f->ctl;

	list_del(&f->controlled);
	/* The data that was held leaves before all that its connection sends now. */
	if (f->qlen)
		q->held_pending = true;
	local_bh_disable();
	spin_lock(&ctl->lock);
	if (ctl->flow == f) {
		ctl->flow = NULL;
		ctl->sched = NULL;
	}
	spin_unlock(&ctl->lock);
	/* It may be in our list, and no feedback can put it there from now on. */
	if (!llist_empty(&q->kicked))
		onramp_wake_kicked(q);
	f->ctl = NULL;
	atomic_dec(&q->controlled_by[f->source]);
	onramp_ctl_put(ctl);
	local_bh_enable();
}

/* A connection ends, and its flow stays until another flow's lookup meets it.  Each new flow
 * looks at two others and takes the control blocks of the dead ones.  So the dead are at most
 * about as many as the living.
 */
static void onramp_attach_sweep(struct onramp_sched *q)
{
	struct onramp_flow *f;
	int i;

	for (i = 0; i < ONRAMP_SWEPT && !list_empty(&q->controlled); i++) {
		f = list_first_entry(&q->controlled, struct onramp_flow, controlled);
		if (onramp_flow_is_old(f))
			onramp_detach(q, f);
		else
			list_move_tail(&f->controlled, &q->controlled);
	}
}

static void onramp_ask_later(struct onramp_flow *f)
{
	f->asked = true;
	f->asked_at = jiffies;
}

/* The sender of the data. */
struct onramp_comer {
	struct sock *sk;
	struct onramp_key key;
	u32 seq;			/* where the data begins */
	enum onramp_source source;
	u64 now_ns;
};

/* Makes a control block for the flow.  NULL: not now. */
static struct onramp_ctl *onramp_attach_new(struct onramp_sched *q, struct onramp_flow *f,
					    const struct onramp_comer *c)
{
	struct onramp_ctl *ctl;
	int err;

	onramp_attach_sweep(q);
	ctl = onramp_ctl_make(q, &c->key, c->sk, c->seq, c->now_ns);
	if (!ctl) {
		onramp_ask_later(f);
		return NULL;
	}
	onramp_feedback_set(ctl, q, c->sk, c->source);
	onramp_feedback_adopt(q, ctl, c->now_ns);
	err = onramp_ctl_insert(ctl);
	if (!err)
		return ctl;
	/* Another queue was faster, or a control block is just leaving: next packet. */
	if (err != -EEXIST) {
		q->stats.alloc_errors++;
		onramp_ask_later(f);
	}
	return NULL;
}

/* Makes the flow the sender of @ctl, whose reference it takes over. */
static void onramp_attach_to(struct onramp_sched *q, struct onramp_flow *f, struct onramp_ctl *ctl,
			     const struct onramp_comer *c)
{
	spin_lock(&ctl->lock);
	if (!onramp_ctl_serves(ctl, c->sk)) {
		onramp_ctl_renew(ctl, q, c->sk, c->seq, c->now_ns);
		onramp_feedback_set(ctl, q, c->sk, c->source);
	}
	ctl->flow = f;
	ctl->sched = q;
	f->source = ctl->source;
	spin_unlock(&ctl->lock);
	f->ctl = ctl;
	onramp_feedback_begin(q, &c->key, c->source, c->now_ns);
	list_add_tail(&f->controlled, &q->controlled);
	atomic_inc(&q->controlled_by[f->source]);
}

/* The flow's first data: give it a control block, another queue's if that has one. */
void onramp_attach(struct onramp_sched *q, struct onramp_flow *f, struct sk_buff *skb, u64 now_ns)
{
	struct onramp_segment seg;
	struct onramp_comer c;
	struct onramp_ctl *ctl;

	if (f->asked && time_before(jiffies, f->asked_at + ONRAMP_ASK_AGAIN))
		return;
	if (onramp_packet_kind(skb, &seg) != ONRAMP_DATA)
		return;
	c.sk = skb->sk;
	c.seq = seg.seq;
	c.now_ns = now_ns;
	onramp_packet_key(c.sk, &c.key);
	rcu_read_lock();
	c.source = onramp_feedback_ask(q, c.sk, &c.key, now_ns);
	if (c.source == ONRAMP_SOURCE_NONE) {
		onramp_ask_later(f);
		goto out;
	}
	ctl = onramp_ctl_get(&c.key) ?: onramp_attach_new(q, f, &c);
	if (ctl)
		onramp_attach_to(q, f, ctl, &c);
out:
	rcu_read_unlock();
}
