/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The price between hosts (orack_price_net.c, orack_price.h).  Model: ECNDELAY16, section 5.2.
 */
#ifndef ORACK_PRICE_NET_H
#define ORACK_PRICE_NET_H

#include <linux/in6.h>
#include <linux/spinlock.h>

#include "include/uapi/turnpike.h"
#include "orack_price.h"

struct onramp_net;
struct orack_datagram;
struct orack_pair;
struct sock;

/* Addresses of a namespace at which flows of timely_pi arrive.  Those of any more do not agree. */
#define ORACK_PRICE_LOCALS	8

/* Prices that hosts report for an address of ours. */
struct orack_price_local {
	struct in6_addr addr;		/* IPv4 is mapped */
	struct orack_price_all all;
};

/* In a namespace. */
struct orack_price_net {
	spinlock_t lock;		/* guards local; bottom halves off */
	struct orack_price_local local[ORACK_PRICE_LOCALS];
};

/* A host's reports to us; the peer's lock guards it. */
struct orack_price_reports {
	u64 made_ns;			/* the last, by its clock */
	u64 came_ns;			/* by ours */
};

void orack_price_open(struct onramp_net *on);
s32 orack_price_gap(const struct sock *sk, u32 price_q);
enum onramp_stat orack_price_report(struct onramp_net *on, const struct orack_pair *pair,
				    const struct orack_datagram *d, int ifindex);
enum onramp_stat orack_price_answer(const struct orack_pair *pair, const struct orack_datagram *d);

#endif /* ORACK_PRICE_NET_H */
