// SPDX-License-Identifier: GPL-2.0
/* Does skb_gso_segment() live in a header of its own? */
#include <net/gso.h>

void probe(struct sk_buff *skb);
void probe(struct sk_buff *skb)
{
	skb_gso_segment(skb, 0);
}
