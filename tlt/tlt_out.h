/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that leave: what TLT (TLT21) marks (tlt_out.c).
 */
#ifndef TLT_OUT_H
#define TLT_OUT_H

#include <net/tcp.h>

#include "tlt_flow.h"

struct sk_buff;
struct tlt_config;
struct tlt_packet;

/*
 * Does the congestion control take no loss for congestion, as all of BBR's name?  It keeps the
 * queue so long that switches drop plain packets, and most of many such flows into one port
 * would starve.  TLT does not mark their data, so no switch drops it before that of others.
 */
static inline bool tlt_leaves(const struct sock *sk)
{
	return !strncmp(inet_csk(sk)->icsk_ca_ops->name, "bbr", 3);
}

/* What tlt_sender_waits() needs.  Takes no lock, changes nothing. */
static inline void tlt_out_look(const struct tlt_flow *flow, const struct sock *sk,
				const struct tcphdr *th, struct tlt_burst *b)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	*b = (struct tlt_burst){
		.now_ns = tp->tcp_wstamp_ns,
		.snd_una = tp->snd_una,
		.again = before(ntohl(th->seq), tp->snd_nxt),
		.timeout = inet_csk(sk)->icsk_retransmits != READ_ONCE(flow->retransmits),
	};
}

struct sk_buff *tlt_out(struct tlt_net *tn, struct sk_buff *skb, const struct tlt_config *config,
			const struct tlt_packet *p);

#endif /* TLT_OUT_H */
