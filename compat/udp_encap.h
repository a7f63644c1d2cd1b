/* SPDX-License-Identifier: GPL-2.0 */
/*
 * udp_tunnel_encap_enable() takes a struct sock, and in 6.1 the struct socket.  Not in
 * compat.h, since few files need all that the kernel's header includes.
 */
#ifndef TURNPIKE_COMPAT_UDP_ENCAP_H
#define TURNPIKE_COMPAT_UDP_ENCAP_H

#include <net/udp_tunnel.h>

#include "compat/compat.h"

static inline void tp_udp_encap_enable(struct sock *sk)
{
#ifdef TP_HAVE_UDP_ENCAP_ENABLE_SOCK
	udp_tunnel_encap_enable(sk);
#else
	udp_tunnel_encap_enable(sk->sk_socket);
#endif
}

#endif /* TURNPIKE_COMPAT_UDP_ENCAP_H */
