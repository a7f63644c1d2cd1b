/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The UDP socket of OR-ACKs (orack_socket.c).  Model: ONRAMP21.
 */
#ifndef ORACK_SOCKET_H
#define ORACK_SOCKET_H

#include <linux/types.h>

struct onramp_net;
struct sock;

/* In a namespace. */
struct orack_socket_net {
	u16 port;			/* RTNL writes; readers take no lock */
	struct sock __rcu *sk;		/* RTNL writes */
};

int orack_open(struct onramp_net *on);
void orack_deafen(struct onramp_net *on);
void orack_close(struct onramp_net *on);

#endif /* ORACK_SOCKET_H */
