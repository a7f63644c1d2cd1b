/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that arrive: what their marks mean to TLT (TLT21) (tlt_in.c).
 */
#ifndef TLT_IN_H
#define TLT_IN_H

struct sk_buff;
struct sock;
struct tlt_config;
struct tlt_net;
struct tlt_packet;

unsigned int tlt_in(struct tlt_net *tn, const struct sk_buff *skb, struct sock *sk,
		    const struct tlt_config *config, const struct tlt_packet *p);

#endif /* TLT_IN_H */
