/* SPDX-License-Identifier: GPL-2.0 */
/* How modules of the rack name the TCP data of a packet, and those that it acks. */
#ifndef VR_TCP_H
#define VR_TCP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/ipv6.h>

/* Of a flow, by its data's sender, and a sequence number. */
static inline u64 vr_tcp_name(const struct in6_addr *local, const struct in6_addr *remote,
			      __be16 local_port, __be16 remote_port, u32 seq)
{
	u32 hash = jhash2((__force const u32 *)local->s6_addr32, 4, (__force u32)local_port);

	hash = jhash2((__force const u32 *)remote->s6_addr32, 4,
		      hash + (__force u32)remote_port);
	return (u64)hash << 32 | seq;
}

/* Whom a packet is from and to, and where its TCP header begins. */
struct vr_tcp_ends {
	struct in6_addr from;
	struct in6_addr to;
	int tcp_at;
};

static inline bool vr_tcp_find_ends(const struct sk_buff *skb, int at, struct vr_tcp_ends *e)
{
	struct ipv6hdr _ip6;
	const struct ipv6hdr *ip6;
	struct iphdr _ip;
	const struct iphdr *ip = skb_header_pointer(skb, at, sizeof(_ip), &_ip);

	if (ip && ip->version == 4 && ip->protocol == IPPROTO_TCP) {
		ipv6_addr_set_v4mapped(ip->saddr, &e->from);
		ipv6_addr_set_v4mapped(ip->daddr, &e->to);
		e->tcp_at = at + ip->ihl * 4;
		return true;
	}
	ip6 = skb_header_pointer(skb, at, sizeof(_ip6), &_ip6);
	if (!ip6 || ip6->version != 6 || ip6->nexthdr != IPPROTO_TCP)
		return false;
	e->from = ip6->saddr;
	e->to = ip6->daddr;
	e->tcp_at = at + sizeof(*ip6);
	return true;
}

/* The TCP header of a packet whose IP header is @at, NULL if it is no plain TCP. */
static inline const struct tcphdr *vr_tcp_read(const struct sk_buff *skb, int at,
					       struct tcphdr *room, struct vr_tcp_ends *e)
{
	return vr_tcp_find_ends(skb, at, e) ?
		       skb_header_pointer(skb, e->tcp_at, sizeof(*room), room) : NULL;
}

/* Of the data up to @seq in this packet, */
static inline u64 vr_tcp_name_of_data(const struct vr_tcp_ends *e, const struct tcphdr *th, u32 seq)
{
	return vr_tcp_name(&e->from, &e->to, th->source, th->dest, seq);
}

/* and of those that it acks. */
static inline u64 vr_tcp_name_of_acked(const struct vr_tcp_ends *e, const struct tcphdr *th)
{
	return vr_tcp_name(&e->to, &e->from, th->dest, th->source, ntohl(th->ack_seq));
}

/* The addresses of @sk's connection, whatever its family. */
static inline void vr_tcp_addresses(const struct sock *sk, struct in6_addr *local,
				    struct in6_addr *remote)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		*local = sk->sk_v6_rcv_saddr;
		*remote = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, local);
	ipv6_addr_set_v4mapped(sk->sk_daddr, remote);
}

/* Of what @sk sent up to @seq, */
static inline u64 vr_tcp_name_of_socket(const struct sock *sk, u32 seq)
{
	struct in6_addr local, remote;

	vr_tcp_addresses(sk, &local, &remote);
	return vr_tcp_name(&local, &remote, inet_sk(sk)->inet_sport, sk->sk_dport, seq);
}

/* and of all that its peer sent, as of sequence number 0. */
static inline u64 vr_tcp_name_of_peer(const struct sock *sk)
{
	struct in6_addr local, remote;

	vr_tcp_addresses(sk, &local, &remote);
	return vr_tcp_name(&remote, &local, sk->sk_dport, inet_sk(sk)->inet_sport, 0);
}

/* Of all data in this packet, which are a FIN, too; 0: it has none. */
static inline u64 vr_tcp_name_of_all(const struct sk_buff *skb, const struct vr_tcp_ends *e,
				     const struct tcphdr *th)
{
	u32 bytes = skb->len - e->tcp_at - th->doff * 4 + th->fin;

	return bytes ? vr_tcp_name_of_data(e, th, ntohl(th->seq) + bytes) : 0;
}

#endif /* VR_TCP_H */
