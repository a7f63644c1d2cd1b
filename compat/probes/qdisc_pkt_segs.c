// SPDX-License-Identifier: GPL-2.0
/* Does a packet at a qdisc carry the number of its segments beside its length? */
#include <net/sch_generic.h>

void probe(struct sk_buff *skb);
void probe(struct sk_buff *skb)
{
	qdisc_skb_cb(skb)->pkt_segs = 1;
}
