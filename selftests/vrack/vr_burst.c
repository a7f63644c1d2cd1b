// SPDX-License-Identifier: GPL-2.0
/*
 * A TSO skb of TCP on its way through the rack, as hardware reads it: the
 * headers once, and references to the pages. Its frames are made from that when
 * the receiver's NIC hands them to its host: until then, in the switches, a
 * frame is no more than its struct vr_frame, and one that is dropped never
 * becomes an skb. Nothing is shared with the sender's retransmit queue but the
 * pages, which neither side writes.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "vr.h"

/* What the cutter below knows; all else is cut by the stack's own (vnic.c). */
#define GSO_TCP		(SKB_GSO_TCPV4 | SKB_GSO_TCPV6)
#define GSO_KNOWN	(GSO_TCP | SKB_GSO_TCP_ECN | SKB_GSO_TCP_FIXEDID | SKB_GSO_DODGY)

struct vr_burst {
	u32 users;		/* frames, and the ring that cuts it */
	u32 left;		/* payload not yet cut */
	u16 mss;
	u16 segments;		/* cut so far */
	u16 ip_at;		/* offsets in header[] */
	u16 tcp_at;
	u16 header_bytes;
	u16 headroom;
	bool ipv4;
	bool fixed_id;
	u8 shared;		/* SKBFL_SHARED_FRAG or 0 */
	u8 frags;
	u8 next_frag;		/* where the next segment begins */
	u32 next_offset;
	skb_frag_t frag[MAX_SKB_FRAGS];
	u8 header[];
};

static bool simple(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 type = info->gso_type;

	return type & GSO_TCP && !(type & ~GSO_KNOWN) && info->gso_size &&
	       !info->frag_list && !skb_zcopy((struct sk_buff *)skb) && !skb->pp_recycle &&
	       !skb->encapsulation && !skb_vlan_tag_present(skb) &&
	       skb_transport_header_was_set(skb) &&
	       skb_headlen(skb) >= skb_transport_offset(skb) + sizeof(struct tcphdr) &&
	       skb_headlen(skb) == skb_transport_offset(skb) + tcp_hdrlen(skb);
}

static void take_pages(struct vr_burst *b, const struct skb_shared_info *info)
{
	b->frags = info->nr_frags;
	memcpy(b->frag, info->frags, b->frags * sizeof(*b->frag));
	for (u8 i = 0; i < b->frags; i++)
		get_page(skb_frag_page(&b->frag[i]));
}

/* NULL when @skb, whose data begin at the MAC header, is not one for us. */
struct vr_burst *vr_burst_make(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	struct vr_burst *b;

	if (!simple(skb))
		return NULL;
	b = kmalloc(struct_size(b, header, skb_headlen(skb)), GFP_ATOMIC);
	if (!b)
		return NULL;
	b->users = 1;
	b->left = skb->data_len;
	b->mss = info->gso_size;
	b->segments = 0;
	b->ip_at = skb_network_offset(skb);
	b->tcp_at = skb_transport_offset(skb);
	b->header_bytes = skb_headlen(skb);
	b->headroom = skb_headroom(skb);
	b->ipv4 = info->gso_type & SKB_GSO_TCPV4;
	b->fixed_id = info->gso_type & SKB_GSO_TCP_FIXEDID;
	b->shared = info->flags & SKBFL_SHARED_FRAG;
	b->next_frag = 0;
	b->next_offset = 0;
	take_pages(b, info);
	memcpy(b->header, skb->data, b->header_bytes);
	return b;
}

void vr_burst_put(struct vr_burst *b)
{
	if (--b->users)
		return;
	for (u8 i = 0; i < b->frags; i++)
		put_page(skb_frag_page(&b->frag[i]));
	kfree(b);
}

/* Make @frame the next segment. False when it is the last: the ring's reference is gone. */
bool vr_burst_cut(struct vr_burst *b, struct vr_frame *frame)
{
	u32 payload = min_t(u32, b->left, b->mss), left = payload;

	frame->cb.flags |= VR_F_CUT;
	frame->burst = b;
	frame->len = b->header_bytes + payload;
	frame->segment = b->segments++;
	frame->frag = b->next_frag;
	frame->frag_offset = b->next_offset;
	b->left -= payload;
	if (!b->left)
		return false;
	b->users++;
	while (left) {
		u32 n = min(left, skb_frag_size(&b->frag[b->next_frag]) - b->next_offset);

		left -= n;
		b->next_offset += n;
		if (b->next_offset == skb_frag_size(&b->frag[b->next_frag])) {
			b->next_frag++;
			b->next_offset = 0;
		}
	}
	return true;
}

/* As IP_ECN_set_ce() would; the header is written when the frame becomes an skb. */
bool vr_burst_set_ce(struct vr_frame *frame)
{
	const struct vr_burst *b = frame->burst;
	const void *ip = b->header + b->ip_at;
	u8 dsfield = b->ipv4 ? ((const struct iphdr *)ip)->tos : ipv6_get_dsfield(ip);

	if (INET_ECN_is_not_ect(dsfield))
		return false;
	frame->cb.flags |= VR_F_CE;
	return true;
}

static void add_payload(struct sk_buff *skb, const struct vr_frame *frame)
{
	const struct vr_burst *b = frame->burst;
	u32 left = frame->len - b->header_bytes;
	u32 offset = frame->frag_offset;
	u8 i = frame->frag;
	int to = 0;

	for (; left; i++, offset = 0) {
		u32 n = min(left, skb_frag_size(&b->frag[i]) - offset);
		struct page *page = skb_frag_page(&b->frag[i]);

		get_page(page);
		skb_add_rx_frag(skb, to++, page, skb_frag_off(&b->frag[i]) + offset, n, n);
		left -= n;
	}
	skb_shinfo(skb)->flags |= b->shared;
}

/* The checksum is the pseudo header's, as in every frame that a host left to its NIC. */
static void write_tcp(struct sk_buff *skb, const struct vr_frame *frame)
{
	const struct vr_burst *b = frame->burst;
	struct tcphdr *th = tcp_hdr(skb);
	u32 bytes = skb->len - b->tcp_at;

	th->seq = htonl(ntohl(th->seq) + frame->segment * b->mss);
	if (frame->segment)
		th->cwr = 0;
	if (!(frame->cb.flags & VR_F_LAST)) {
		th->fin = 0;
		th->psh = 0;
	}
	if (b->ipv4)
		th->check = ~tcp_v4_check(bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, 0);
	else
		th->check = ~tcp_v6_check(bytes, &ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr, 0);
}

static void write_ip(struct sk_buff *skb, const struct vr_frame *frame)
{
	const struct vr_burst *b = frame->burst;
	struct iphdr *ip = ip_hdr(skb);

	if (!b->ipv4) {
		ipv6_hdr(skb)->payload_len = htons(skb->len - b->ip_at - sizeof(struct ipv6hdr));
		if (frame->cb.flags & VR_F_CE)
			IP6_ECN_set_ce(skb, ipv6_hdr(skb));
		return;
	}
	ip->tot_len = htons(skb->len - b->ip_at);
	if (!b->fixed_id)
		ip->id = htons(ntohs(ip->id) + frame->segment);
	if (frame->cb.flags & VR_F_CE)
		ip->tos |= INET_ECN_CE;
	ip_send_check(ip);
}

/* The frame as an skb of its own, data beginning at the MAC header. NULL without memory. */
struct sk_buff *vr_burst_build(const struct vr_frame *frame)
{
	const struct vr_burst *b = frame->burst;
	struct sk_buff *skb = alloc_skb(b->headroom + b->header_bytes, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, b->headroom);
	skb_put_data(skb, b->header, b->header_bytes);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, b->ip_at);
	skb_set_transport_header(skb, b->tcp_at);
	add_payload(skb, frame);
	write_tcp(skb, frame);
	write_ip(skb, frame);
	return skb;
}
