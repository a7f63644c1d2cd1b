// SPDX-License-Identifier: GPL-2.0
/* Does cong_control() get the ACK number and the flags of the ACK? */
#include <net/tcp.h>

static void control(struct sock *sk, u32 ack, int flag,
		    const struct rate_sample *rs)
{
}

struct tcp_congestion_ops probe_ops = { .cong_control = control };
