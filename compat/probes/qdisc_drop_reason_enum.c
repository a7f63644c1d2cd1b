// SPDX-License-Identifier: GPL-2.0
/* Do qdiscs have drop reasons of their own, with those of fq among them? */
#include <net/sch_generic.h>

int probe(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
int probe(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	enum qdisc_drop_reason reason = QDISC_DROP_BAND_LIMIT;

	if (skb->len)
		reason = QDISC_DROP_HORIZON_LIMIT;
	else if (skb->data_len)
		reason = QDISC_DROP_FLOW_LIMIT;
	return qdisc_drop_reason(skb, sch, to_free, reason);
}
