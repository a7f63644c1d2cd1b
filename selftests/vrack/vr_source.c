// SPDX-License-Identifier: GPL-2.0
/*
 * Frame sources: frames made inside a NIC, at exact times, without a host
 * stack behind them. They validate the rack against closed forms (M/D/1,
 * thresholds) and serve as background load that costs little.
 */
#include <linux/slab.h>

#include "vr.h"

struct vr_source {
	struct list_head list;
	struct vr_event event;
	struct vr_nic *from;
	struct vr_nic *to;
	u32 ip_bytes;
	u64 gap_ps;		/* mean time between frames */
	bool poisson;
	bool forever;
	u64 left;
	u8 tos;
	u16 flows;		/* source ports taken in turn */
	u16 flow;
};

static LIST_HEAD(sources);

static void fire(struct vr_event *ev, u64 now_ps)
{
	struct vr_source *s = container_of(ev, struct vr_source, event);
	struct sk_buff *skb = vr_header_build(s->from, s->to, s->ip_bytes, s->tos, s->flow);

	s->flow = (s->flow + 1) % s->flows;
	if (skb)
		vr_nic_inject(s->from, skb, now_ps);
	if (!s->forever && !--s->left)
		return;
	vr_event_set(ev, now_ps + (s->poisson ? vr_random_exp(s->gap_ps) : s->gap_ps));
}

/*
 * Frames of @ip_bytes at @rate_bps of wire time (overhead counted), first at
 * @start_ns from now; @count 0: for ever. Lock held.
 */
int vr_source_add(struct vr_nic *from, struct vr_nic *to, u32 ip_bytes, u64 rate_bps, bool poisson,
		  u64 count, u64 start_ns, u8 tos, u16 flows)
{
	struct vr_source *s = kzalloc(sizeof(*s), GFP_ATOMIC);
	u64 rem = 0;

	if (!s)
		return -ENOMEM;
	s->from = from;
	s->to = to;
	s->ip_bytes = ip_bytes;
	s->gap_ps = vr_serialize_ps(vr_wire_bytes(ip_bytes + ETH_HLEN), rate_bps, &rem);
	s->poisson = poisson;
	s->forever = !count;
	s->left = count;
	s->tos = tos;
	s->flows = flows;
	/* inside: its frames reach a host a cable later at the soonest */
	vr_event_init(&s->event, false, fire);
	list_add_tail(&s->list, &sources);
	return vr_event_set(&s->event, vr_now_ps() + start_ns * VR_PS_PER_NS);
}

void vr_source_free_all(void)
{
	struct vr_source *s, *next;

	list_for_each_entry_safe(s, next, &sources, list) {
		vr_event_cancel(&s->event);
		list_del(&s->list);
		kfree(s);
	}
}
