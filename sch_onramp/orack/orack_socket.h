/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The UDP socket of OR-ACKs (orack_socket.c).
 */
#ifndef ORACK_SOCKET_H
#define ORACK_SOCKET_H

struct onramp_net;

int orack_open(struct onramp_net *on);
void orack_deafen(struct onramp_net *on);
void orack_close(struct onramp_net *on);

#endif /* ORACK_SOCKET_H */
