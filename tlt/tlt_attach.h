/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Setting TLT (TLT21) for a namespace (tlt_attach.c).
 */
#ifndef TLT_ATTACH_H
#define TLT_ATTACH_H

struct net;
struct tlt_config;

int tlt_attach(struct net *net, struct tlt_config *config);
void tlt_detach(struct net *net);

#endif /* TLT_ATTACH_H */
