// SPDX-License-Identifier: GPL-2.0
/*
 * How OR-ACKs are sent.  This file builds the packets: its callers have bottom halves off, and
 * hold no qdisc's lock.  Model: OR-ACKs (ONRAMP21, section 3.1).
 */
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

#include "orack_key.h"
#include "orack_xmit.h"
#include "sch_onramp/onramp_net.h"

/* Queues and qdiscs choose by it, and need not look into the packet. */
static u32 orack_hash(const struct orack_packet *p, u16 port)
{
	return jhash_3words(ipv6_addr_hash(&p->maced.from), ipv6_addr_hash(&p->maced.to), port, 0);
}

static struct sk_buff *orack_build(const struct orack_packet *p, const struct dst_entry *dst,
				   u16 port)
{
	u32 headers = LL_RESERVED_SPACE(dst->dev) + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	struct sk_buff *skb = alloc_skb(headers + p->bytes + dst->dev->needed_tailroom,
					GFP_ATOMIC | __GFP_NOWARN);
	struct udphdr *uh;

	if (!skb)
		return NULL;
	skb_reserve(skb, headers);
	skb_put_data(skb, p->maced.data, p->bytes);
	uh = skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	uh->source = htons(port);
	uh->dest = htons(port);
	uh->len = htons(skb->len);
	uh->check = 0;
	skb_set_hash(skb, orack_hash(p, port), PKT_HASH_TYPE_L4);
	return skb;
}

static void orack_header_ipv4(const struct sock *sk, struct sk_buff *skb, __be32 saddr,
			      __be32 daddr, u8 tos)
{
	const struct dst_entry *dst = skb_dst(skb);
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = tos;
	iph->ttl = ip4_dst_hoplimit(dst);
	iph->protocol = IPPROTO_UDP;
	iph->saddr = saddr;
	iph->daddr = daddr;
	iph->id = 0;
	iph->frag_off = ip_dont_fragment(sk, dst) ? htons(IP_DF) : 0;
	if (!iph->frag_off)
		__ip_select_ident(sock_net(sk), iph, 1);
}

static int orack_send_ipv4(struct sock *sk, const struct orack_packet *p, u16 port)
{
	__be32 saddr = p->maced.from.s6_addr32[3], daddr = p->maced.to.s6_addr32[3];
	struct sk_buff *skb;
	struct flowi4 fl4;
	struct rtable *rt;

	rt = ip_route_output_ports(sock_net(sk), &fl4, NULL, daddr, saddr, htons(port),
				   htons(port), IPPROTO_UDP, p->tos, 0);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	skb = orack_build(p, &rt->dst, port);
	if (!skb) {
		ip_rt_put(rt);
		return -ENOMEM;
	}
	skb_dst_set(skb, &rt->dst);
	skb->protocol = htons(ETH_P_IP);
	udp_set_csum(false, skb, saddr, daddr, skb->len);
	orack_header_ipv4(sk, skb, saddr, daddr, p->tos);
	skb->priority = READ_ONCE(sk->sk_priority);
	skb->mark = READ_ONCE(sk->sk_mark);
	return ip_local_out(sock_net(sk), NULL, skb);
}

#if IS_ENABLED(CONFIG_IPV6)
static int orack_send_ipv6(struct sock *sk, const struct orack_packet *p, u16 port)
{
	struct flowi6 fl6 = {
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_oif = p->oif,
		.saddr = p->maced.from,
		.daddr = p->maced.to,
		.fl6_sport = htons(port),
		.fl6_dport = htons(port),
	};
	struct dst_entry *dst = ip6_route_output(sock_net(sk), NULL, &fl6);
	struct sk_buff *skb;
	int err = dst->error;

	if (err)
		goto fail;
	err = -ENOMEM;
	skb = orack_build(p, dst, port);
	if (!skb)
		goto fail;
	skb_dst_set(skb, dst);
	skb->protocol = htons(ETH_P_IPV6);
	udp6_set_csum(false, skb, &fl6.saddr, &fl6.daddr, skb->len);
	return ip6_xmit(sk, skb, &fl6, READ_ONCE(sk->sk_mark), NULL, p->tos,
			READ_ONCE(sk->sk_priority));

fail:
	dst_release(dst);
	return err;
}
#else
static int orack_send_ipv6(struct sock *sk, const struct orack_packet *p, u16 port)
{
	return -EAFNOSUPPORT;
}
#endif

/* Signs and sends @p.  Bottom halves are off; under the RCU read lock. */
int orack_send(struct onramp_net *on, struct orack_packet *p)
{
	struct sock *sk = rcu_dereference(on->socket.sk);
	u16 port = READ_ONCE(on->socket.port);
	int err;

	if (!sk)
		return -ENOTCONN;
	orack_key_sign(on, p);
	if (ipv6_addr_v4mapped(&p->maced.to))
		err = orack_send_ipv4(sk, p, port);
	else if (sk->sk_family == AF_INET6)
		err = orack_send_ipv6(sk, p, port);
	else
		err = -EAFNOSUPPORT;
	/* The packet went, and the queue is getting full. */
	if (err == NET_XMIT_CN)
		err = 0;
	if (err)
		orack_count(on, ONRAMP_STAT_SEND_FAILED);
	return err;
}
