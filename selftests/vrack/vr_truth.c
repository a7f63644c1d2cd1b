// SPDX-License-Identifier: GPL-2.0
/*
 * What nicstamp's samples are held against: when each TCP segment left and each ACK
 * came by the rack's own clock, in picoseconds, without any of nicstamp's code. Two
 * tables of marks, by flow and sequence number; where two meet the newer stays, and a
 * sample whose marks are gone is counted and judged no further.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ipv6.h>

#include "include/trace/events/turnpike_stamps.h"
#include "vr.h"

#define MARK_BITS	16	/* 16384 segments of 4 flows and more */
#define OLD_PS		VR_PS_PER_SEC	/* a mark of an ACK that old is of another turn */

struct mark {
	u64 name;
	u64 ps;
};

static struct truth {
	spinlock_t lock;	/* all below; bottom halves off; inside vrack.lock */
	struct mark sent[1 << MARK_BITS];
	struct mark received[1 << MARK_BITS];
	u64 unmarked;
	struct vr_hist error;	/* of the samples' RTT, */
	struct vr_hist rtt;	/* which is this */
	struct vr_hist tcp_rtt;	/* and TCP's */
} *truth;

static u64 name_of(const struct in6_addr *local, const struct in6_addr *remote, __be16 local_port,
		   __be16 remote_port, u32 seq)
{
	u32 hash = jhash2((__force const u32 *)local->s6_addr32, 4, (__force u32)local_port);

	hash = jhash2((__force const u32 *)remote->s6_addr32, 4,
		      hash + (__force u32)remote_port);
	return (u64)hash << 32 | seq;
}

static struct mark *place(struct mark *table, u64 name)
{
	return &table[hash_64(name, MARK_BITS)];
}

/* Addresses and TCP header of a packet; NULL if it is no plain TCP. */
static const struct tcphdr *read(const struct sk_buff *skb, int at, struct tcphdr *room,
				 struct in6_addr *from, struct in6_addr *to)
{
	struct ipv6hdr _ip6;
	const struct ipv6hdr *ip6;
	struct iphdr _ip;
	const struct iphdr *ip = skb_header_pointer(skb, at, sizeof(_ip), &_ip);

	if (ip && ip->version == 4 && ip->protocol == IPPROTO_TCP) {
		ipv6_addr_set_v4mapped(ip->saddr, from);
		ipv6_addr_set_v4mapped(ip->daddr, to);
		return skb_header_pointer(skb, at + ip->ihl * 4, sizeof(*room), room);
	}
	ip6 = skb_header_pointer(skb, at, sizeof(_ip6), &_ip6);
	if (!ip6 || ip6->version != 6 || ip6->nexthdr != IPPROTO_TCP)
		return NULL;
	*from = ip6->saddr;
	*to = ip6->daddr;
	return skb_header_pointer(skb, at + sizeof(*ip6), sizeof(*room), room);
}

/* The end of what @frame carries; @skb is all that the host handed over. */
static u32 end_of(const struct sk_buff *skb, const struct vr_frame *frame,
		  const struct tcphdr *th)
{
	u32 seq = ntohl(th->seq);

	if (frame->cb.flags & VR_F_CUT)
		seq += frame->segment * skb_shinfo(skb)->gso_size;
	return seq + frame->len - skb_transport_offset(skb) - th->doff * 4 +
	       (th->fin && frame->cb.flags & VR_F_LAST);
}

void vr_truth_sent(const struct sk_buff *skb, const struct vr_frame *frame, u64 last_ps)
{
	const struct sk_buff *head = frame->cb.flags & VR_F_CUT ? skb : frame->skb;
	struct in6_addr from, to;
	const struct tcphdr *th;
	struct tcphdr room;
	u64 name;

	if (!skb_transport_header_was_set(skb))
		return;
	th = read(head, skb_network_offset(skb), &room, &from, &to);
	if (!th || th->syn)
		return;
	name = name_of(&from, &to, th->source, th->dest, end_of(skb, frame, th));
	spin_lock_bh(&truth->lock);
	*place(truth->sent, name) = (struct mark){ name, last_ps };
	spin_unlock_bh(&truth->lock);
}

/* The first ACK up to there counts. */
void vr_truth_received(const struct sk_buff *skb, u64 last_ps)
{
	struct in6_addr from, to;
	const struct tcphdr *th;
	struct tcphdr room;
	struct mark *mark;
	u64 name;

	th = read(skb, 0, &room, &from, &to);
	if (!th || !th->ack || th->syn)
		return;
	name = name_of(&to, &from, th->dest, th->source, ntohl(th->ack_seq));
	spin_lock_bh(&truth->lock);
	mark = place(truth->received, name);
	if (mark->name != name || mark->ps + OLD_PS < last_ps)
		*mark = (struct mark){ name, last_ps };
	spin_unlock_bh(&truth->lock);
}

static void judge(u64 sent_name, u64 received_name, const struct nicstamp_sample *s,
		  u64 tcp_rtt_ns)
{
	const struct mark *sent = place(truth->sent, sent_name);
	const struct mark *received = place(truth->received, received_name);
	s64 error_ps;

	if (sent->name != sent_name || received->name != received_name) {
		truth->unmarked++;
		return;
	}
	error_ps = s->rtt_ns * VR_PS_PER_NS - (received->ps - sent->ps);
	vr_hist_add(&truth->error, div_u64(abs(error_ps) + VR_PS_PER_NS - 1, VR_PS_PER_NS));
	vr_hist_add(&truth->rtt, s->rtt_ns);
	if (tcp_rtt_ns)
		vr_hist_add(&truth->tcp_rtt, tcp_rtt_ns);
}

static void probe(void *data, const struct in6_addr *local, const struct in6_addr *remote,
		  __be16 local_port, __be16 remote_port, u32 una, u64 tcp_rtt_ns,
		  const struct nicstamp_sample *s)
{
	spin_lock_bh(&truth->lock);
	judge(name_of(local, remote, local_port, remote_port, s->tx_seq),
	      name_of(local, remote, local_port, remote_port, una), s, tcp_rtt_ns);
	spin_unlock_bh(&truth->lock);
}

int vr_truth_begin(void)
{
	int err;

	truth = kvzalloc(sizeof(*truth), GFP_KERNEL);
	if (!truth)
		return -ENOMEM;
	spin_lock_init(&truth->lock);
	err = register_trace_nicstamp_sample(probe, NULL);
	if (err)
		kvfree(truth);
	return err;
}

/* NICs and their clocks are gone. */
void vr_truth_end(void)
{
	unregister_trace_nicstamp_sample(probe, NULL);
	tracepoint_synchronize_unregister();
	kvfree(truth);
}

void vr_truth_reset(void)
{
	spin_lock_bh(&truth->lock);
	truth->unmarked = 0;
	memset(&truth->error, 0, sizeof(truth->error));
	memset(&truth->rtt, 0, sizeof(truth->rtt));
	memset(&truth->tcp_rtt, 0, sizeof(truth->tcp_rtt));
	spin_unlock_bh(&truth->lock);
}

/* Another member of the rack's object. */
void vr_truth_show(struct seq_file *m)
{
	spin_lock_bh(&truth->lock);
	seq_printf(m, ",\"stamps\":{\"unmarked\":%llu,", truth->unmarked);
	vr_stats_hist(m, "error", &truth->error);
	seq_puts(m, ",");
	vr_stats_hist(m, "rtt", &truth->rtt);
	seq_puts(m, ",");
	vr_stats_hist(m, "tcp_rtt", &truth->tcp_rtt);
	seq_puts(m, "}");
	spin_unlock_bh(&truth->lock);
}
