/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netfilter's hooks of TLT (TLT21): each packet comes by (tlt_hook.c). A packet's way: tlt_hook.c,
 * tlt_packet.c (what is it), tlt_config.c (is it TLT's), tlt_out.c or tlt_in.c (what does it mean:
 * tlt_select.h), tlt_deferred.c (what TCP left undone).
 */
#ifndef TLT_HOOK_H
#define TLT_HOOK_H

struct tlt_net;

int tlt_hook_add(struct tlt_net *tn);
void tlt_hook_remove(struct tlt_net *tn);

#endif /* TLT_HOOK_H */
