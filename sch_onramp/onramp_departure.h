/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a packet left: the qdisc, or the NIC.  Pure.
 *
 *      dequeue ---- driver, NIC's queue ---- last byte on the wire ~~~ network ~~~
 *       tx_ns  <---------- nic_ns --------->
 *
 * On-Ramp's one-way delay (NSDI '21, section 3.3) is the network's.  What this host's own NIC
 * keeps a packet for is no reason to hold the flow; only a stamp of the NIC's tells it from
 * what comes behind.  nicstamp maps the stamp to CLOCK_MONOTONIC, the clock of tx_ns, with an
 * error bound.  It has to lie between the packet's leaving the qdisc and the stamp's being
 * told: whatever the NIC's clock does, a departure is not before the one and not behind the
 * other.
 *
 * A flow's departures are all of one kind, as its receipts' times are (orack_stamper.h): what
 * has no stamp in between gives no sample, since its wait in the NIC would look like a queue
 * that came and went.  The delay base is kept when the kind changes: it is a least delay, and
 * counted from the NIC a delay is the less of both.  From the qdisc, the NIC's queue counts as
 * the network's.
 */
#ifndef ONRAMP_DEPARTURE_H
#define ONRAMP_DEPARTURE_H

#include "include/turnpike_types.h"
#include "onramp_flight.h"
#include "orack/orack_stamper.h"

/* What nic_ns has room for; nothing waits in a NIC for a second. */
#define ONRAMP_DEPARTURE_MAX_NS	((1ULL << 30) - 1)

enum onramp_departure_kind {
	ONRAMP_DEPARTURE_QDISC,
	ONRAMP_DEPARTURE_NIC,
	ONRAMP_DEPARTURE_UNKNOWN,		/* by the NIC's time, which is missing */
};

/* Is a stamp of the packet of any use?  NULL: there is no record of it. */
static inline bool onramp_departure_wants(const struct onramp_record *r)
{
	return r && !r->stamped && !r->retrans;
}

/* The NIC said @at_ns of a byte, @behind_ns of wire time before the packet's last.  False: it
 * is not to be believed.
 */
static inline bool onramp_departure_enter(struct onramp_record *r, u64 at_ns, u32 error_ns,
					  u64 behind_ns, u64 now_ns)
{
	u64 left_ns = at_ns + behind_ns;
	u64 nic_ns = left_ns > r->tx_ns ? left_ns - r->tx_ns : 0;

	if (error_ns > ORACK_NIC_ERROR_NS || at_ns + error_ns < r->tx_ns ||
	    at_ns > now_ns + error_ns || nic_ns > ONRAMP_DEPARTURE_MAX_NS)
		return false;
	r->nic_ns = nic_ns;
	r->stamped = 1;
	return true;
}

/* Whose time the departure of a sample is. */
static inline enum onramp_departure_kind onramp_departure_next(struct orack_stamper *s,
							       const struct onramp_record *r,
							       u64 now_ns)
{
	struct orack_seen seen = { .stamped = r->stamped, .missed = !r->stamped };

	if (!orack_stamper_next(s, &seen, now_ns))
		return ONRAMP_DEPARTURE_QDISC;
	return r->stamped ? ONRAMP_DEPARTURE_NIC : ONRAMP_DEPARTURE_UNKNOWN;
}

#ifdef __KERNEL__
struct nicstamp_departures;

/* onramp_departure.c: what nicstamp asks and says. */
extern const struct nicstamp_departures onramp_departures;
#endif

#endif /* ONRAMP_DEPARTURE_H */
