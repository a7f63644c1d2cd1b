// SPDX-License-Identifier: GPL-2.0
/* Can a connection have accurate ECN, whose three flags are a counter? */
#include <net/tcp_ecn.h>

bool probe(struct tcp_sock *tp, struct sk_buff *skb, struct tcphdr *th);
bool probe(struct tcp_sock *tp, struct sk_buff *skb, struct tcphdr *th)
{
	if (!tcp_ecn_mode_accecn(tp))
		return skb_shinfo(skb)->gso_type & SKB_GSO_TCP_ACCECN;
	tcp_accecn_set_ace(tp, skb, th);
	return tcp_accecn_ace(th) == ((tp->delivered_ce + TCP_ACCECN_CEP_INIT_OFFSET) &
				      TCP_ACCECN_CEP_ACE_MASK);
}
