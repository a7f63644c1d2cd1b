// SPDX-License-Identifier: GPL-2.0
/* Does udp_tunnel_encap_enable() take a struct sock, or still the struct socket? */
#include <net/udp_tunnel.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	udp_tunnel_encap_enable(sk);
}
