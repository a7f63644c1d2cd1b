/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stamps by which a NIC with a stock driver marks received frames (TIMELY15): a program reports
 * readings of the NIC's clock beside the system's. Pure.
 *
 *   program: system before, NIC, system after --> fault? --> map (nicstamp_clock.h)
 *                                                             |
 *   frame with the NIC's stamp -------------------------------+--> system's clock +- error
 *
 * A frame comes to the NIC before the host looks at it, and not long before. A stamp that
 * says otherwise is of a clock that stepped since the last reading. nicstamp then forgets
 * the map, and makes another of the next readings.
 */
#ifndef NICSTAMP_FOLLOW_H
#define NICSTAMP_FOLLOW_H

#include "nicstamp_clock.h"

/* A program that reads ten times a second and is silent for so long is dead or stopped.
 * nicstamp would not see a step of the clock then.
 */
#define NICSTAMP_FOLLOW_PAUSE_NS	1000000000ULL

/* The NIC's stamp leaves out the wait for the interrupt and the poll: a few to some tens of
 * microseconds. A stamp with a larger error than this is no better than the host's.
 */
#define NICSTAMP_FOLLOW_ERROR_MAX_NS	10000ULL

/* Moderation delays interrupts by a millisecond at most, and other polls delay one by some ms. */
#define NICSTAMP_FOLLOW_LATE_MAX_NS	10000000ULL

/* The NIC's clock between two looks at the system's. */
struct nicstamp_crossing {
	u64 before_ns;
	u64 nic_ns;
	u64 after_ns;
};

struct nicstamp_follow {
	struct nicstamp_map map;
	u64 read_ns;		/* system's clock at the newest reading; 0: there was none */
	u32 step_ns;		/* resolution of the clock and of the stamps */
};

enum nicstamp_fault {
	NICSTAMP_SOUND,
	NICSTAMP_NO_TIME,	/* no stamp can have this time of the NIC */
	NICSTAMP_BACKWARDS,	/* the reading ended before it began */
	NICSTAMP_WIDE,		/* the reading took too long */
	NICSTAMP_AHEAD,		/* it is of the future */
	NICSTAMP_OLD,		/* it is of long ago */
	NICSTAMP_EARLIER,	/* it is older than the last one */
	NICSTAMP_FAULTS
};

enum nicstamp_stamped {
	NICSTAMP_STAMP_UNKNOWN,	/* no map, or too large an error for that moment */
	NICSTAMP_STAMP_KNOWN,
	NICSTAMP_STAMP_ABSURD,	/* impossible */
};

static inline void nicstamp_follow_begin(struct nicstamp_follow *f, u32 step_ns)
{
	f->map.readings = 0;
	f->read_ns = 0;
	f->step_ns = step_ns;
}

/* What is wrong with a reading that a program reports at @now_ns? */
static inline enum nicstamp_fault nicstamp_follow_fault(const struct nicstamp_follow *f,
							const struct nicstamp_crossing *c,
							u64 now_ns)
{
	if (!c->nic_ns || c->nic_ns >> 63)
		return NICSTAMP_NO_TIME;
	if (c->after_ns < c->before_ns)
		return NICSTAMP_BACKWARDS;
	if (c->after_ns - c->before_ns > NICSTAMP_WIDTH_MAX_NS)
		return NICSTAMP_WIDE;
	if (c->after_ns > now_ns)
		return NICSTAMP_AHEAD;
	if (now_ns - c->after_ns > NICSTAMP_FOLLOW_PAUSE_NS)
		return NICSTAMP_OLD;
	return c->before_ns < f->read_ns ? NICSTAMP_EARLIER : NICSTAMP_SOUND;
}

/* Takes a sound reading. After a pause the map begins anew. */
static inline enum nicstamp_reading nicstamp_follow_read(struct nicstamp_follow *f,
							 const struct nicstamp_crossing *c)
{
	if (c->after_ns - f->read_ns > NICSTAMP_FOLLOW_PAUSE_NS)
		f->map.readings = 0;
	f->read_ns = c->after_ns;
	return nicstamp_map_read(&f->map, c->before_ns, c->nic_ns, c->after_ns, f->step_ns);
}

static inline void nicstamp_follow_doubt(struct nicstamp_follow *f)
{
	f->map.readings = 0;
}

/* When was the frame, stamped @nic_ns, at the NIC, if the host looks at it at @now_ns? */
static inline enum nicstamp_stamped nicstamp_follow_stamp(const struct nicstamp_follow *f,
							  u64 nic_ns, u64 now_ns, u64 *sys_ns,
							  u64 *error_ns)
{
	if (!f->map.readings || now_ns > f->read_ns + NICSTAMP_FOLLOW_PAUSE_NS)
		return NICSTAMP_STAMP_UNKNOWN;
	if (!nicstamp_map_to_sys(&f->map, nic_ns, sys_ns, error_ns))
		return NICSTAMP_STAMP_ABSURD;
	*error_ns += f->step_ns;
	if (*sys_ns > now_ns + *error_ns ||
	    *sys_ns + *error_ns + NICSTAMP_FOLLOW_LATE_MAX_NS < now_ns)
		return NICSTAMP_STAMP_ABSURD;
	if (*error_ns > NICSTAMP_FOLLOW_ERROR_MAX_NS)
		return NICSTAMP_STAMP_UNKNOWN;
	if (*sys_ns > now_ns)
		*sys_ns = now_ns;
	return NICSTAMP_STAMP_KNOWN;
}

#endif /* NICSTAMP_FOLLOW_H */
