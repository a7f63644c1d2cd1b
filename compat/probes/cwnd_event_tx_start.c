// SPDX-License-Identifier: GPL-2.0
/* Has a congestion control a member of its own for data that leaves after idle? */
#include <net/tcp.h>

static void start(struct sock *sk)
{
}

struct tcp_congestion_ops probe_ops = { .cwnd_event_tx_start = start };
