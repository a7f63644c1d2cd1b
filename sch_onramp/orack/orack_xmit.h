/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How OR-ACKs are sent (orack_xmit.c).  Model: OR-ACKs (ONRAMP21, section 3.1).
 */
#ifndef ORACK_XMIT_H
#define ORACK_XMIT_H

#include "orack_pair.h"
#include "orack_wire.h"

struct onramp_net;

/* A packet to send.  Before its data it has what the MAC covers as well. */
struct orack_packet {
	struct {
		struct in6_addr from;
		struct in6_addr to;
		u8 data[ORACK_BYTES_MAX];
	} maced;
	u32 bytes;			/* of data */
	int oif;			/* for link-local addresses, else 0 */
	u8 tos;
};

int orack_send(struct onramp_net *on, struct orack_packet *p);

/* Addresses a packet to a pair's far end, if it is not about data of a flow. */
static inline void orack_address(const struct orack_pair *pair, int oif, struct orack_packet *p)
{
	p->maced.from = pair->local;
	p->maced.to = pair->remote;
	p->oif = oif;
	p->tos = 0;
}

#endif /* ORACK_XMIT_H */
