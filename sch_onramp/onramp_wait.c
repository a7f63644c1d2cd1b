// SPDX-License-Identifier: GPL-2.0
/*
 * Flows that wait: a tree by the time of the next look.  Under the qdisc's lock.  Model: fq.
 */
#include "onramp_queue.h"

struct onramp_flow onramp_throttled;

static void onramp_flow_delay(struct onramp_sched *q, struct onramp_flow *f, u64 wake_ns)
{
	struct rb_node **link = &q->delayed.rb_node, *parent = NULL;

	f->wake_ns = wake_ns;
	while (*link) {
		parent = *link;
		link = wake_ns >= rb_entry(parent, struct onramp_flow, delayed_node)->wake_ns ?
		       &parent->rb_right : &parent->rb_left;
	}
	rb_link_node(&f->delayed_node, parent, link);
	rb_insert_color(&f->delayed_node, &q->delayed);
	q->delayed_next_ns = min(q->delayed_next_ns, wake_ns);
}

void onramp_flow_throttle(struct onramp_sched *q, struct onramp_flow *f, u64 wake_ns)
{
	onramp_flow_delay(q, f, wake_ns);
	f->next = &onramp_throttled;
	q->throttled++;
	q->stats.throttled++;
}

/* Makes a flow that waits wait until @wake_ns, which is earlier. */
void onramp_flow_wake_at(struct onramp_sched *q, struct onramp_flow *f, u64 wake_ns)
{
	rb_erase(&f->delayed_node, &q->delayed);
	f->time_next_ns = wake_ns;
	onramp_flow_delay(q, f, wake_ns);
}

void onramp_flow_unthrottle(struct onramp_sched *q, struct onramp_flow *f)
{
	rb_erase(&f->delayed_node, &q->delayed);
	q->throttled--;
	onramp_flow_add_tail(&onramp_band_of(q, f)->old_flows, f);
}
