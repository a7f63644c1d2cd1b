/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two hosts, and a connection between them.  Model: On-Ramp (ONRAMP21).
 */
#ifndef ORACK_PAIR_H
#define ORACK_PAIR_H

#include <linux/in6.h>
#include <net/net_namespace.h>

#include "sch_onramp/onramp_packet.h"

/* Two hosts, as the one on this side sees it. */
struct orack_pair {
	possible_net_t net;		/* to compare; followed while the socket is open */
	struct in6_addr local;		/* IPv4 is mapped */
	struct in6_addr remote;
};

/* Where an announcement goes, and the connection by which the peer finds us. */
struct orack_contact {
	struct orack_pair pair;
	__be16 sport, dport;
	int oif;			/* for link-local addresses, else 0 */
	bool sparse;			/* sparse receipts are enough */
};

static inline void orack_pair_of(struct orack_pair *pair, const struct onramp_key *key)
{
	pair->net = key->net;
	pair->local = key->saddr;
	pair->remote = key->daddr;
}

#endif /* ORACK_PAIR_H */
