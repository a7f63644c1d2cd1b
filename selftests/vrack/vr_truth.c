// SPDX-License-Identifier: GPL-2.0
/*
 * What nicstamp's samples are held against: when each TCP segment left and each ACK
 * came by the rack's own clock, in picoseconds, without any of nicstamp's code. Two
 * tables of marks, by flow and sequence number; where two meet the newer stays, and a
 * sample whose marks are gone is counted and judged no further. What packets say of
 * those that follow is vr_pairs.c's.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "include/trace/events/turnpike_stamps.h"
#include "vr.h"
#include "vr_tcp.h"

#define MARK_BITS	16	/* 16384 segments of 4 flows and more */
#define OLD_PS		VR_PS_PER_SEC	/* a mark of an ACK that old is of another turn */

struct mark {
	u64 name;
	u64 ps;
	u64 posted_ps;	/* the host gave it to the NIC; of what was sent */
};

static struct truth {
	spinlock_t lock;	/* all below; bottom halves off; inside vrack.lock */
	struct mark sent[1 << MARK_BITS];
	struct mark received[1 << MARK_BITS];
	u64 unmarked;
	u64 beyond;		/* RTTs further off than they said, */
	u64 wait_beyond;	/* and stamps by the system's clock */
	struct vr_hist wait_error;	/* of these */
	struct vr_hist error;	/* of the samples' RTT, */
	struct vr_hist rtt;	/* which is this */
	struct vr_hist tcp_rtt;	/* and TCP's */
} *truth;

static struct mark *place(struct mark *table, u64 name)
{
	return &table[hash_64(name, MARK_BITS)];
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

/* The last bit has left node @from. */
void vr_truth_sent(const struct sk_buff *skb, const struct vr_frame *frame, u16 from, u64 last_ps)
{
	const struct sk_buff *head = frame->cb.flags & VR_F_CUT ? skb : frame->skb;
	const struct tcphdr *th;
	struct tcphdr room;
	struct vr_tcp_ends ends;
	u64 name;

	if (!skb_transport_header_was_set(skb))
		return;
	th = vr_tcp_read(head, skb_network_offset(skb), &room, &ends);
	if (!th || th->syn)
		return;
	name = vr_tcp_name_of_data(&ends, th, end_of(skb, frame, th));
	spin_lock_bh(&truth->lock);
	*place(truth->sent, name) = (struct mark) {
		.name = name,
		.ps = last_ps,
		.posted_ps = vr_cb((struct sk_buff *)skb)->queued_ps,
	};
	spin_unlock_bh(&truth->lock);
	if (!vr_pairs_on())
		return;
	if (frame->cb.flags & VR_F_PAYLOAD)
		vr_pairs_sent(name, from, last_ps);
	vr_pairs_answered(vr_tcp_name_of_acked(&ends, th), last_ps);
}

static void pair_received(const struct sk_buff *skb, const struct vr_tcp_ends *ends,
			  const struct tcphdr *th, u16 to, u64 last_ps)
{
	u32 bytes = skb->len - ends->tcp_at - th->doff * 4;

	if (bytes)
		vr_pairs_arrived(vr_tcp_name_of_data(ends, th, ntohl(th->seq) + bytes + th->fin), to,
				 last_ps);
	vr_pairs_acked(vr_tcp_name_of_acked(ends, th), last_ps);
}

/* The last bit has come to node @to. The first ACK up to there counts. */
void vr_truth_received(const struct sk_buff *skb, u16 to, u64 last_ps)
{
	const struct tcphdr *th;
	struct tcphdr room;
	struct mark *mark;
	struct vr_tcp_ends ends;
	u64 name;

	th = vr_tcp_read(skb, 0, &room, &ends);
	if (!th || !th->ack || th->syn)
		return;
	name = vr_tcp_name_of_acked(&ends, th);
	spin_lock_bh(&truth->lock);
	mark = place(truth->received, name);
	if (mark->name != name || mark->ps + OLD_PS < last_ps)
		*mark = (struct mark){ .name = name, .ps = last_ps };
	spin_unlock_bh(&truth->lock);
	if (vr_pairs_on())
		pair_received(skb, &ends, th, to, last_ps);
}

static u64 whole_ns(s64 ps)
{
	return div_u64(abs(ps) + VR_PS_PER_NS - 1, VR_PS_PER_NS);
}

/* From posting to the stamp, for which the NIC's clock was mapped to the system's. */
static void judge_wait(const struct mark *sent, const struct nicstamp_sample *s)
{
	u64 error_ns;

	if (s->wait_error_ns == U32_MAX)
		return;
	error_ns = whole_ns(s->wait_ns * VR_PS_PER_NS - (sent->ps - sent->posted_ps));
	vr_hist_add(&truth->wait_error, error_ns);
	/* 1: the system's clock has whole nanoseconds */
	truth->wait_beyond += error_ns > s->wait_error_ns + 1ULL;
}

static void judge(u64 sent_name, u64 received_name, const struct nicstamp_sample *s,
		  u64 tcp_rtt_ns)
{
	const struct mark *sent = place(truth->sent, sent_name);
	const struct mark *received = place(truth->received, received_name);
	u64 error_ns;

	if (sent->name != sent_name || received->name != received_name) {
		truth->unmarked++;
		return;
	}
	error_ns = whole_ns(s->rtt_ns * VR_PS_PER_NS - (received->ps - sent->ps));
	vr_hist_add(&truth->error, error_ns);
	truth->beyond += error_ns > s->error_ns;
	judge_wait(sent, s);
	vr_hist_add(&truth->rtt, s->rtt_ns);
	if (tcp_rtt_ns)
		vr_hist_add(&truth->tcp_rtt, tcp_rtt_ns);
}

static void probe(void *data, const struct in6_addr *local, const struct in6_addr *remote,
		  __be16 local_port, __be16 remote_port, u32 una, u64 tcp_rtt_ns,
		  const struct nicstamp_sample *s)
{
	spin_lock_bh(&truth->lock);
	judge(vr_tcp_name(local, remote, local_port, remote_port, s->tx_seq),
	      vr_tcp_name(local, remote, local_port, remote_port, una), s, tcp_rtt_ns);
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
	truth->beyond = 0;
	truth->wait_beyond = 0;
	memset(&truth->wait_error, 0, sizeof(truth->wait_error));
	memset(&truth->error, 0, sizeof(truth->error));
	memset(&truth->rtt, 0, sizeof(truth->rtt));
	memset(&truth->tcp_rtt, 0, sizeof(truth->tcp_rtt));
	spin_unlock_bh(&truth->lock);
	vr_pairs_reset();
}

/* Another member of the rack's object. */
void vr_truth_show(struct seq_file *m)
{
	spin_lock_bh(&truth->lock);
	seq_printf(m, ",\"stamps\":{\"unmarked\":%llu,\"beyond\":%llu,\"wait_beyond\":%llu,",
		   truth->unmarked, truth->beyond, truth->wait_beyond);
	vr_stats_hist(m, "wait_error", &truth->wait_error);
	seq_puts(m, ",");
	vr_stats_hist(m, "error", &truth->error);
	seq_puts(m, ",");
	vr_stats_hist(m, "rtt", &truth->rtt);
	seq_puts(m, ",");
	vr_stats_hist(m, "tcp_rtt", &truth->tcp_rtt);
	seq_puts(m, "}");
	spin_unlock_bh(&truth->lock);
}
