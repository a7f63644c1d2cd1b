/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of tcp_timely (TIMELY15, ECNDELAY16).
 */
#ifndef TIMELY_FLOW_H
#define TIMELY_FLOW_H

#include <net/tcp.h>

#include "timely_completion.h"
#include "timely_state.h"

struct timely_dev;

#define TIMELY_FLOW_READY	1	/* init was done */
#define TIMELY_FLOW_ACTIVE	2	/* counted in dev->active */
#define TIMELY_FLOW_STARTED	4	/* has its first rate */
#define TIMELY_FLOW_OWN_PACING	8	/* TCP's timer paces, even above fq */
#define TIMELY_FLOW_RECOVERING	16	/* the window is that of loss recovery */
#define TIMELY_FLOW_OPENING	32	/* the window has not reached its bound yet */
#define TIMELY_FLOW_SIGNAL	64	/* this ACK has the signal asked for, other than the RTT */

/* The private part of a socket; the socket lock guards all of it.  timely_get_info
 * reads it without, and may show values of two moments.
 */
struct timely_flow {
	struct timely_state rate;
	struct timely_burst burst;
	struct timely_dev *dev;		/* NULL: no route yet */
	u32 prior_cwnd;			/* before the loss episode */
	u16 burst_segs;
	u8 flags;
	u8 hops_patience;		/* events that may lack their hops */
};

static inline struct timely_flow *timely_flow(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

#endif /* TIMELY_FLOW_H */
