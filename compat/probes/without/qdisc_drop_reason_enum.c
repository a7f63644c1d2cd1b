// SPDX-License-Identifier: GPL-2.0
/* The reasons of fq are among the network's, or no qdisc gives any. */
#include <net/sch_generic.h>

#ifdef TP_HAVE_FQ_DROP_REASON
int probe(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
int probe(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return qdisc_drop_reason(skb, sch, to_free, SKB_DROP_REASON_FQ_FLOW_LIMIT);
}
#else
int qdisc_drop_reason;
#endif
