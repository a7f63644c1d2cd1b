/* SPDX-License-Identifier: GPL-2.0 */
/*
 * udp_tunnel_encap_enable() takes a struct sock; in the first releases of 6.1 it took the
 * struct socket.  The compiler sees which, and only who needs it includes all that header
 * brings.
 */
#ifndef TURNPIKE_COMPAT_UDP_ENCAP_H
#define TURNPIKE_COMPAT_UDP_ENCAP_H

#include <net/udp_tunnel.h>

static inline void tp_udp_encap_enable(struct sock *sk)
{
	udp_tunnel_encap_enable(__builtin_choose_expr(
		__same_type(udp_tunnel_encap_enable, void (struct sock *)),
		sk, sk->sk_socket));
}

#endif /* TURNPIKE_COMPAT_UDP_ENCAP_H */
