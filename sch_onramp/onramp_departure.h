/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a packet left: the qdisc, or the NIC.  Pure.
 *
 *      dequeue ---- driver, NIC's queue ---- last byte on the wire ~~~ network ~~~
 *       tx_ns  <---------- nic_ns --------->
 *
 * On-Ramp's one-way delay (ONRAMP21, section 3.3) is the network's.  A wait in this host's own
 * NIC is no reason to hold the flow; only the NIC's stamp tells the two apart.  nicstamp maps the
 * stamp to CLOCK_MONOTONIC, the clock of tx_ns, with an error bound.  A valid departure lies
 * between the packet's leaving the qdisc and the arrival of the stamp, whatever the NIC's clock
 * does.
 *
 * All departures of a flow are of one kind, as the times of its receipts are (orack_stamper.h).
 * In between, a packet without a stamp gives no sample: its wait in the NIC would look like a
 * queue that came and went.  The delay base stays when the kind changes.  It is a least delay,
 * and a delay from the NIC is the smaller of both.  From the qdisc, the NIC's queue counts as the
 * network's.
 */
#ifndef ONRAMP_DEPARTURE_H
#define ONRAMP_DEPARTURE_H

#include "include/turnpike_types.h"
#include "onramp_flight.h"
#include "orack/orack_stamper.h"

/* nic_ns has room for this much; no packet waits in a NIC for a second. */
#define ONRAMP_DEPARTURE_MAX_NS	((1ULL << 30) - 1)

enum onramp_departure_kind {
	ONRAMP_DEPARTURE_QDISC,
	ONRAMP_DEPARTURE_NIC,
	ONRAMP_DEPARTURE_UNKNOWN,		/* the NIC's, whose stamp is missing */
};

/* Is a stamp of the packet of use?  NULL: it has no departure record. */
static inline bool onramp_departure_wants(const struct onramp_record *r)
{
	return r && !r->stamped && !r->retrans;
}

/* The NIC stamped a byte at @at_ns, @behind_ns of wire time before the packet's last.  False: the
 * stamp is not believed.
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

/* Which time the departure of a sample is by. */
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

/* onramp_departure.c: what nicstamp asks and tells. */
extern const struct nicstamp_departures onramp_departures;
#endif

#endif /* ONRAMP_DEPARTURE_H */
