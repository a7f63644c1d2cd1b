/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow's packets by departure time, and lists of flows.  Every packet passes these several
 * times, and calls would cost more than the work.  Model: fq.
 *
 * A packet that leaves after all before it, as nearly all do, is in a list; the others are in a
 * tree.  All under the qdisc's lock.
 */
#ifndef ONRAMP_QUEUE_H
#define ONRAMP_QUEUE_H

#include "onramp_sched.h"

static inline void onramp_flow_add_tail(struct onramp_list *list, struct onramp_flow *f)
{
	if (list->first)
		list->last->next = f;
	else
		list->first = f;
	list->last = f;
	f->next = NULL;
}

static inline struct sk_buff *onramp_flow_peek(const struct onramp_flow *f)
{
	struct sk_buff *other = skb_rb_first(&f->out_of_order);

	if (likely(!other))
		return f->head;
	if (!f->head || onramp_cb(other)->send_ns < onramp_cb(f->head)->send_ns)
		return other;
	return f->head;
}

/* Takes out what onramp_flow_peek() gave. */
static inline void onramp_flow_unlink(struct onramp_sched *q, struct onramp_flow *f,
				      struct sk_buff *skb)
{
	struct Qdisc *sch = q->sch;

	if (skb == f->head) {
		f->head = skb->next;
	} else {
		rb_erase(&skb->rbnode, &f->out_of_order);
		skb->dev = qdisc_dev(sch);	/* shares its place with rbnode */
	}
	skb_mark_not_on_list(skb);
	f->qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);	/* read without the lock, too */
}

#endif /* ONRAMP_QUEUE_H */
