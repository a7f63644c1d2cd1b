/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose times of arrival receipts for a peer carry: the host's, or its NIC's.
 *
 *              first data has a stamp, or 16 in a row have, a tenth of a
 *              second after they ended, each time twice as long
 *      host's ------------------------------------------------------> NIC's
 *             <------------------------------------------------------
 *              one in nine has none, 8 in a row
 *
 * Both are times of one clock, the host's CLOCK_MONOTONIC.  nicstamp maps the NIC's stamps to it
 * with an error bound, which tells their age.  So a report of that clock against CLOCK_REALTIME
 * holds for both.  A NIC's own time on the wire would need a report for each NIC, by a receiver
 * that has the map anyway.  But the host's times are later by what interrupts and the stack take.
 * A base delay learned from one is none for the other.  So the clock's identity in receipts has a
 * bit for it (orack_wire.h), and no sender mixes them, even one that knows nothing of NICs.
 *
 * While the times are the NIC's, data without a stamp gets no entry: a host's time in between
 * would look like a queue.  A stamper stays as long as it is good, as each change costs the
 * sender what it had learned.  Departures of a flow's data change between qdisc's and NIC's times
 * in the same way (onramp_departure.h).  Model: ONRAMP21, section 3.3.
 */
#ifndef ORACK_STAMPER_H
#define ORACK_STAMPER_H

#include "include/turnpike_types.h"

/* A stamp with a larger error is not used.  PCI reads of 1.5 us, 100 ms apart, leave 2.3 us
 * before the next (nicstamp_clock.h).  The bound is less than a tenth of T = 50 us.
 */
#define ORACK_NIC_ERROR_NS	4000

/* An older stamp is not believed: the NIC's clock was set back, which nicstamp has not seen yet.
 * Interrupts and a busy host are late by tens of microseconds, seldom by a millisecond.
 */
#define ORACK_NIC_LATE_NS	1000000

/* So many in a row, up to a megabyte of data: not one packet of a NIC that stamps some. */
#define ORACK_STAMPER_RUN	16

/* Each miss weighs as much as so many stamps, */
#define ORACK_STAMPER_WEIGHT	8
/* and at this weight stamps have ended: a flow is not without receipts for long. */
#define ORACK_STAMPER_DEBT	(8 * ORACK_STAMPER_WEIGHT)

/* After stamps ended they are not used for so long, in units of 2^ORACK_STAMPER_SHIFT ns.  At
 * first that is a tenth of a second, in which nicstamp reads the clock again.  Then it doubles
 * each time, up to ten seconds, so that a NIC whose stamps come and go costs little.
 */
#define ORACK_STAMPER_SHIFT	20
#define ORACK_STAMPER_HOLD_MIN	(100000000U >> ORACK_STAMPER_SHIFT)
#define ORACK_STAMPER_HOLD_MAX	(10000000000ULL >> ORACK_STAMPER_SHIFT)

/* Data since the last decision. */
struct orack_seen {
	u32 stamped;
	u32 missed;		/* had no stamp of the NIC, or a bad one */
};

struct orack_stamper {
	bool begun;
	bool nic;
	u32 run;		/* the host's: stamps in a row */
	u32 debt;		/* the NIC's: misses that weigh */
	u32 ended;		/* when its stamps ended; it wraps after 52 days, at no more cost */
	u32 hold;		/* for how long they are not used then */
};

/* Is a NIC's time good? */
static inline bool orack_stamp_is_good(u64 now_ns, u64 at_ns, u32 error_ns)
{
	return error_ns <= ORACK_NIC_ERROR_NS && at_ns <= now_ns + error_ns &&
	       now_ns + error_ns - at_ns <= ORACK_NIC_LATE_NS;
}

static inline void orack_stamper_change(struct orack_stamper *s, bool nic, u32 now)
{
	s->nic = nic;
	s->run = 0;
	s->debt = 0;
	if (nic)
		return;
	s->ended = now;
	s->hold = s->hold * 2 < ORACK_STAMPER_HOLD_MAX ? s->hold * 2 : (u32)ORACK_STAMPER_HOLD_MAX;
	if (s->hold < ORACK_STAMPER_HOLD_MIN)
		s->hold = ORACK_STAMPER_HOLD_MIN;
}

/* Are the next receipt's times the NIC's? */
static inline bool orack_stamper_next(struct orack_stamper *s, const struct orack_seen *seen,
				      u64 now_ns)
{
	u32 now = (u32)(now_ns >> ORACK_STAMPER_SHIFT);

	if (!s->begun) {
		s->begun = true;
		s->nic = seen->stamped && !seen->missed;
	} else if (s->nic) {
		s->debt = s->debt > seen->stamped ? s->debt - seen->stamped : 0;
		s->debt += seen->missed * ORACK_STAMPER_WEIGHT;
		if (s->debt >= ORACK_STAMPER_DEBT)
			orack_stamper_change(s, false, now);
	} else {
		s->run = seen->missed ? 0 : s->run + seen->stamped;
		if (s->run >= ORACK_STAMPER_RUN && now - s->ended >= s->hold)
			orack_stamper_change(s, true, now);
		else if (s->run > ORACK_STAMPER_RUN)
			s->run = ORACK_STAMPER_RUN;	/* a line that is read, not written */
	}
	return s->nic;
}

#endif /* ORACK_STAMPER_H */
