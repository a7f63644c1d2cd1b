// SPDX-License-Identifier: GPL-2.0
#include <net/udp_tunnel.h>

void probe(struct socket *sock);
void probe(struct socket *sock)
{
	udp_tunnel_encap_enable(sock);
}
