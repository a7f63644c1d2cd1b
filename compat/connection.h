/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding a TCP connection's socket, and finishing a packet that goes out by one.
 */
#ifndef TURNPIKE_COMPAT_CONNECTION_H
#define TURNPIKE_COMPAT_CONNECTION_H

#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "compat/compat.h"

/*
 * The connection between that address and port and one of ours (whose port is in host order),
 * with a reference; it may be no full socket.  Caller holds the RCU read lock.
 */
static inline struct sock *
tp_inet_lookup(struct net *net, __be32 peer, __be16 peer_port, __be32 own, u16 own_port,
	       int ifindex, int sdif)
{
#ifdef TP_HAVE_INET_LOOKUP_NO_TABLE
	return __inet_lookup_established(net, peer, peer_port, own, own_port, ifindex, sdif);
#else
	return __inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, peer, peer_port,
					 own, own_port, ifindex, sdif);
#endif
}

#if IS_ENABLED(CONFIG_IPV6)
static inline struct sock *
tp_inet6_lookup(struct net *net, const struct in6_addr *peer, __be16 peer_port,
		const struct in6_addr *own, u16 own_port, int ifindex, int sdif)
{
#ifdef TP_HAVE_INET_LOOKUP_NO_TABLE
	return __inet6_lookup_established(net, peer, peer_port, own, own_port, ifindex, sdif);
#else
	return __inet6_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, peer, peer_port,
					  own, own_port, ifindex, sdif);
#endif
}
#endif

/*
 * The checksum of a packet that begins at its TCP header, for the device to finish.  By the
 * family of what is sent, which a mapped address on a socket of IPv6 makes IPv4's.
 */
static inline void tp_tcp_send_check(struct sock *sk, struct sk_buff *skb)
{
#ifdef TP_HAVE_AF_OPS_SEND_CHECK
	inet_csk(sk)->icsk_af_ops->send_check(sk, skb);
#else
#if IS_ENABLED(CONFIG_IPV6)
	if (inet_csk(sk)->icsk_af_ops->net_header_len == sizeof(struct ipv6hdr)) {
		__tcp_v6_send_check(skb, &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr);
		return;
	}
#endif
	__tcp_v4_send_check(skb, inet_sk(sk)->inet_saddr, inet_sk(sk)->inet_daddr);
#endif
}

#endif /* TURNPIKE_COMPAT_CONNECTION_H */
