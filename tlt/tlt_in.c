// SPDX-License-Identifier: GPL-2.0
/*
 * A TCP packet that arrived for this host: what its mark asks for (TLT21, Algorithm 1).  TCP
 * has not seen it yet, and may still refuse it, so it leads to one packet sent at most.
 */
#include <linux/tcp.h>

#include "compat/ecn.h"
#include "include/turnpike_tcp_options.h"
#include "tlt_config.h"
#include "tlt_deferred.h"
#include "tlt_flow.h"
#include "tlt_in.h"
#include "tlt_inject.h"
#include "tlt_net.h"
#include "tlt_packet.h"
#include "tlt_select.h"

/* The blocks of the first SACK option, *blocks of them; NULL: none. */
static const u8 *tlt_in_sack(const struct tcphdr *th, unsigned int *blocks)
{
	struct tp_tcp_options list = {
		.at = (const u8 *)(th + 1),
		.end = (const u8 *)th + th->doff * 4,
	};
	struct tp_tcp_option o;

	while (tp_tcp_option_next(&list, &o)) {
		if (o.kind == TP_TCP_OPTION_SACK) {
			*blocks = tp_tcp_sack_blocks(&o);
			return *blocks ? o.value : NULL;
		}
	}
	return NULL;
}

static struct tlt_block tlt_in_block(const u8 *at)
{
	return (struct tlt_block){ tp_tcp_value32(at), tp_tcp_value32(at + 4) };
}

static bool tlt_in_has_dsack(const u8 *at, unsigned int blocks, u32 ack)
{
	struct tlt_block first = tlt_in_block(at), next;

	if (blocks > 1)
		next = tlt_in_block(at + TP_TCP_BLOCK_BYTES);
	return tlt_block_came_twice(&first, blocks > 1 ? &next : NULL, ack);
}

static bool tlt_in_has_new_sack(const struct tcp_sock *tp, const struct tcphdr *th, u32 ack)
{
	unsigned int blocks = 0, i;
	const u8 *at = tlt_in_sack(th, &blocks);

	if (!at || !tcp_is_sack(tp))
		return false;
	if (tlt_in_has_dsack(at, blocks, ack))
		return true;
	for (i = 0; i < blocks; i++, at += TP_TCP_BLOCK_BYTES) {
		struct tlt_block block = tlt_in_block(at);

		if (!tlt_tcp_has_news_of(tp, block.start, block.end, ack))
			return true;
	}
	return false;
}

/*
 * The caller holds the socket's spinlock, and the backlog's length is 0, so TCP has processed
 * all packets of the backlog: what this reads is TCP's state.
 */
static bool tlt_in_tells_nothing(const struct sock *sk, const struct sk_buff *skb,
				 const struct tlt_packet *p)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tlt_ack a = {
		.seq = ntohl(th->seq),
		.rcv_nxt = tp->rcv_nxt,
		.ack = ntohl(th->ack_seq),
		.snd_una = tp->snd_una,
		.window = (u32)ntohs(th->window) << tp->rx_opt.snd_wscale,
		.snd_wnd = tp->snd_wnd,
		.data_bytes = p->data_bytes,
		.bare = th->ack && !th->syn && !th->fin && !th->rst && !th->urg &&
			!tp_tcp_ecn_is_news(tp, th),
		.new_sack = tlt_in_has_new_sack(tp, th, ntohl(th->ack_seq)),
	};

	return tlt_ack_tells_nothing(&a);
}

/*
 * TLT keeps packets of clocking from TCP if they tell nothing:
 *  - a clock echo, one for each injected packet (TLT21, appendix): TCP would take it for a
 *    duplicate ACK, a sign of loss;
 *  - a byte that TCP has.
 */
static bool tlt_in_is_to_drop(struct sock *sk, const struct sk_buff *skb,
			      const struct tlt_packet *p)
{
	bool drop;

	if (sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV)
		return false;
	bh_lock_sock_nested(sk);
	drop = !READ_ONCE(sk->sk_backlog.len) && tlt_in_tells_nothing(sk, skb, p);
	bh_unlock_sock(sk);
	return drop;
}

/*
 * Could this acknowledgement be the peer's?  Takes no lock, so it leaves a margin.  If the path
 * takes no time, the ACK comes before TCP has noted that it sent (snd_nxt).
 */
static bool tlt_in_ack_is_possible(const struct sock *sk, const struct tcphdr *th)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 ack = ntohl(th->ack_seq), una = READ_ONCE(tp->snd_una);

	return th->ack && !after(ack, READ_ONCE(tp->write_seq)) &&
	       !before(ack, una - max_t(u32, READ_ONCE(tp->max_window), 65535));
}

static bool tlt_in_seq_is_possible(const struct sock *sk, const struct tcphdr *th)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 seq = ntohl(th->seq), next = READ_ONCE(tp->rcv_nxt);
	u32 room = max_t(u32, READ_ONCE(tp->window_clamp), 65535);

	return !before(seq, next - room) && !after(seq, next + room);
}

/*
 * Does this ACK report the byte before @end?  Its first block is the packet that it answers,
 * or data of it that came twice; which of the two does not matter.
 */
static bool tlt_in_speaks_of(const struct tcphdr *th, u32 end)
{
	unsigned int blocks = 0, i;
	const u8 *at;

	if (!before(ntohl(th->ack_seq), end))
		return true;
	at = tlt_in_sack(th, &blocks);
	for (i = 0; at && i < blocks; i++, at += TCPOLEN_SACK_PERBLOCK) {
		if (before(get_unaligned_be32(at), end) && !before(get_unaligned_be32(at + 4), end))
			return true;
	}
	return false;
}

/* Under the flow's lock.  Which packet it answers matters only while late echoes may come. */
static bool tlt_in_echo_ends_flight(struct tlt_flow *flow, const struct tcphdr *th)
{
	struct tlt_echo e = { };

	if (flow->sender.stale) {
		e.now_ns = tcp_clock_ns();
		e.newest = tlt_in_speaks_of(th, flow->sender.mark_end);
	}
	return tlt_sender_echo(&flow->sender, &e);
}

/* The packet has done its work: the caller frees it.  @stat and @of_flow count it. */
static unsigned int tlt_in_drop(struct tlt_flow *flow, int stat, u32 *of_flow)
{
	tlt_flow_lock(flow);
	++*of_flow;
	tlt_flow_unlock(flow);
	tlt_count(flow->tn, stat);
	return NF_STOLEN;
}

static unsigned int tlt_in_echo(struct tlt_net *tn, struct tlt_flow *flow, struct sock *sk,
				const struct sk_buff *skb, const struct tlt_packet *p,
				enum tlt_kind kind)
{
	bool asked, clock = false, defer;
	bool injected;

	if (!tlt_in_ack_is_possible(sk, tlt_tcp_header(skb, p))) {
		tlt_count(tn, TLT_STAT_ECHOES_UNASKED);
		return NF_ACCEPT;
	}
	tlt_flow_lock(flow);
	asked = tlt_sender_awaits(&flow->sender);
	injected = tlt_sender_awaits_clock(&flow->sender);
	defer = tlt_in_echo_ends_flight(flow, tlt_tcp_header(skb, p));
	if (kind == TLT_CLOCK_ECHO && flow->clocks) {
		flow->clocks--;
		clock = true;
	}
	flow->stat_echoes += asked;
	tlt_flow_unlock(flow);
	if (!asked)
		tlt_count(tn, TLT_STAT_ECHOES_UNASKED);
	if (defer)
		tlt_defer(flow, sk);
	if (clock && tlt_in_is_to_drop(sk, skb, p))
		return tlt_in_drop(flow, TLT_STAT_ECHOES_DROPPED, &flow->stat_echoes_dropped);
	if (injected)
		tlt_inject_answered(sk);
	return NF_ACCEPT;
}

static unsigned int tlt_in_data(struct tlt_flow *flow, struct sock *sk,
				const struct sk_buff *skb, const struct tlt_packet *p,
				enum tlt_kind kind)
{
	if (!p->data_bytes || !tlt_in_seq_is_possible(sk, tlt_tcp_header(skb, p)))
		return NF_ACCEPT;
	tlt_flow_lock(flow);
	tlt_receiver_data(&flow->receiver, kind);
	tlt_flow_unlock(flow);
	tlt_defer(flow, sk);
	if (kind != TLT_CLOCK || !((1 << sk->sk_state) & TLT_ANSWER_STATES) ||
	    !tlt_in_is_to_drop(sk, skb, p))
		return NF_ACCEPT;
	return tlt_in_drop(flow, TLT_STAT_CLOCKS_DROPPED, &flow->stat_clocks_dropped);
}

/* A packet that cannot be the peer's says nothing about the peer. */
static void tlt_in_hear(struct tlt_net *tn, struct tlt_flow *flow, const struct sock *sk,
			const struct tcphdr *th, bool marked)
{
	bool deaf;

	/* Nothing new, as with most packets. */
	if (marked && READ_ONCE(flow->sender.hears))
		return;
	if (!tlt_in_ack_is_possible(sk, th) ||
	    (sk->sk_state != TCP_SYN_SENT && !tlt_in_seq_is_possible(sk, th)))
		return;
	tlt_flow_lock(flow);
	deaf = tlt_sender_hear(&flow->sender, marked);
	tlt_flow_unlock(flow);
	if (deaf)
		tlt_count(tn, TLT_STAT_DEAF);
}

static unsigned int tlt_in_flow(struct tlt_net *tn, struct tlt_flow *flow, struct sock *sk,
				const struct sk_buff *skb, const struct tlt_packet *p,
				enum tlt_kind kind)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);

	tlt_flow_touch(flow);
	tlt_in_hear(tn, flow, sk, th, kind != TLT_NONE);
	if (th->fin || th->rst)
		WRITE_ONCE(flow->ending, true);
	if (th->syn || th->rst)
		return NF_ACCEPT;
	if (kind == TLT_ECHO || kind == TLT_CLOCK_ECHO)
		return tlt_in_echo(tn, flow, sk, skb, p, kind);
	if (kind == TLT_DATA || kind == TLT_CLOCK)
		return tlt_in_data(flow, sk, skb, p, kind);
	return NF_ACCEPT;
}

/* Bottom halves are off, except for packets that a queue to user space held (NF_QUEUE). */
static unsigned int tlt_in_sock(struct tlt_net *tn, struct sock *sk, const struct sk_buff *skb,
				const struct tlt_packet *p, enum tlt_kind kind)
{
	unsigned int verdict = NF_ACCEPT;
	bool process = !softirq_count();
	struct tlt_flow *flow;

	if (!sk_fullsock(sk) || !sk_is_tcp(sk) || sk->sk_state == TCP_LISTEN)
		return NF_ACCEPT;
	if (unlikely(process))
		local_bh_disable();
	flow = tlt_flow_get(tn, sk);
	if (flow)
		verdict = tlt_in_flow(tn, flow, sk, skb, p, kind);
	if (unlikely(process))
		local_bh_enable();
	return verdict;
}

/*
 * TLT never sends data with the mark of packets without data: another program chose such a
 * code point.
 */
static enum tlt_kind tlt_in_kind(const struct tlt_config *config, const struct tlt_packet *p)
{
	enum tlt_kind kind = config->kind[p->dscp];

	if (p->data_bytes && (kind == TLT_ECHO || kind == TLT_CLOCK_ECHO || kind == TLT_CONTROL))
		return TLT_NONE;
	return kind;
}

/*
 * RCU read side.  @config covers @skb, which is for @sk if that is not NULL.
 * NF_STOLEN: the packet ends here, and the caller frees it.
 */
unsigned int tlt_in(struct tlt_net *tn, const struct sk_buff *skb, struct sock *sk,
		    const struct tlt_config *config, const struct tlt_packet *p)
{
	enum tlt_kind kind = tlt_in_kind(config, p);

	if (kind != TLT_NONE)
		tlt_count(tn, TLT_STAT_RECEIVED + kind);
	return sk ? tlt_in_sock(tn, sk, skb, p, kind) : NF_ACCEPT;
}
