/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long On-Ramp (ONRAMP21) kept a packet in the host. TCP's RTT contains this time, the
 * network's does not.
 *
 * sch_onramp knows the time and tcp_timely wants it. Each works without the other, and neither
 * keeps the other loaded. sch_onramp looks for tcp_timely when either loads, gives it the
 * function, and takes it back before it unloads.
 */
#ifndef TURNPIKE_ONRAMP_HOLD_H
#define TURNPIKE_ONRAMP_HOLD_H

#include <linux/types.h>

struct sock;

/* Nanoseconds that sch_onramp held the packet with the byte before @end_seq; 0: none, or not
 * known.  Called under RCU, with bottom halves on or off: a socket's owner works through its
 * backlog with them on.
 */
typedef u32 (*onramp_hold_fn)(const struct sock *sk, u32 end_seq);

/* Exported by tcp_timely.  NULL takes the function back: when this returns, no CPU runs it
 * any more.
 */
void timely_set_hold(onramp_hold_fn hold);

#endif /* TURNPIKE_ONRAMP_HOLD_H */
