// SPDX-License-Identifier: GPL-2.0
#include <net/tcp.h>

static void control(struct sock *sk, const struct rate_sample *rs)
{
}

struct tcp_congestion_ops probe_ops = { .cong_control = control };
