/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drains by receipts: flows to one receiver stop together, now and then, so that its queue
 * empties.  Not in ONRAMP21.
 *
 * A regulated queue never empties.  A flow that begins while it stands takes it for part of the
 * path.  So do all when the memory of the empty path expires, and then regulate a queue on top of
 * it: the latecomer's advantage that LEDBAT (RFC 6817) is known for.  Synchronized clocks would
 * tell, but hosts may have none.  All senders to a host know one clock, that of its receipts, and
 * take the moment from it:
 *
 *      receiver's clock  --|--------------- 2^27 ns ----------------|-->
 *      each flow         ==  queue + spread  =======================
 *                          \__________/
 *                           the last to stop finds the first still waiting
 */
#ifndef ORACK_DRAIN_H
#define ORACK_DRAIN_H

#include "include/turnpike_types.h"
#include "orack_batch.h"

/* 134 ms, seven times a second: a pause of 150 us is .1 % of it, and even the shortest of the
 * long flows has some to learn the path from.
 */
#define ORACK_DRAIN_NS		(1ULL << 27)

/* A sender in earnest gets receipts each ORACK_WAIT_MAX_NS.  After so many the other flows have
 * gone on.
 */
#define ORACK_DRAIN_LATE_NS	(4 * ORACK_WAIT_MAX_NS)

/* How far apart flows stop: receipts wait, and ways back differ by microseconds. */
#define ORACK_DRAIN_SPREAD_NS	(ORACK_WAIT_MAX_NS + 10000)

/* How long to stop.  0: it is not the time, or the flow stopped @since_ns ago, or @queue_ns is
 * less than a queue regulated at @threshold_ns.
 */
static inline u64 orack_drain_pause_ns(u64 clock_ns, u64 since_ns, u64 queue_ns, u64 threshold_ns)
{
	if ((clock_ns & (ORACK_DRAIN_NS - 1)) > ORACK_DRAIN_LATE_NS ||
	    since_ns < ORACK_DRAIN_NS / 2 || queue_ns < threshold_ns / 2)
		return 0;
	return queue_ns + ORACK_DRAIN_SPREAD_NS;
}

#endif /* ORACK_DRAIN_H */
