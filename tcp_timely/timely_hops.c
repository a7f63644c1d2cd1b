// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of single hops (timely_hops.h, CS244), from whatever brings them to this host: only
 * asked for where signal is sum, sum_squ or max.
 */
#include <net/tcp.h>

#include "timely_completion.h"
#include "timely_hops.h"
#include "timely_signal.h"

/* The other module's, while it is loaded. Called under RCU only: no CPU is in it when a grace
 * period has passed after that took it back.
 */
static timely_hops_fn timely_hops;

void timely_set_hops(timely_hops_fn hops)
{
	WRITE_ONCE(timely_hops, hops);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(timely_set_hops);

/* RCU read side, for an ACK with an RTT. Fills in the part of it that is not in the signal; false:
 * that is not known.
 */
bool timely_hops_ack(const struct sock *sk, const struct rate_sample *rs, u32 signal,
		     struct timely_ack *a)
{
	timely_hops_fn hops = READ_ONCE(timely_hops);
	long least_us = tcp_min_rtt(tcp_sk(sk));
	struct tp_hops h;

	if (!hops || rs->rtt_us < least_us || !hops(sk, a->una, &h))
		return false;
	a->back_ns = timely_hops_less_ns(signal, &h,
					 (u64)(rs->rtt_us - least_us) * NSEC_PER_USEC);
	return true;
}
