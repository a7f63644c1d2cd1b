// SPDX-License-Identifier: GPL-2.0
/*
 * What is at the IP boundary: reading a TCP packet of either family, writing its
 * code point, finding its socket.  Nothing that a packet says is believed unread.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/dsfield.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>

#include "tlt.h"

static bool tlt_packet_read_ipv4(const struct sk_buff *skb, struct tlt_packet *p)
{
	const struct iphdr *iph = ip_hdr(skb);

	/* A raw socket may send any length of header. */
	if (iph->ihl < 5 || iph->protocol != IPPROTO_TCP || ip_is_fragment(iph))
		return false;
	p->network_bytes = iph->ihl * 4;
	p->dscp = ipv4_get_dsfield(iph) >> 2;
	return true;
}

/* TCP behind extension headers is not TLT's. */
static bool tlt_packet_read_ipv6(const struct sk_buff *skb, struct tlt_packet *p)
{
	const struct ipv6hdr *iph = ipv6_hdr(skb);

	if (iph->nexthdr != IPPROTO_TCP)
		return false;
	p->network_bytes = sizeof(*iph);
	p->dscp = ipv6_get_dsfield(iph) >> 2;
	return true;
}

/* The stack has checked the IP header on the way here, and it is linear. */
bool tlt_packet_read(struct sk_buff *skb, u8 family, struct tlt_packet *p)
{
	const struct tcphdr *th;

	p->family = family;
	if (family == AF_INET ? !tlt_packet_read_ipv4(skb, p) : !tlt_packet_read_ipv6(skb, p))
		return false;
	if (!pskb_may_pull(skb, p->network_bytes + sizeof(*th)))
		return false;
	th = tlt_tcp_header(skb, p);
	p->header_bytes = p->network_bytes + th->doff * 4;
	if (th->doff * 4 < sizeof(*th) || p->header_bytes > skb->len)
		return false;
	if (!pskb_may_pull(skb, p->header_bytes))
		return false;
	p->data_bytes = skb->len - p->header_bytes;
	return true;
}

/* The ECN bits stay. */
int tlt_packet_mark(struct sk_buff *skb, const struct tlt_packet *p, u8 dscp)
{
	if (p->dscp == dscp)
		return 0;
	if (skb_ensure_writable(skb, p->network_bytes))
		return -ENOMEM;
	if (p->family == AF_INET)
		ipv4_change_dsfield(ip_hdr(skb), INET_ECN_MASK, dscp << 2);
	else
		ipv6_change_dsfield(ipv6_hdr(skb), INET_ECN_MASK, dscp << 2);
	return 0;
}

static struct sock *tlt_packet_lookup(struct net *net, struct sk_buff *skb,
				      const struct tlt_packet *p, int ifindex)
{
	struct inet_hashinfo *table = net->ipv4.tcp_death_row.hashinfo;
	const struct tcphdr *th = tlt_tcp_header(skb, p);

	if (p->family == AF_INET)
		return __inet_lookup_established(net, table, ip_hdr(skb)->saddr, th->source,
						 ip_hdr(skb)->daddr, ntohs(th->dest), ifindex, 0);
#if IS_ENABLED(CONFIG_IPV6)
	return __inet6_lookup_established(net, table, &ipv6_hdr(skb)->saddr, th->source,
					  &ipv6_hdr(skb)->daddr, ntohs(th->dest), ifindex, 0);
#else
	return NULL;
#endif
}

/*
 * The connected socket that a received packet is for, or NULL.  Early demultiplexing
 * has usually found it; if not, *held says that the caller has a reference.
 */
struct sock *tlt_packet_sock(struct net *net, struct sk_buff *skb, const struct tlt_packet *p,
			     int ifindex, bool *held)
{
	struct sock *sk = skb->sk;

	*held = false;
	if (!sk) {
		sk = tlt_packet_lookup(net, skb, p, ifindex);
		*held = sk;
	}
	if (!sk)
		return NULL;
	if (sk_fullsock(sk) && sk_is_tcp(sk) && sk->sk_state != TCP_LISTEN)
		return sk;
	if (*held)
		sock_gen_put(sk);
	*held = false;
	return NULL;
}
