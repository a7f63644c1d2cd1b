/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long On-Ramp kept a packet in the host: time that is in TCP's RTT and not in the
 * network's.
 *
 * sch_onramp knows it and tcp_timely wants it, each works without the other, and neither
 * keeps the other loaded: sch_onramp looks for tcp_timely (when either is loaded) and
 * gives it the function, and takes it away before it leaves.
 */
#ifndef TURNPIKE_ONRAMP_HOLD_H
#define TURNPIKE_ONRAMP_HOLD_H

#include <linux/types.h>

struct sock;

/* Nanoseconds that the packet with the byte before @end_seq was held; 0: it was not, or
 * nothing is known of it.  Called under RCU, with bottom halves on or off: a socket's
 * owner works through its backlog with them on.
 */
typedef u32 (*onramp_hold_fn)(const struct sock *sk, u32 end_seq);

/* Exported by tcp_timely.  NULL takes the function away: when this returns nobody is in
 * it any more.
 */
void timely_set_hold(onramp_hold_fn hold);

#endif /* TURNPIKE_ONRAMP_HOLD_H */
