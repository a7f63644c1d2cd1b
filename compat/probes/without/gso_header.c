// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>

void probe(struct sk_buff *skb);
void probe(struct sk_buff *skb)
{
	skb_gso_segment(skb, 0);
}
