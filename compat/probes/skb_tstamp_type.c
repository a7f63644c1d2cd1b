// SPDX-License-Identifier: GPL-2.0
/* Does an skb say which clock its delivery time is of? */
#include <linux/skbuff.h>

void probe(struct sk_buff *skb);
void probe(struct sk_buff *skb)
{
	skb->tstamp_type = SKB_CLOCK_MONOTONIC;
}
