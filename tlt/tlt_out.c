// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses the kind of a TCP packet on its way out (TLT21, Algorithm 1), and marks it.  The
 * caller that made TCP send has locked the socket.  But if a queue to user space held the packet
 * (NF_QUEUE), the socket is not locked.  So this file reads only numbers of the socket, which
 * may be a little old, and no packet of its queues.
 */
#include <linux/tcp.h>

#include "tlt_config.h"
#include "tlt_cut.h"
#include "tlt_flow.h"
#include "tlt_net.h"
#include "tlt_out.h"
#include "tlt_packet.h"
#include "tlt_select.h"
#include "tlt_stat.h"

/*
 * SYN cookies, resets and packets of TIME_WAIT have no connection's state.  A raw socket of
 * protocol TCP is no TCP socket, although it may be connected.  A container's packets that pass
 * here belong to its own namespace.
 */
static bool tlt_out_has_flow(const struct tlt_net *tn, const struct sock *sk)
{
	return sk && sk_fullsock(sk) && net_eq(sock_net(sk), tn->net) && sk_is_tcp(sk) &&
	       !((1 << sk->sk_state) & (TCPF_LISTEN | TCPF_CLOSE | TCPF_SYN_SENT));
}

/* The code point that TCP gives the socket's packets. */
static u8 tlt_out_class(const struct sock *sk, u8 family)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (family == AF_INET6)
		return inet6_sk(sk)->tclass >> 2;
#endif
	return inet_sk(sk)->tos >> 2;
}

/*
 * Does it have one of TLT's code points, and not from its socket?  Then TLT marked it when it
 * came by first (a VRF, an ipvlan or IPsec brings it again), or a rule of the operator's did.
 */
static bool tlt_out_is_marked(const struct tlt_net *tn, const struct sk_buff *skb,
			      const struct tlt_packet *p, const struct tlt_config *config)
{
	return config->kind[p->dscp] != TLT_NONE && tlt_out_has_flow(tn, skb->sk) &&
	       tlt_out_class(skb->sk, p->family) != p->dscp;
}

static bool tlt_out_has_room(const struct tcp_sock *tp, const struct tlt_burst *b)
{
	return tcp_packets_in_flight(tp) + b->segments < tcp_snd_cwnd(tp);
}

/*
 * Rate-based: may TCP send the data behind this packet without another ACK?  In doubt the answer
 * is no: an important packet too many costs less than a tail without one.
 */
static bool tlt_out_goes_on(const struct sock *sk, const struct tcphdr *th,
			    const struct tlt_burst *b)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 written = READ_ONCE(tp->write_seq);

	/* TCP pushes the last packet of a write; without PSH, the write goes on. */
	if (!before(b->end, written))
		return !th->psh && !th->fin && sock_owned_by_user_nocheck(sk);
	/* Less than a segment may have to wait for one in flight (Nagle, TCP_CORK). */
	if (written - b->end < tp->mss_cache)
		return false;
	return tlt_out_has_room(tp, b) &&
	       !after(b->end + tp->mss_cache, tcp_wnd_end(tp));
}

static bool tlt_out_is_rate_based(const struct sock *sk, u8 sender)
{
	if (sender == TLT_SENDER_AUTO)
		return inet_csk(sk)->icsk_ca_ops->cong_control;
	return sender == TLT_SENDER_RATE;
}

/* Did the RTO timer fire since the last packet? */
static bool tlt_out_timeout(struct tlt_flow *flow, const struct sock *sk)
{
	u8 now = inet_csk(sk)->icsk_retransmits;
	bool fired = now > flow->retransmits;

	if (flow->retransmits != now)
		WRITE_ONCE(flow->retransmits, now);
	if (!fired || sk->sk_state == TCP_SYN_RECV)
		return false;
	flow->stat_rtos++;
	tlt_count(flow->tn, TLT_STAT_RTOS);
	return true;
}

/* Fills in the rest of @b, which tlt_sender_send() needs. */
static void tlt_out_look_closer(struct tlt_flow *flow, const struct sock *sk,
				const struct sk_buff *skb, const struct tlt_packet *p,
				const struct tlt_config *config, struct tlt_burst *b)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);
	const struct tcp_sock *tp = tcp_sk(sk);

	b->segments = max_t(u32, skb_shinfo(skb)->gso_segs, 1);
	b->end = ntohl(th->seq) + p->data_bytes;
	b->srtt_us = tp->srtt_us >> 3;
	b->rate = tlt_out_is_rate_based(sk, config->sender);
	b->period = config->period;
	b->timeout = tlt_out_timeout(flow, sk);
	if (b->again)
		b->last_again = tp->lost_out <= tp->retrans_out + b->segments;
	if (b->rate)
		b->burst_end = !(b->again ? tlt_out_has_room(tp, b) : tlt_out_goes_on(sk, th, b));
}

static enum tlt_kind tlt_out_data(struct tlt_flow *flow, const struct sock *sk,
				  const struct sk_buff *skb, const struct tlt_packet *p,
				  const struct tlt_config *config)
{
	enum tlt_kind kind;
	struct tlt_burst b;

	tlt_out_look(flow, sk, tlt_tcp_header(skb, p), &b);
	if (tlt_sender_waits(&flow->sender, &b))
		return TLT_PLAIN;
	tlt_flow_lock(flow);
	tlt_out_look_closer(flow, sk, skb, p, config, &b);
	kind = tlt_sender_send(&flow->sender, &b);
	tlt_flow_unlock(flow);
	return kind;
}

static enum tlt_kind tlt_out_ack(struct tlt_flow *flow)
{
	enum tlt_kind kind;

	/* Most ACKs answer nothing important. */
	if (READ_ONCE(flow->receiver.answer) == TLT_NONE)
		return TLT_CONTROL;
	tlt_flow_lock(flow);
	kind = tlt_receiver_ack(&flow->receiver);
	tlt_flow_unlock(flow);
	return kind;
}

/* @flow: NULL if the packet has none, or there is no room for it. */
static enum tlt_kind tlt_out_kind(struct tlt_flow *flow, const struct sk_buff *skb,
				  const struct tlt_packet *p, const struct tlt_config *config)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);

	if (!flow)
		return p->data_bytes ? TLT_NONE : TLT_CONTROL;
	tlt_flow_touch(flow);
	if (READ_ONCE(flow->injecting) == skb)
		return TLT_CLOCK;
	if (th->fin || th->rst)
		WRITE_ONCE(flow->ending, true);
	if (p->data_bytes && tlt_leaves(skb->sk)) {
		tlt_count(flow->tn, TLT_STAT_LEFT);
		return TLT_NONE;
	}
	if (p->data_bytes)
		return tlt_out_data(flow, skb->sk, skb, p, config);
	if (th->syn || th->fin || th->rst)
		return TLT_CONTROL;
	return tlt_out_ack(flow);
}

static void tlt_out_mark(struct tlt_net *tn, struct tlt_flow *flow, struct sk_buff *skb,
			 const struct tlt_packet *p, const struct tlt_config *config,
			 enum tlt_kind kind)
{
	u32 segments = max_t(u32, skb_shinfo(skb)->gso_segs, 1);

	if (!tlt_packet_mark(skb, p, config->dscp[kind]))
		tlt_count_sent(tn, flow, kind, segments, skb->len, p->header_bytes);
}

/* Mark the burst's last segment as important, and all before it as plain. */
static void tlt_out_in_two(struct tlt_flow *flow, struct sk_buff *skb, struct sk_buff *tail,
			   const struct tlt_packet *p, const struct tlt_config *config)
{
	struct tlt_packet rest = *p, last = *p;

	rest.data_bytes = skb->len - p->header_bytes;
	last.data_bytes = tail->len - p->header_bytes;
	tlt_out_mark(flow->tn, flow, skb, &rest, config, TLT_PLAIN);
	tlt_out_mark(flow->tn, flow, tail, &last, config, TLT_DATA);
}

/* A burst that cannot be cut is not important as a whole. */
static void tlt_out_take_back(struct tlt_flow *flow)
{
	tlt_flow_lock(flow);
	tlt_sender_take_back(&flow->sender);
	tlt_flow_unlock(flow);
}

/*
 * A packet without a mark must not look marked, or a switch spares it.  The application may have
 * chosen such a code point, or TCP took it from the SYN (net.ipv4.tcp_reflect_tos).
 */
static void tlt_out_unmark(struct sk_buff *skb, const struct tlt_packet *p,
			   const struct tlt_config *config)
{
	if (config->kind[p->dscp] != TLT_NONE)
		tlt_packet_mark(skb, p, 0);
}

/*
 * RCU read side; @config covers @skb.  The caller sends the returned packet, if it is not NULL,
 * after @skb, whose last segment it was.
 */
struct sk_buff *tlt_out(struct tlt_net *tn, struct sk_buff *skb, const struct tlt_config *config,
			const struct tlt_packet *p)
{
	struct tlt_flow *flow;
	struct sk_buff *tail;
	enum tlt_kind kind;

	if (p->dscp && config->foreign == TLT_FOREIGN_KEEP && config->kind[p->dscp] == TLT_NONE)
		return NULL;
	if (tlt_out_is_marked(tn, skb, p, config))
		return NULL;
	flow = tlt_out_has_flow(tn, skb->sk) ? tlt_flow_get(tn, skb->sk) : NULL;
	kind = tlt_out_kind(flow, skb, p, config);
	if (kind == TLT_NONE) {
		tlt_out_unmark(skb, p, config);
		return NULL;
	}
	if (kind == TLT_DATA && skb_is_gso(skb)) {
		if (tlt_cut_tail(skb, p, flow, &tail)) {
			tlt_out_in_two(flow, skb, tail, p, config);
			return tail;
		}
		tlt_out_take_back(flow);
		kind = TLT_PLAIN;
	}
	tlt_out_mark(tn, flow, skb, p, config, kind);
	return NULL;
}
