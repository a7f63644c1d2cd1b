// SPDX-License-Identifier: GPL-2.0
#include <net/tcp.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
}
