/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts that ask us for receipts (orack_hearing.c).  Model: On-Ramp (ONRAMP21).
 */
#ifndef ORACK_HEARING_H
#define ORACK_HEARING_H

#include <linux/atomic.h>

#include "include/uapi/turnpike.h"
#include "orack_batch.h"
#include "orack_clock.h"
#include "orack_price_net.h"
#include "orack_stamper.h"

struct onramp_net;
struct orack_pair;
struct orack_peer;
struct sock;

/* A host that sends data to us; the peer's lock guards writes, but for thin and stamper. */
struct orack_hearing {
	unsigned long hears_until;	/* jiffies; lockless readers */
	bool hears;			/* it announced itself; lockless readers */
	bool sparse;			/* receipts are enough for it; lockless readers */
	u64 announced_ns;		/* by its clock */
	u64 announced_at_ns;		/* by ours */
	u64 calls_ns;			/* start of the hundredth of a second that is counted */
	u32 calls;			/* announcements in it */
	struct orack_own_report own_report;		/* of our clock */
	struct orack_price_reports prices;
	struct orack_thin thin;		/* no lock */
	struct orack_stamper stamper;	/* of our times; no lock */
};

/* In a namespace. */
struct orack_hearing_net {
	atomic_t count;			/* peers that want receipts */
	atomic_t sparse;		/* those of them that want sparse ones */
	atomic_t all_requests;		/* times that a host wanted all again */
	atomic_t arrived;		/* bytes of data while there were such, modulo 2^32 */
};

/* The terms of a batch that begins. */
struct orack_terms {
	int oif;			/* where receipts go out, for link-local addresses, else 0 */
	bool nic;			/* times are the NIC's */
	bool sparse;			/* the next may be long in coming */
};

enum orack_wants {
	ORACK_WANTS_NONE,
	ORACK_WANTS_MORE,		/* more data; so little gets no receipt of its own */
	ORACK_WANTS_RECEIPT,
};

bool orack_peer_hears(const struct orack_pair *pair);
enum orack_wants orack_peer_wants(const struct orack_pair *pair, u32 bytes, u64 now_ns,
				  const struct orack_seen *seen, struct orack_terms *terms);
enum onramp_stat orack_peer_announced(struct onramp_net *on, const struct orack_pair *pair,
				      const struct orack_header *h, const struct sock *sk, int oif);
void orack_peer_report_clock(struct onramp_net *on, struct orack_peer *peer);
void orack_pair_report_clock(struct onramp_net *on, const struct orack_pair *pair);
void orack_peer_set_hears(struct onramp_net *on, struct orack_peer *peer, bool hears);
void orack_peer_expire_hears(struct onramp_net *on, struct orack_peer *peer);

#endif /* ORACK_HEARING_H */
