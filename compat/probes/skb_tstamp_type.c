// SPDX-License-Identifier: GPL-2.0
/* Does an skb name the clock of its delivery time? */
#include <linux/skbuff.h>

void probe(struct sk_buff *skb);
void probe(struct sk_buff *skb)
{
	skb->tstamp_type = SKB_CLOCK_MONOTONIC;
}
