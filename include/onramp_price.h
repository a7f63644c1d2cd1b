/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the flows to one receiver agree on timely_pi's p (ECNDELAY16, equation 32).
 *
 * A flow of tcp_timely says its p, and learns how far it is from that of the others. sch_onramp
 * carries both between hosts. Each module works without the other, and neither keeps the other
 * loaded: sch_onramp gives the function as it gives that of include/onramp_hold.h.
 */
#ifndef TURNPIKE_ONRAMP_PRICE_H
#define TURNPIKE_ONRAMP_PRICE_H

#include <linux/types.h>

struct sock;

/* Says a flow's p, << 20 and below 2^28.  Returns p of all flows to that receiver less the flow's
 * own, in the same unit; 0 where nothing is known.  Called under RCU, with bottom halves on or
 * off; may send a packet.
 */
typedef s32 (*onramp_price_fn)(const struct sock *sk, u32 p_q);

/* Exported by tcp_timely.  NULL takes the function back: when this returns, no CPU runs it any
 * more.
 */
void timely_set_price(onramp_price_fn price);

#endif /* TURNPIKE_ONRAMP_PRICE_H */
