/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which announcements and clock reports count, and what a stranger cannot do.  Not in ONRAMP21.
 *
 *      time of the datagram less that of the last which counted
 *
 *      ------------|------------|0|-----------------------|------------->
 *         jump     |    late    | |          next         |     jump
 *               -slack                            time gone by + slack
 *
 * A signed datagram is its sender's, whenever that was: a newer one counts, an older one does
 * not.  Any host may have sent one that is not signed.  If newer were enough, one datagram of the
 * far future would have all later ones refused.  So a late one is refused.  A jump counts, but
 * never without a connection that lives: a stranger does not know its ports.  Without a
 * connection a host that has receipts keeps them, and nothing else changes.  Such a datagram does
 * not judge the next one, nor use up what counts in a while.
 */
#ifndef ORACK_TURN_H
#define ORACK_TURN_H

#include "include/turnpike_types.h"

/* Within a datacenter datagrams of one sender overtake each other by less. */
#define ORACK_TURN_SLACK_NS	10000000ULL

/* Rates of hosts' clocks differ by less than 1/2^this: NTP slews by 1/2000. */
#define ORACK_TURN_DRIFT_SHIFT	10

enum orack_turn {
	ORACK_TURN_NEXT,
	ORACK_TURN_LATE,
	ORACK_TURN_JUMP,
};

/* @since_ns: by our clock, since the datagram of @last_ns came. */
static inline enum orack_turn orack_turn(u64 time_ns, u64 last_ns, u64 since_ns)
{
	u64 most_ns = since_ns + (since_ns >> ORACK_TURN_DRIFT_SHIFT) + ORACK_TURN_SLACK_NS;
	s64 on_ns = (s64)(time_ns - last_ns);

	if (on_ns <= 0)
		return on_ns > -(s64)ORACK_TURN_SLACK_NS ? ORACK_TURN_LATE : ORACK_TURN_JUMP;
	return (u64)on_ns <= most_ns ? ORACK_TURN_NEXT : ORACK_TURN_JUMP;
}

/* Is it refused as a late one? */
static inline bool orack_turn_is_late(u64 time_ns, u64 last_ns, u64 since_ns, bool is_signed)
{
	if (is_signed)
		return (s64)(time_ns - last_ns) <= 0;
	return orack_turn(time_ns, last_ns, since_ns) == ORACK_TURN_LATE;
}

/* An announcement, and the state that it meets. */
struct orack_call {
	bool connected;		/* it names a connection that lives */
	bool hears;		/* its host has receipts, for @left_ms more */
	bool sparser;		/* it is for sparse receipts, and all are sent */
	bool jumps;		/* its time does: not signed, and ORACK_TURN_JUMP */
	u32 lifetime_ms;
	u32 left_ms;
};

/* May it count?  Without a connection it may not ask for less than there is. */
static inline bool orack_call_counts(const struct orack_call *c)
{
	if (c->connected)
		return true;
	return c->hears && !c->sparser && !c->jumps && c->lifetime_ms >= c->left_ms;
}

#endif /* ORACK_TURN_H */
