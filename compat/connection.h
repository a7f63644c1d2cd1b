/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds a TCP connection's socket, and finishes a packet that goes out by one.
 */
#ifndef TURNPIKE_COMPAT_CONNECTION_H
#define TURNPIKE_COMPAT_CONNECTION_H

#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "compat/compat.h"

/*
 * The connection between that peer and an address of this host (@own_port is in host order), with
 * a reference; it may be no full socket.  The caller holds the RCU read lock.
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
 * Begins the checksum of a packet that begins at its TCP header; the device finishes it.  Goes by
 * the family of the packet: a socket of IPv6 with a mapped address sends IPv4.
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
