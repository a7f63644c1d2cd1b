/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a TCP packet of either family at the IP boundary, for TLT (TLT21).  It checks each
 * length that a packet claims.
 */
#ifndef TLT_PACKET_H
#define TLT_PACKET_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/dsfield.h>
#include <net/ip.h>

struct tlt_packet {
	int ifindex;			/* of the device it leaves or came by; 0: not known */
	bool out;
	unsigned int network_bytes;	/* of the IP header */
	unsigned int header_bytes;	/* of the IP and TCP headers */
	unsigned int data_bytes;
	u8 family;
	u8 dscp;
};

/* The header that tlt_packet_read() found; valid until the next pull or copy. */
static inline struct tcphdr *tlt_tcp_header(const struct sk_buff *skb,
					    const struct tlt_packet *p)
{
	return (struct tcphdr *)(skb_network_header(skb) + p->network_bytes);
}

static inline bool tlt_packet_read_ipv4(const struct sk_buff *skb, struct tlt_packet *p)
{
	const struct iphdr *iph = ip_hdr(skb);

	/* A raw socket may send any length of header. */
	if (iph->protocol != IPPROTO_TCP || iph->ihl < 5 || ip_is_fragment(iph))
		return false;
	p->network_bytes = iph->ihl * 4;
	p->dscp = ipv4_get_dsfield(iph) >> 2;
	return true;
}

/* TLT leaves TCP behind extension headers alone. */
static inline bool tlt_packet_read_ipv6(const struct sk_buff *skb, struct tlt_packet *p)
{
	const struct ipv6hdr *iph = ipv6_hdr(skb);

	if (iph->nexthdr != IPPROTO_TCP)
		return false;
	p->network_bytes = sizeof(*iph);
	p->dscp = ipv6_get_dsfield(iph) >> 2;
	return true;
}

/* The IP header is linear and checked; @bytes is the length of the packet. */
static inline bool tlt_packet_read(struct sk_buff *skb, u8 family, unsigned int bytes,
				   struct tlt_packet *p)
{
	unsigned int tcp_bytes;

	p->family = family;
	if (family == AF_INET ? !tlt_packet_read_ipv4(skb, p) : !tlt_packet_read_ipv6(skb, p))
		return false;
	if (!pskb_may_pull(skb, p->network_bytes + sizeof(struct tcphdr)))
		return false;
	tcp_bytes = tlt_tcp_header(skb, p)->doff * 4;
	p->header_bytes = p->network_bytes + tcp_bytes;
	if (tcp_bytes < sizeof(struct tcphdr) || p->header_bytes > bytes ||
	    !pskb_may_pull(skb, p->header_bytes))
		return false;
	p->data_bytes = bytes - p->header_bytes;
	return true;
}

int tlt_packet_mark(struct sk_buff *skb, const struct tlt_packet *p, u8 dscp);
struct sock *tlt_packet_lookup(struct net *net, struct sk_buff *skb, const struct tlt_packet *p,
			       int ifindex, int port);

#endif /* TLT_PACKET_H */
