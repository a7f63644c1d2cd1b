/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queues that a packet met hop by hop, and its ACK on the way back (CS244, section 3.2).  Of the
 * vector (q1, ... q2k) there is what signals are made of.
 *
 * Switches know these times, and a module brings them to the sender: vrack_hops.ko in the virtual
 * rack. That gives tcp_timely a function, which tcp_timely calls for an ACK.
 */
#ifndef TURNPIKE_HOPS_H
#define TURNPIKE_HOPS_H

#include "include/turnpike_types.h"

struct sock;

/* Times in queues; none when all zero. */
struct tp_hops {
	u64 sum_ns;
	u64 max_ns;		/* in the one longest */
	u64 squares;		/* sum of the squares, ns^2 */
};

/* The queues of two ways, one after the other. */
static inline void tp_hops_join(struct tp_hops *h, const struct tp_hops *more)
{
	h->sum_ns += more->sum_ns;
	if (h->max_ns < more->max_ns)
		h->max_ns = more->max_ns;
	h->squares += more->squares;
	if (h->squares < more->squares)
		h->squares = ~0ULL;
}

/* The queues of the packet that made the receiver ack up to @una, and of that ACK. False: they are
 * not known. Called under RCU, with bottom halves on or off.
 */
typedef bool (*timely_hops_fn)(const struct sock *sk, u32 una, struct tp_hops *h);

/* Exported by tcp_timely. NULL takes the function back: when this returns, no CPU runs it any
 * more.
 */
void timely_set_hops(timely_hops_fn hops);

#endif /* TURNPIKE_HOPS_H */
