// SPDX-License-Identifier: GPL-2.0
/* What the rack reads from a frame's headers, and what it writes: ECN's one bit, and no DSCP. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "vr.h"

struct l4 {
	u32 offset;	/* of the transport header; 0: none to be read */
	u8 proto;
	u8 dsfield;
};

/* EtherType behind up to two VLAN tags; *@offset is moved behind them. */
static __be16 ether_type(const struct sk_buff *skb, const struct ethhdr *eth, u32 *offset)
{
	__be16 type = eth->h_proto;
	struct vlan_hdr _vlan;
	const struct vlan_hdr *vlan;
	int depth;

	*offset = ETH_HLEN;
	for (depth = 0; depth < 2 && eth_type_vlan(type); depth++) {
		vlan = skb_header_pointer(skb, *offset, sizeof(_vlan), &_vlan);
		if (!vlan)
			return 0;
		type = vlan->h_vlan_encapsulated_proto;
		*offset += VLAN_HLEN;
	}
	return type;
}

static void read_ipv4(const struct sk_buff *skb, u32 offset, struct vr_cb *cb, struct l4 *l4)
{
	struct iphdr _ip;
	const struct iphdr *ip = skb_header_pointer(skb, offset, sizeof(_ip), &_ip);

	if (!ip || ip->ihl < 5)
		return;
	if (cb->dst == VR_NO_NODE)
		cb->dst = vr_addr_find4(ip->daddr);
	cb->hash = jhash_3words((__force u32)ip->saddr, (__force u32)ip->daddr, ip->protocol, 0);
	l4->dsfield = ip->tos;
	l4->proto = ip->protocol;
	if (!(ip->frag_off & htons(IP_OFFSET | IP_MF)))
		l4->offset = offset + ip->ihl * 4;
}

static void read_ipv6(const struct sk_buff *skb, u32 offset, struct vr_cb *cb, struct l4 *l4)
{
	struct ipv6hdr _ip;
	const struct ipv6hdr *ip = skb_header_pointer(skb, offset, sizeof(_ip), &_ip);

	if (!ip)
		return;
	if (cb->dst == VR_NO_NODE)
		cb->dst = vr_addr_find6(&ip->daddr);
	cb->hash = jhash2((const u32 *)&ip->saddr, 8, ip->nexthdr);
	l4->dsfield = ipv6_get_dsfield(ip);
	l4->proto = ip->nexthdr;
	l4->offset = offset + sizeof(*ip);
}

static bool has_payload(const struct sk_buff *skb, const struct l4 *l4)
{
	struct tcphdr _tcp;
	const struct tcphdr *tcp;

	if (l4->proto == IPPROTO_UDP)
		return true;
	if (l4->proto != IPPROTO_TCP || !l4->offset)
		return false;
	tcp = skb_header_pointer(skb, l4->offset, sizeof(_tcp), &_tcp);
	return tcp && skb->len > l4->offset + tcp->doff * 4;
}

static void hash_ports(const struct sk_buff *skb, const struct l4 *l4, struct vr_cb *cb)
{
	__be32 _ports;
	const __be32 *ports;

	if (!l4->offset || (l4->proto != IPPROTO_TCP && l4->proto != IPPROTO_UDP))
		return;
	ports = skb_header_pointer(skb, l4->offset, sizeof(_ports), &_ports);
	if (ports)
		cb->hash = jhash_1word((__force u32)*ports, cb->hash);
}

/* Fill the control block of a frame (or TSO skb) whose data begin at the MAC header. */
void vr_classify(struct sk_buff *skb, const struct vr_nic *from)
{
	struct vr_cb *cb = vr_cb(skb);
	struct ethhdr _eth;
	const struct ethhdr *eth = skb_header_pointer(skb, 0, sizeof(_eth), &_eth);
	struct l4 l4 = {};
	u32 offset;
	__be16 type;

	memset(cb, 0, sizeof(*cb));
	cb->dst = VR_NO_NODE;
	if (!skb_is_gso(skb))
		cb->wire_bytes = vr_wire_bytes(skb->len +
					       (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0));
	if (!eth)
		return;
	if (is_multicast_ether_addr(eth->h_dest))
		cb->flags |= VR_F_FLOOD;
	else if (!ether_addr_equal(eth->h_dest, from->dev->dev_addr))
		cb->dst = vr_addr_find_mac(eth->h_dest);
	type = ether_type(skb, eth, &offset);
	if (type == htons(ETH_P_IP))
		read_ipv4(skb, offset, cb, &l4);
	else if (type == htons(ETH_P_IPV6))
		read_ipv6(skb, offset, cb, &l4);
	hash_ports(skb, &l4, cb);
	if (has_payload(skb, &l4))
		cb->flags |= VR_F_PAYLOAD;
	cb->prio = vrack.dscp_prio[l4.dsfield >> 2];
	cb->color = vrack.dscp_color[l4.dsfield >> 2];
}

static u32 ip_offset(const struct sk_buff *skb, __be16 *type)
{
	struct ethhdr _eth;
	const struct ethhdr *eth = skb_header_pointer(skb, 0, sizeof(_eth), &_eth);
	u32 offset = ETH_HLEN;

	*type = eth ? ether_type(skb, eth, &offset) : 0;
	return offset;
}

/* Mark congestion experienced. False when the sender is not ECN capable. */
bool vr_header_set_ce(struct sk_buff *skb)
{
	__be16 type;
	u32 offset = ip_offset(skb, &type);
	u32 bytes = type == htons(ETH_P_IPV6) ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	if (type != htons(ETH_P_IP) && type != htons(ETH_P_IPV6))
		return false;
	if (skb_ensure_writable(skb, offset + bytes))
		return false;
	if (type == htons(ETH_P_IP))
		return IP_ECN_set_ce((struct iphdr *)(skb->data + offset));
	return IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + offset));
}

/* DSCP 0; the two bits of ECN stay.  What is no IP has none. */
void vr_header_clear_dscp(struct sk_buff *skb)
{
	__be16 type;
	u32 offset = ip_offset(skb, &type);
	u32 bytes = type == htons(ETH_P_IPV6) ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

	if (type != htons(ETH_P_IP) && type != htons(ETH_P_IPV6))
		return;
	if (skb_ensure_writable(skb, offset + bytes))
		return;
	if (type == htons(ETH_P_IP))
		ipv4_change_dsfield((struct iphdr *)(skb->data + offset), INET_ECN_MASK, 0);
	else
		ipv6_change_dsfield((struct ipv6hdr *)(skb->data + offset), INET_ECN_MASK, 0);
}

bool vr_header_is_ce(const struct sk_buff *skb)
{
	struct iphdr _ip;
	const struct iphdr *ip = skb_header_pointer(skb, ETH_HLEN, sizeof(_ip), &_ip);

	return ip && INET_ECN_is_ce(ip->tos);
}

/*
 * A UDP frame of @ip_bytes (28 and more) for frame sources, classified and
 * flagged VR_F_SYNTH. @flow varies the source port. NULL without memory.
 */
struct sk_buff *vr_header_build(struct vr_nic *from, struct vr_nic *to, u32 ip_bytes, u8 tos,
				u16 flow)
{
	struct sk_buff *skb = alloc_skb(ETH_HLEN + ip_bytes, GFP_ATOMIC);
	struct ethhdr *eth;
	struct udphdr *udp;
	struct iphdr *ip;

	if (!skb)
		return NULL;
	eth = skb_put_zero(skb, ETH_HLEN + ip_bytes);
	ether_addr_copy(eth->h_dest, to->dev->dev_addr);
	ether_addr_copy(eth->h_source, from->dev->dev_addr);
	eth->h_proto = htons(ETH_P_IP);
	ip = (struct iphdr *)(eth + 1);
	ip->version = 4;
	ip->ihl = 5;
	ip->tos = tos;
	ip->ttl = 64;
	ip->tot_len = htons(ip_bytes);
	ip->protocol = IPPROTO_UDP;
	ip->saddr = from->ip;
	ip->daddr = to->ip;
	ip_send_check(ip);
	udp = (struct udphdr *)(ip + 1);
	udp->source = htons(1024 + flow);
	udp->dest = htons(9);
	udp->len = htons(ip_bytes - sizeof(*ip));
	vr_classify(skb, from);
	vr_cb(skb)->flags |= VR_F_SYNTH;
	return skb;
}
