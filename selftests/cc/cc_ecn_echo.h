/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver's side of ECN as RFC 8257 (DCTCP) has it: each ACK tells whether the packets that
 * it acknowledges were marked.
 *
 * TCP sets ECE while TCP_ECN_DEMAND_CWR is set.  When marked packets follow unmarked ones or the
 * reverse, an ACK that waits is for the former ones and leaves first.
 */
#ifndef CC_ECN_ECHO_H
#define CC_ECN_ECHO_H

#include "compat/compat.h"

struct cc_ecn_echo {
	u32 seen_nxt;		/* rcv_nxt at the last packet */
	bool marked;		/* that packet */
};

static inline void cc_ecn_echo_start(struct cc_ecn_echo *echo, const struct sock *sk)
{
	echo->seen_nxt = tcp_sk(sk)->rcv_nxt;
	echo->marked = false;
}

static inline void cc_ecn_echo_say(struct sock *sk, bool marked)
{
	if (marked)
		tcp_sk(sk)->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tcp_sk(sk)->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* A packet came, @marked or not. */
static inline void cc_ecn_echo_packet(struct sock *sk, struct cc_ecn_echo *echo, bool marked)
{
	if (marked != echo->marked) {
		if (inet_csk(sk)->icsk_ack.pending & ICSK_ACK_TIMER) {
			cc_ecn_echo_say(sk, echo->marked);
			tp_tcp_send_ack(sk, echo->seen_nxt);
		}
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	echo->seen_nxt = tcp_sk(sk)->rcv_nxt;
	echo->marked = marked;
	cc_ecn_echo_say(sk, marked);
}

static inline void cc_ecn_echo_event(struct sock *sk, struct cc_ecn_echo *echo,
				     enum tcp_ca_event event)
{
	if (event == CA_EVENT_ECN_IS_CE || event == CA_EVENT_ECN_NO_CE)
		cc_ecn_echo_packet(sk, echo, event == CA_EVENT_ECN_IS_CE);
}

#endif /* CC_ECN_ECHO_H */
