/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What TCP left undone for TLT (TLT21), once the packet is through (tlt_deferred.c).
 */
#ifndef TLT_DEFERRED_H
#define TLT_DEFERRED_H

struct sock;
struct tlt_flow;
struct tlt_net;

void tlt_defer(struct tlt_flow *flow, struct sock *sk);
void tlt_deferred_wait(const struct tlt_net *tn);
int tlt_deferred_init(void);
void tlt_deferred_exit(void);

#endif /* TLT_DEFERRED_H */
