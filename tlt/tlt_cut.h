/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cutting the last segment off a burst, so that TLT (TLT21) may mark it alone (tlt_cut.c).
 */
#ifndef TLT_CUT_H
#define TLT_CUT_H

#include <linux/types.h>

struct sk_buff;
struct tlt_flow;
struct tlt_packet;

bool tlt_cut_tail(struct sk_buff *skb, const struct tlt_packet *p, struct tlt_flow *flow,
		  struct sk_buff **tail);

#endif /* TLT_CUT_H */
