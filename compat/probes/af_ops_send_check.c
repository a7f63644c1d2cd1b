// SPDX-License-Identifier: GPL-2.0
/* Does a connection's address family still have a function for TCP's checksum? */
#include <net/tcp.h>

void probe(struct sock *sk, struct sk_buff *skb);
void probe(struct sock *sk, struct sk_buff *skb)
{
	inet_csk(sk)->icsk_af_ops->send_check(sk, skb);
}
