// SPDX-License-Identifier: GPL-2.0
/*
 * Important ACK-clocking (TLT21, 5.1): sends a copy of unacknowledged data, whatever the windows
 * allow, so that echoes keep coming.
 *
 * The kernel exports no function that retransmits.  TCP must not think that it retransmitted:
 * its timers, its count of packets in flight and its marks of losses stay as they are.  There
 * is one exception.  A lost segment that goes out here counts as sent more than once, as with
 * TCP's own retransmission.  So its ACK gives no RTT (Karn), and does not show a timeout or a
 * recovery to be spurious.
 */
#include <net/inet_connection_sock.h>
#include <net/inet_ecn.h>
#include <net/mptcp.h>

#include "compat/compat.h"
#include "compat/connection.h"
#include "compat/ecn.h"
#include "tlt_config.h"
#include "tlt_flow.h"
#include "tlt_inject.h"
#include "tlt_net.h"
#include "tlt_select.h"

/*
 * States in which data may be in flight and the socket is whole.  They include those after a
 * FIN: TCP retransmits unacknowledged data in any state (RFC 9293, 3.10.8), and TLT is about
 * the end of the data.  A FIN alone is important as control.
 */
#define TLT_INJECT_STATES	(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT | TCPF_FIN_WAIT1 | \
				 TCPF_CLOSING | TCPF_LAST_ACK)

/*
 * How many packets with a SACK to skip in search of the last without.  TCP begins a recovery
 * with three (net.ipv4.tcp_reordering), and knows of the loss then.
 */
#define TLT_INJECT_LOOK	8

/* Data that a device encrypts or a signature covers cannot be copied as it is. */
static bool tlt_inject_is_bound(const struct sock *sk)
{
#ifdef CONFIG_SOCK_VALIDATE_XMIT
	if (sk->sk_validate_xmit_skb)
		return true;
#endif
#ifdef CONFIG_TCP_MD5SIG
	if (rcu_access_pointer(tcp_sk(sk)->md5sig_info))
		return true;
#endif
#ifdef CONFIG_CGROUP_BPF
	/* A BPF program writes options into each packet, and knows of each. */
	if (BPF_SOCK_OPS_TEST_FLAG(tcp_sk(sk), BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG))
		return true;
#endif
#ifdef CONFIG_TCP_AO
	if (rcu_access_pointer(tcp_sk(sk)->ao_info))
		return true;
#endif
	return false;
}

static bool tlt_inject_allowed(const struct sock *sk)
{
	return ((1 << sk->sk_state) & TLT_INJECT_STATES) && !tcp_sk(sk)->repair &&
	       !sk_is_mptcp(sk) && !tlt_inject_is_bound(sk);
}

/* Is there a packet for which both windows have room? */
static bool tlt_inject_tcp_may_send(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *next = tcp_send_head(sk);

	return next && tcp_packets_in_flight(tp) < tcp_snd_cwnd(tp) &&
	       !after(tp->snd_nxt + min(next->len, tp->mss_cache), tcp_wnd_end(tp));
}

/* TCP waits only for a timer of this host: TLT can mark the packet that it sends then. */
static bool tlt_inject_tcp_will_send(struct sock *sk)
{
	return tlt_inject_tcp_may_send(sk) && (test_bit(TSQ_THROTTLED, &sk->sk_tsq_flags) ||
					       hrtimer_is_queued(&tcp_sk(sk)->pacing_timer));
}

static u32 tlt_inject_head_bytes(const struct sock *sk, const struct sk_buff *head)
{
	u32 gone = tcp_sk(sk)->snd_una - TCP_SKB_CB(head)->seq;

	return gone < head->len ? head->len - gone : 0;
}

/*
 * The last packet of which TCP has no news: no SACK, no loss, no retransmission.
 * NULL without SACK: a duplicate ACK would not tell TCP what arrived.
 */
static struct sk_buff *tlt_inject_tail(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_tail(sk);
	unsigned int looked = 0;

	if (!tcp_is_sack(tcp_sk(sk)))
		return NULL;
	while (skb && (TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_ACKED) &&
	       ++looked < TLT_INJECT_LOOK)
		skb = skb_rb_prev(skb);
	if (!skb || !skb->len || (TCP_SKB_CB(skb)->sacked & TCPCB_TAGBITS))
		return NULL;
	return skb;
}

static void tlt_inject_look_at_tail(const struct sk_buff *tail, struct tlt_pipe *pipe)
{
	u32 bytes = tail->len;

	/* TCP's SACK marks are for whole segments. */
	if (tcp_skb_pcount(tail) > 1)
		bytes = bytes % tcp_skb_mss(tail) ? : tcp_skb_mss(tail);
	pipe->tail_ns = tail->skb_mstamp_ns;
	pipe->tail = TCP_SKB_CB(tail)->seq + tail->len - bytes;
	if (after(pipe->tail, pipe->head) && bytes <= pipe->mss)
		pipe->tail_bytes = bytes;
}

static void tlt_inject_look(struct sock *sk, const struct sk_buff *head,
			    const struct sk_buff *tail, u8 mode, struct tlt_pipe *pipe)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	*pipe = (struct tlt_pipe){
		.now_ns = max(tp->tcp_wstamp_ns, tp->tcp_clock_cache),
		.head_ns = head->skb_mstamp_ns,
		.head = tp->snd_una,
		.head_bytes = tlt_inject_head_bytes(sk, head),
		.mss = tp->mss_cache,
		.min_rtt_us = tcp_min_rtt(tp),
		/* What TCP's own loss detection allows after it saw reordering. */
		.reorder_us = tp->reord_seen ? tcp_min_rtt(tp) / 4 : 0,
		.mode = mode,
		.delivered = tp->delivered,
		.will_send = tlt_inject_tcp_will_send(sk),
		.closed = !tp->snd_wnd,
		.forbidden = !tlt_inject_allowed(sk),
	};
	if (pipe->min_rtt_us == ~0U)
		pipe->min_rtt_us = 0;
	if (tail)
		tlt_inject_look_at_tail(tail, pipe);
}

/* SACK blocks only if they cannot make the packet longer than the path allows. */
static unsigned int tlt_inject_sacks(const struct tcp_sock *tp, u32 bytes)
{
	unsigned int most = tp->rx_opt.tstamp_ok ? 3 : 4;

	if (!tcp_is_sack(tp) || bytes + TCPOLEN_SACK_BASE_ALIGNED +
	    most * TCPOLEN_SACK_PERBLOCK > tp->mss_cache)
		return 0;
	return min_t(unsigned int, tp->rx_opt.num_sacks, most);
}

static unsigned int tlt_inject_option_bytes(const struct tcp_sock *tp, unsigned int sacks)
{
	return (tp->rx_opt.tstamp_ok ? TCPOLEN_TSTAMP_ALIGNED : 0) +
	       (sacks ? TCPOLEN_SACK_BASE_ALIGNED + sacks * TCPOLEN_SACK_PERBLOCK : 0);
}

static void tlt_inject_options(const struct tcp_sock *tp, const struct sk_buff *skb,
			       __be32 *option, unsigned int sacks)
{
	unsigned int i;

	if (tp->rx_opt.tstamp_ok) {
		*option++ = htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) |
				  (TCPOPT_TIMESTAMP << 8) | TCPOLEN_TIMESTAMP);
		*option++ = htonl(tp_tcp_timestamp(tp, skb->skb_mstamp_ns) + tp->tsoffset);
		*option++ = htonl(tp->rx_opt.ts_recent);
	}
	if (!sacks)
		return;
	*option++ = htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) | (TCPOPT_SACK << 8) |
			  (TCPOLEN_SACK_BASE + sacks * TCPOLEN_SACK_PERBLOCK));
	for (i = 0; i < sacks; i++) {
		*option++ = htonl(tp->selective_acks[i].start_seq);
		*option++ = htonl(tp->selective_acks[i].end_seq);
	}
}

static void tlt_inject_urgent(const struct tcp_sock *tp, struct tcphdr *th, u32 seq)
{
	if (tp->snd_una == tp->snd_up || !before(seq, tp->snd_up))
		return;
	if (before(tp->snd_up, seq + 0x10000)) {
		th->urg_ptr = htons(tp->snd_up - seq);
		th->urg = 1;
	} else if (after(seq + 0xFFFF, tp->snd_nxt)) {
		th->urg_ptr = htons(0xFFFF);
		th->urg = 1;
	}
}

/*
 * Acknowledgement and window are those that TCP sent last: a repetition can neither shrink the
 * window nor promise more.
 */
static void tlt_inject_header(struct sock *sk, struct sk_buff *skb, u32 seq,
			      unsigned int sacks)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int bytes = sizeof(struct tcphdr) + tlt_inject_option_bytes(tp, sacks);
	struct tcphdr *th;

	skb_push(skb, bytes);
	skb_reset_transport_header(skb);
	th = tcp_hdr(skb);
	memset(th, 0, sizeof(*th));
	th->source = inet_sk(sk)->inet_sport;
	th->dest = inet_sk(sk)->inet_dport;
	th->seq = htonl(seq);
	th->ack_seq = htonl(tp->rcv_wup);
	th->doff = bytes / 4;
	th->ack = 1;
	tp_tcp_ecn_say(tp, skb, th);
	th->window = htons(min(tp->rcv_wnd >> tp->rx_opt.rcv_wscale, 65535U));
	tlt_inject_urgent(tp, th, seq);
	tlt_inject_options(tp, skb, (__be32 *)(th + 1), sacks);
}

/*
 * The packet takes no room in the socket's send buffer: TCP would wait until it leaves (small
 * queues), and only TCP's own packets wake TCP then.
 */
static void tlt_inject_own(struct sk_buff *skb, struct sock *sk)
{
	sock_hold(sk);
	skb->sk = sk;
	skb->destructor = sock_efree;
}

/* @seq: sequence of the first of @bytes, which are in @of. */
static struct sk_buff *tlt_inject_build(struct sock *sk, const struct sk_buff *of, u32 seq,
					u32 bytes)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	skb = alloc_skb(MAX_TCP_HEADER + bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, MAX_TCP_HEADER);
	if (skb_copy_bits(of, seq - TCP_SKB_CB(of)->seq, skb_put(skb, bytes), bytes)) {
		kfree_skb(skb);
		return NULL;
	}
	/* The peer would refuse a timestamp older than the last (PAWS). */
	skb->skb_mstamp_ns = max(tp->tcp_wstamp_ns, tp->tcp_clock_cache);
	tlt_inject_header(sk, skb, seq, tlt_inject_sacks(tp, bytes));
	/*
	 * As with TCP's own packets.  If it left before packets that still wait for their
	 * time, its echo would show these as lost.
	 */
	tp_skb_set_departure(skb, skb->skb_mstamp_ns);
	skb->ip_summed = CHECKSUM_PARTIAL;
	tlt_inject_own(skb, sk);
	skb_set_hash_from_sk(skb, sk);
	tp_tcp_send_check(sk, skb);
	return skb;
}

/* RFC 3168 wants retransmissions without ECT; DCTCP and its like want ECT. */
static int tlt_inject_send(struct tlt_flow *flow, struct sock *sk, struct sk_buff *skb)
{
	int err;

	if (!tcp_ca_needs_ecn(sk))
		INET_ECN_dontxmit(sk);
	WRITE_ONCE(flow->injecting, skb);
	err = inet_csk(sk)->icsk_af_ops->queue_xmit(sk, skb, &inet_sk(sk)->cork.fl);
	WRITE_ONCE(flow->injecting, NULL);
	return net_xmit_eval(err);
}

/*
 * TCP undoes a recovery when the peer reports data twice (DSACK), or data that came late, and TCP
 * retransmitted nothing.  Here TLT sent that data again, and the peer reports this copy: so the
 * recovery stands.
 */
static void tlt_inject_keep_recovery(struct sock *sk)
{
	tcp_sk(sk)->undo_marker = 0;
}

/* Note a lost segment as TCP notes a retransmission, but not as a packet in flight. */
static void tlt_inject_note(struct sock *sk, struct sk_buff *of, const struct tlt_clock_data *data)
{
	if (!data->lost || data->bytes == 1)
		return;
	TCP_SKB_CB(of)->sacked |= TCPCB_EVER_RETRANS;
	tcp_sk(sk)->total_retrans++;
	tlt_inject_keep_recovery(sk);
}

static bool tlt_inject_choose(struct tlt_flow *flow, const struct sock *sk,
			      struct tlt_pipe *pipe, struct tlt_clock_data *data)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	enum tlt_clock_answer answer;
	u32 end;

	tlt_flow_lock(flow);
	end = flow->sender.mark_end;
	pipe->heard = tlt_tcp_has_news_of(tp, end - 1, end, tp->snd_una);
	answer = tlt_sender_clock(&flow->sender, pipe, data);
	if (answer == TLT_CLOCK_SEND && !tlt_effort_is_due(&flow->effort, pipe))
		answer = TLT_CLOCK_LIMITED;
	flow->stat_refused += answer == TLT_CLOCK_REFUSED;
	tlt_flow_unlock(flow);
	if (answer == TLT_CLOCK_LIMITED)
		tlt_count(flow->tn, TLT_STAT_INJECT_LIMITED);
	if (answer == TLT_CLOCK_REFUSED)
		tlt_count(flow->tn, TLT_STAT_INJECT_REFUSED);
	return answer == TLT_CLOCK_SEND;
}

static void tlt_inject_count(struct tlt_flow *flow, u32 bytes)
{
	if (bytes > 1)
		flow->stat_injected_segment++;
	else
		flow->stat_injected_byte++;
	flow->stat_injected_bytes += bytes;
	tlt_count(flow->tn, bytes > 1 ? TLT_STAT_INJECTED_SEGMENT : TLT_STAT_INJECTED_BYTE);
	tlt_count_add(flow->tn, TLT_STAT_INJECTED_BYTES, bytes);
}

static void tlt_inject_sent(struct tlt_flow *flow, const struct tlt_pipe *pipe, u32 seq, u32 bytes)
{
	tlt_flow_lock(flow);
	tlt_sender_clocked(&flow->sender, seq + bytes, pipe->now_ns);
	tlt_effort_sent(&flow->effort, pipe);
	if (flow->clocks < TLT_COUNT_MAX)
		flow->clocks++;
	tlt_inject_count(flow, bytes);
	tlt_flow_unlock(flow);
}

/* The packet never left: nothing is in flight, and the next data is important. */
static void tlt_inject_failed(struct tlt_flow *flow)
{
	tlt_flow_lock(flow);
	tlt_sender_take_back(&flow->sender);
	tlt_effort_take_back(&flow->effort);
	if (flow->clocks)
		flow->clocks--;
	tlt_flow_unlock(flow);
}

/*
 * TCP will see the answer to an injected packet, and may have found the loss of its data
 * meanwhile.  Bottom halves are off.  While a process uses the socket, TLT leaves TCP's state
 * alone: tlt_inject_note() did what it could when TLT injected the segment.
 */
void tlt_inject_answered(struct sock *sk)
{
	bh_lock_sock_nested(sk);
	if (!sock_owned_by_user(sk) && inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		tlt_inject_keep_recovery(sk);
	bh_unlock_sock(sk);
}

/* Send clock data if nothing important is in flight and TCP sent none.  Socket locked. */
void tlt_inject(struct tlt_flow *flow, struct sock *sk, const struct tlt_config *config)
{
	struct sk_buff *of = tcp_rtx_queue_head(sk), *tail, *skb;
	struct tlt_clock_data data;
	struct tlt_pipe pipe;
	u32 seq;

	if (!of)
		return;
	tail = tlt_inject_tail(sk);
	tlt_inject_look(sk, of, tail, config->clock, &pipe);
	if (!tlt_inject_choose(flow, sk, &pipe, &data))
		return;
	if (data.tail)
		of = tail;
	seq = data.tail ? pipe.tail : pipe.head;
	skb = tlt_inject_build(sk, of, seq, data.bytes);
	if (!skb)
		goto failed;
	/* Note it before it leaves: over loopback the echo may come first. */
	tlt_inject_sent(flow, &pipe, seq, data.bytes);
	tlt_inject_note(sk, of, &data);
	if (!tlt_inject_send(flow, sk, skb))
		return;
	tlt_inject_failed(flow);
failed:
	tlt_count(flow->tn, TLT_STAT_INJECT_FAILED);
}
