// SPDX-License-Identifier: GPL-2.0
/*
 * The kind of a packet: TCP data, which a pause may hold, or another.  Model: ONRAMP21.
 */
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "compat/connection.h"
#include "onramp_packet.h"

/* The TCP header of a packet that its socket's own TCP made.  NULL: that is not sure, as with
 * tunnels and rewritten ports.
 */
static const struct tcphdr *onramp_packet_tcp(const struct sk_buff *skb, u32 *offset)
{
	const struct inet_sock *inet = inet_sk(skb->sk);
	const struct tcphdr *th;

	if (skb->encapsulation) {
		*offset = skb_inner_transport_offset(skb);
		th = (const struct tcphdr *)skb_inner_transport_header(skb);
	} else {
		if (!skb_transport_header_was_set(skb))
			return NULL;
		*offset = skb_transport_offset(skb);
		th = tcp_hdr(skb);
	}
	if ((s32)*offset < 0 || *offset + sizeof(*th) > skb_headlen(skb))
		return NULL;
	if (th->source != inet->inet_sport || th->dest != inet->inet_dport)
		return NULL;
	return th;
}

enum onramp_kind onramp_packet_kind(const struct sk_buff *skb, struct onramp_segment *seg)
{
	const struct sock *sk = skb->sk;
	const struct tcphdr *th;
	u32 offset;

	if (!sk || !sk_fullsock(sk) || !tp_sk_is_tcp(sk) || sk->sk_state == TCP_LISTEN ||
	    sk->sk_state == TCP_CLOSE)
		return ONRAMP_PLAIN;
	th = onramp_packet_tcp(skb, &offset);
	if (!th || th->syn)
		return ONRAMP_PLAIN;
	if (th->rst)
		return ONRAMP_AHEAD;
	offset += th->doff * 4;
	if (skb->len > offset) {
		seg->seq = ntohl(th->seq);
		seg->payload = skb->len - offset;
		return ONRAMP_DATA;
	}
	return th->fin ? ONRAMP_FIN : ONRAMP_AHEAD;
}

void onramp_packet_key(const struct sock *sk, struct onramp_key *key)
{
	const struct inet_sock *inet = inet_sk(sk);

	memset(key, 0, sizeof(*key));
	write_pnet(&key->net, sock_net(sk));
	key->sport = inet->inet_sport;
	key->dport = inet->inet_dport;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		key->saddr = sk->sk_v6_rcv_saddr;
		key->daddr = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet->inet_rcv_saddr, &key->saddr);
	ipv6_addr_set_v4mapped(inet->inet_daddr, &key->daddr);
}

/* Looks up the connection whose own end is saddr and sport of the key.  It comes with a reference
 * (sock_gen_put()), and may be no full socket.  Caller holds the RCU read lock.
 */
struct sock *onramp_packet_socket(const struct onramp_key *key, int ifindex)
{
	struct net *net = read_pnet(&key->net);

#if IS_ENABLED(CONFIG_IPV6)
	if (!ipv6_addr_v4mapped(&key->daddr))
		return tp_inet6_lookup(net, &key->daddr, key->dport, &key->saddr,
				       ntohs(key->sport), ifindex, 0);
#endif
	return tp_inet_lookup(net, key->daddr.s6_addr32[3], key->dport, key->saddr.s6_addr32[3],
			      ntohs(key->sport), ifindex, 0);
}
