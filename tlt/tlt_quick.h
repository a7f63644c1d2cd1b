/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short way of a packet that needs no more than its mark, which is that of most: it
 * is of a flow that is known to match the rules, and neither this packet nor the mark it
 * came with changes what is known of the flow.  No lock is taken and nothing is written
 * but the mark and counters.  Whatever is not plain at first sight is left to the long
 * way, which decides the same.
 */
#ifndef TLT_QUICK_H
#define TLT_QUICK_H

#include <net/checksum.h>

#include "tlt.h"

/* For the compiler, which makes one function of these and leaves out the other family. */
static __always_inline unsigned int tlt_quick_network_bytes(u8 family)
{
	return family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

/* The IP header is linear and was checked, or is of this host's making. */
static __always_inline bool tlt_quick_is_tcp(const struct sk_buff *skb, u8 family)
{
	if (family == AF_INET6)
		return ipv6_hdr(skb)->nexthdr == IPPROTO_TCP;
	return ip_hdr(skb)->protocol == IPPROTO_TCP && !ip_is_fragment(ip_hdr(skb));
}

/* A packet begins at its IP header wherever TLT looks at it closer. */
static __always_inline const struct tcphdr *tlt_quick_header(const struct sk_buff *skb, u8 family)
{
	return (const void *)(skb->data + tlt_quick_network_bytes(family));
}

/* If the TCP header is the next, can it be read?  Of IPv4 without options. */
static __always_inline bool tlt_quick_is_next(const struct sk_buff *skb, u8 family)
{
	return skb_headlen(skb) >= tlt_quick_network_bytes(family) + sizeof(struct tcphdr) &&
	       (family == AF_INET6 || *skb->data == 0x45);
}

static __always_inline u8 tlt_quick_dscp(const struct sk_buff *skb, u8 family)
{
	return (family == AF_INET ? ipv4_get_dsfield(ip_hdr(skb)) :
				    ipv6_get_dsfield(ipv6_hdr(skb))) >> 2;
}

static __always_inline bool tlt_quick_is_edge(const struct tcphdr *th)
{
	return tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_FIN | TCP_FLAG_RST);
}

/* The flow of a socket if the rules are known to match it. */
static __always_inline struct tlt_flow *tlt_quick_flow(const struct tlt_net *tn,
						       const struct tlt_config *config,
						       const struct sock *sk)
{
	struct tlt_flow *flow;

	if (!sk || !sk_fullsock(sk))
		return NULL;
	flow = tlt_flow_recent(tn, sk);
	return flow && READ_ONCE(flow->generation) == config->generation ? flow : NULL;
}

static __always_inline bool tlt_quick_is_plain(const struct tlt_flow *flow, const struct sock *sk,
					       const struct tcphdr *th)
{
	struct tlt_burst b;

	tlt_out_look(flow, sk, th, &b);
	return tlt_sender_waits(&flow->sender, &b);
}

/* As ipv4_change_dsfield(), in fewer steps: what the header begins with is a word of its sum. */
static __always_inline void tlt_quick_mark_ipv4(struct iphdr *iph, u8 dscp)
{
	__be16 before = *(const __be16 *)iph;

	iph->tos = (iph->tos & INET_ECN_MASK) | dscp << 2;
	csum_replace2(&iph->check, before, *(const __be16 *)iph);
}

/*
 * Not where the headers are TCP's, or another's, too.  A clone that is the last of its kind
 * may be taken for one that is not: then the long way looks closer.
 */
static __always_inline bool tlt_quick_mark(struct sk_buff *skb, u8 family, u8 dscp)
{
	if (skb->cloned && !skb_clone_writable(skb, tlt_quick_network_bytes(family)))
		return false;
	if (family == AF_INET)
		tlt_quick_mark_ipv4(ip_hdr(skb), dscp);
	else
		ipv6_change_dsfield(ipv6_hdr(skb), INET_ECN_MASK, dscp << 2);
	return true;
}

/* Is the packet's code point one that is left alone perhaps? */
static __always_inline bool tlt_quick_is_classed(const struct tlt_config *config,
						 const struct sk_buff *skb, u8 family)
{
	u8 dscp = tlt_quick_dscp(skb, family);

	return dscp && (config->foreign == TLT_FOREIGN_KEEP || config->kind[dscp] != TLT_NONE);
}

/* True: it is on its way.  The headers are TCP's own, since the flow is. */
static __always_inline bool tlt_quick_out(struct tlt_net *tn, const struct tlt_config *config,
					  struct sk_buff *skb, const struct tcphdr *th, u8 family)
{
	struct tlt_flow *flow = tlt_quick_flow(tn, config, skb->sk);
	unsigned int header_bytes, segments = 1;
	enum tlt_kind kind = TLT_CONTROL;

	if (!flow || tlt_quick_is_edge(th) || tlt_quick_is_classed(config, skb, family))
		return false;
	header_bytes = tlt_quick_network_bytes(family) + th->doff * 4;
	if (skb->len > header_bytes) {
		if (READ_ONCE(flow->injecting) == skb || !tlt_quick_is_plain(flow, skb->sk, th))
			return false;
		kind = TLT_PLAIN;
		segments = max_t(u32, skb_shinfo(skb)->gso_segs, 1);
	} else if (READ_ONCE(flow->receiver.answer) != TLT_NONE) {
		return false;
	}
	if (!tlt_quick_mark(skb, family, config->dscp[kind]))
		return false;
	tlt_flow_touch(flow);
	tlt_count_sent(tn, flow, kind, segments, skb->len, header_bytes);
	return true;
}

/* True: its mark asks for nothing. */
static __always_inline bool tlt_quick_in(struct tlt_net *tn, const struct tlt_config *config,
					 const struct sk_buff *skb, const struct tcphdr *th,
					 u8 family)
{
	u8 kind = config->kind[tlt_quick_dscp(skb, family)];
	struct tlt_flow *flow;

	if ((kind != TLT_PLAIN && kind != TLT_CONTROL) || tlt_quick_is_edge(th))
		return false;
	flow = tlt_quick_flow(tn, config, skb->sk);
	if (!flow || !READ_ONCE(flow->sender.hears))
		return false;
	tlt_flow_touch(flow);
	tlt_count(tn, TLT_STAT_RECEIVED + kind);
	return true;
}

#endif /* TLT_QUICK_H */
