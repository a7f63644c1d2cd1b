/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Feedback by receipts (orack_receive.c): what a connection has of it.  Model: ONRAMP21.
 */
#ifndef ORACK_RECEIVE_H
#define ORACK_RECEIVE_H

#include "include/turnpike_types.h"
#include "sch_onramp/onramp_flight.h"

struct onramp_net;
struct orack_packet;

/* What the newest entry named stays at most a quarter of the sequence numbers behind what is
 * acknowledged.  After half of them without an entry it would be "after" all that come.
 */
#define ORACK_FEEDBACK_BEHIND	(1U << 30)

/* In a control block, whose lock guards it. */
struct orack_feedback {
	u32 seq;			/* newest data that an entry named */
	u32 least_rtt_ns;		/* TCP's, until an entry took it; 0: unknown */
};

static inline void orack_feedback_begin(struct orack_feedback *f, u32 seq, u32 least_rtt_ns)
{
	f->seq = seq;
	f->least_rtt_ns = least_rtt_ns;
}

/* All before @una is acknowledged.  It does not follow at once: the entry for acknowledged data
 * comes after its ACK.
 */
static inline void orack_feedback_follow(struct orack_feedback *f, u32 una)
{
	if (tp_seq_before(f->seq, una - ORACK_FEEDBACK_BEHIND))
		f->seq = una - ORACK_FEEDBACK_BEHIND;
}

void orack_receive(struct onramp_net *on, struct orack_packet *p);

#endif /* ORACK_RECEIVE_H */
