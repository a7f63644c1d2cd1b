/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Important ACK-clocking (TLT21, section 4.2): packets of TLT's own (tlt_inject.c).
 */
#ifndef TLT_INJECT_H
#define TLT_INJECT_H

#include <net/tcp.h>

struct tlt_config;
struct tlt_flow;

/* States in which an ACK makes sense, so that TLT answers important data. */
#define TLT_ANSWER_STATES	(TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2 | \
				 TCPF_CLOSE_WAIT | TCPF_CLOSING | TCPF_LAST_ACK)

/*
 * Was the data from @start to @end delivered, by an ACK of @ack and by the SACK blocks of the
 * last ACK, which TCP remembers?
 */
static inline bool tlt_tcp_has_news_of(const struct tcp_sock *tp, u32 start, u32 end, u32 ack)
{
	unsigned int i;

	if (!after(end, ack))
		return true;
	for (i = 0; i < ARRAY_SIZE(tp->recv_sack_cache); i++) {
		if (!before(start, tp->recv_sack_cache[i].start_seq) &&
		    !after(end, tp->recv_sack_cache[i].end_seq))
			return true;
	}
	return false;
}

void tlt_inject(struct tlt_flow *flow, struct sock *sk, const struct tlt_config *config);
void tlt_inject_answered(struct sock *sk);

#endif /* TLT_INJECT_H */
