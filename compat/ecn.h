/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion flags of a TCP header.  By RFC 3168 ECE asks for a slower sender until CWR answers.
 * With accurate ECN these two and AE are the low bits of a count of marked packets, in every
 * segment of the connection.
 */
#ifndef TURNPIKE_COMPAT_ECN_H
#define TURNPIKE_COMPAT_ECN_H

#include <net/tcp.h>

#include "compat/compat.h"

#ifdef TP_HAVE_ACCECN
#include <net/tcp_ecn.h>
#endif

/* Do all segments of this GSO packet carry the flags of the first? */
static inline bool tp_skb_ecn_counts(const struct sk_buff *skb)
{
#ifdef TP_HAVE_ACCECN
	return skb_shinfo(skb)->gso_type & SKB_GSO_TCP_ACCECN;
#else
	return false;
#endif
}

/* Sets the flags in a blank header as TCP would set them now.  Socket locked. */
static inline void tp_tcp_ecn_say(struct tcp_sock *tp, struct sk_buff *skb, struct tcphdr *th)
{
#ifdef TP_HAVE_ACCECN
	if (tcp_ecn_mode_accecn(tp)) {
		tcp_accecn_set_ace(tp, skb, th);
		return;
	}
#endif
	th->ece = !!(tp->ecn_flags & TCP_ECN_DEMAND_CWR);
}

/*
 * Would the flags of a received packet be news to TCP?  Every packet repeats ECE; CWR comes
 * once.
 */
static inline bool tp_tcp_ecn_is_news(const struct tcp_sock *tp, const struct tcphdr *th)
{
#ifdef TP_HAVE_ACCECN
	if (tcp_ecn_mode_accecn(tp))
		return tcp_accecn_ace(th) != ((tp->delivered_ce + TCP_ACCECN_CEP_INIT_OFFSET) &
					      TCP_ACCECN_CEP_ACE_MASK);
#endif
	return th->cwr;
}

#endif /* TURNPIKE_COMPAT_ECN_H */
