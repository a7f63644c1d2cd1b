// SPDX-License-Identifier: GPL-2.0
/*
 * The last segment of a burst becomes a packet of its own, the only important one (TLT21).
 * TCP keeps the burst's pages for retransmission and shares their list with the burst.  So the
 * burst gets a list of its own, and the tail takes over the end of that.  No page is copied.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>

#include "compat/ecn.h"
#include "tlt_cut.h"
#include "tlt_flow.h"
#include "tlt_net.h"
#include "tlt_packet.h"

/*
 * TCP's small queues give back a packet's charge when it is gone, and each destructor does that
 * in its own way.  The module charges the tail as TCP does, so it leaves a burst whole that another
 * module on the way here took over.  Most kernels hide TCP's destructor from modules, so the module
 * finds it by name, once.
 */
static bool tlt_cut_is_charged_by_tcp(const struct sk_buff *skb)
{
	static void (*tcps)(struct sk_buff *skb);
	char name[sizeof("tcp_wfree") + 1];	/* room to see a longer name */

	if (!skb->destructor)
		return false;
	if (skb->destructor == READ_ONCE(tcps))
		return true;
	snprintf(name, sizeof(name), "%ps", skb->destructor);
	if (IS_ENABLED(CONFIG_KALLSYMS) && strcmp(name, "tcp_wfree"))
		return false;
	WRITE_ONCE(tcps, skb->destructor);
	return true;
}

static bool tlt_cut_allowed(const struct sk_buff *skb, const struct tlt_packet *p)
{
	return skb_is_gso(skb) && (skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)) &&
	       skb->ip_summed == CHECKSUM_PARTIAL && !tlt_tcp_header(skb, p)->urg &&
	       !skb_has_frag_list(skb) && p->data_bytes > skb_shinfo(skb)->gso_size;
}

/* The beginning of a checksum that the device finishes. */
static void tlt_cut_checksum(struct sk_buff *skb, const struct tlt_packet *p)
{
	struct tcphdr *th = tlt_tcp_header(skb, p);
	unsigned int bytes = skb->len - p->network_bytes;

	if (p->family == AF_INET)
		th->check = ~tcp_v4_check(bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, 0);
	else
		th->check = ~csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr,
					     bytes, IPPROTO_TCP, 0);
}

/* Lengths, and for IPv4 the identification, which counts segments. */
static void tlt_cut_lengths(struct sk_buff *skb, const struct tlt_packet *p, u16 segments_before)
{
	if (p->family == AF_INET) {
		struct iphdr *iph = ip_hdr(skb);

		iph->id = htons(ntohs(iph->id) + segments_before);
		/* As the stack does for packets longer than the field can say. */
		iph->tot_len = skb->len <= IP_MAX_MTU ? htons(skb->len) : 0;
		ip_send_check(iph);
	} else {
		ipv6_hdr(skb)->payload_len = htons(skb->len - sizeof(struct ipv6hdr));
	}
	tlt_cut_checksum(skb, p);
}

/* A packet for the data behind @left bytes: room for headers, and for TCP's rare linear data. */
static struct sk_buff *tlt_cut_alloc(const struct sk_buff *skb, const struct tlt_packet *p,
				     unsigned int left)
{
	unsigned int room = skb_headroom(skb) + p->header_bytes;
	unsigned int linear = skb_headlen(skb);
	struct sk_buff *tail;

	linear -= min(linear, p->header_bytes + left);
	tail = alloc_skb(room + linear, GFP_ATOMIC | __GFP_NOWARN);
	if (tail)
		skb_reserve(tail, room);
	return tail;
}

/* @skb has its list of pages for itself. */
static void tlt_cut_split(struct sk_buff *skb, struct sk_buff *tail, const struct tlt_packet *p,
			  unsigned int left)
{
	skb_split(skb, tail, p->header_bytes + left);
	tail->truesize += tail->data_len;
	memcpy(skb_push(tail, p->header_bytes), skb->data, p->header_bytes);
	/* With the same room before the data all offsets are the same. */
	skb_copy_header(tail, skb);
	skb_shinfo(tail)->gso_size = 0;
	skb_shinfo(tail)->gso_segs = 1;
	skb_shinfo(tail)->gso_type = 0;
}

/* Pages that moved count for one packet only, unless the other's truesize would be too small. */
static unsigned int tlt_cut_moved(const struct sk_buff *tail, const struct sk_buff *skb)
{
	return skb->truesize > tail->data_len + SKB_TRUESIZE(skb->len) ? tail->data_len : 0;
}

/*
 * TCP's small queues wake the sender when its last packet is gone, which may be this one.  Pages
 * that moved count once, as with TCP's own fragments: a receiver on this host makes its window
 * of the truesize of packets.
 */
static void tlt_cut_own(struct sk_buff *tail, struct sk_buff *skb)
{
	unsigned int moved = tlt_cut_moved(tail, skb);

	skb->truesize -= moved;
	tail->sk = skb->sk;
	tail->destructor = skb->destructor;
	refcount_add(tail->truesize - moved, &skb->sk->sk_wmem_alloc);
}

static void tlt_cut_flags(struct sk_buff *skb, struct sk_buff *tail, const struct tlt_packet *p,
			  unsigned int left)
{
	struct tcphdr *first = tlt_tcp_header(skb, p);
	struct tcphdr *last = tlt_tcp_header(tail, p);

	last->seq = htonl(ntohl(first->seq) + left);
	if (!tp_skb_ecn_counts(skb))
		last->cwr = 0;
	first->fin = 0;
	first->psh = 0;
}

/* A timestamp that the application wants is that of the packet with its last byte. */
static void tlt_cut_stamps(struct sk_buff *skb, struct sk_buff *tail, const struct tlt_packet *p)
{
	struct skb_shared_info *first = skb_shinfo(skb), *last = skb_shinfo(tail);

	if (!(first->tx_flags & SKBTX_ANY_TSTAMP) ||
	    before(first->tskey, ntohl(tlt_tcp_header(tail, p)->seq)))
		return;
	last->tx_flags |= first->tx_flags & SKBTX_ANY_TSTAMP;
	last->tskey = first->tskey;
	first->tx_flags &= ~SKBTX_ANY_TSTAMP;
}

/* The rest may be a single segment, which is no GSO packet. */
static void tlt_cut_rest(struct sk_buff *skb, u16 segments)
{
	skb_shinfo(skb)->gso_segs = segments;
	if (segments > 1)
		return;
	skb_shinfo(skb)->gso_size = 0;
	skb_shinfo(skb)->gso_type = 0;
}

/*
 * Cut the last segment off @skb, a GSO packet on its way out.  If it is none, or if that
 * fails, the function returns false and leaves @skb as it was.
 */
bool tlt_cut_tail(struct sk_buff *skb, const struct tlt_packet *p, struct tlt_flow *flow,
		  struct sk_buff **tail)
{
	unsigned int mss = skb_shinfo(skb)->gso_size;
	unsigned int bytes, left;
	u16 segments;

	if (!tlt_cut_allowed(skb, p))
		return false;
	bytes = p->data_bytes % mss ?: mss;
	left = p->data_bytes - bytes;
	segments = left / mss;
	if (!tlt_cut_is_charged_by_tcp(skb))
		goto failed;
	/* TCP's own packet shares the headers, the list of pages and the GSO fields. */
	if (skb_unclone(skb, GFP_ATOMIC | __GFP_NOWARN))
		goto failed;
	*tail = tlt_cut_alloc(skb, p, left);
	if (!*tail)
		goto failed;
	tlt_cut_split(skb, *tail, p, left);
	tlt_cut_own(*tail, skb);
	tlt_cut_flags(skb, *tail, p, left);
	tlt_cut_stamps(skb, *tail, p);
	tlt_cut_rest(skb, segments);
	tlt_cut_lengths(skb, p, 0);
	tlt_cut_lengths(*tail, p, segments);
	flow->stat_cuts++;
	flow->stat_cut_bytes += bytes;
	tlt_count(flow->tn, TLT_STAT_CUTS);
	tlt_count_add(flow->tn, TLT_STAT_CUT_BYTES, bytes);
	return true;
failed:
	tlt_count(flow->tn, TLT_STAT_CUT_FAILED);
	return false;
}
