// SPDX-License-Identifier: GPL-2.0
/* Does a congestion control say how many segments a burst has, rather than the least (BBRv3)? */
#include <net/tcp.h>

static u32 segs(struct sock *sk, unsigned int mss_now)
{
	return 1;
}

struct tcp_congestion_ops probe_ops = { .tso_segs = segs };
