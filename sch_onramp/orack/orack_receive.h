/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Feedback of receipts (orack_receive.c): what a connection has of it.  Model: ONRAMP21.
 */
#ifndef ORACK_RECEIVE_H
#define ORACK_RECEIVE_H

#include "include/turnpike_types.h"
#include "sch_onramp/onramp_flight.h"

struct onramp_net;
struct orack_packet;

/* The newest receipt stays at most a quarter of the sequence numbers behind what is acknowledged.
 * After half of them without a receipt it would be "after" all that come.
 */
#define ORACK_RECEIPT_BEHIND	(1U << 30)

/* In a control block, whose lock guards it. */
struct orack_receipt {
	u32 seq;			/* newest data that was receipted */
	u32 least_rtt_ns;		/* TCP's, until a receipt took it; 0: unknown */
};

static inline void orack_receipt_begin(struct orack_receipt *r, u32 seq, u32 least_rtt_ns)
{
	r->seq = seq;
	r->least_rtt_ns = least_rtt_ns;
}

/* All before @una is acknowledged.  It does not follow at once: the receipt of acknowledged data
 * comes after its ACK.
 */
static inline void orack_receipt_follow(struct orack_receipt *r, u32 una)
{
	if (tp_seq_before(r->seq, una - ORACK_RECEIPT_BEHIND))
		r->seq = una - ORACK_RECEIPT_BEHIND;
}

void orack_receive(struct onramp_net *on, struct orack_packet *p);

#endif /* ORACK_RECEIVE_H */
