// SPDX-License-Identifier: GPL-2.0
/* Does fq have drop reasons? */
#include <net/sch_generic.h>

int probe(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
int probe(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return qdisc_drop_reason(skb, sch, to_free, SKB_DROP_REASON_FQ_BAND_LIMIT);
}
