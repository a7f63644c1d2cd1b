// SPDX-License-Identifier: GPL-2.0
#include <linux/skbuff.h>

void probe(struct sk_buff *skb);
void probe(struct sk_buff *skb)
{
	skb->mono_delivery_time = 1;
}
