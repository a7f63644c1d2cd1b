// SPDX-License-Identifier: GPL-2.0
#include <net/ip6_checksum.h>
#include <net/tcp.h>

void probe(struct sock *sk, struct sk_buff *skb);
void probe(struct sock *sk, struct sk_buff *skb)
{
	__tcp_v4_send_check(skb, inet_sk(sk)->inet_saddr, inet_sk(sk)->inet_daddr);
	__tcp_v6_send_check(skb, &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr);
}
