// SPDX-License-Identifier: GPL-2.0
/* Is there a helper that knows a TCP socket? */
#include <net/sock.h>

bool probe(const struct sock *sk);
bool probe(const struct sock *sk)
{
	return sk_is_tcp(sk);
}
