// SPDX-License-Identifier: GPL-2.0
/* Can TCP timestamps count microseconds, and is there a helper that knows? */
#include <net/tcp.h>

u64 probe(const struct tcp_sock *tp);
u64 probe(const struct tcp_sock *tp)
{
	return tcp_clock_ts(tp->tcp_usec_ts);
}
