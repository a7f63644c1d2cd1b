/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of a NIC: from a raw counter that wraps to nanoseconds that do not,
 * and from those to the system's clock, with a bound of the error. Pure.
 *
 *   raw  --counter-->  device ns  --map-->  system ns +- error
 *
 * The map is a straight line, as the calibration of TIMELY15 (section 5) is. It goes
 * through the two latest good readings. A reading is the device's clock between two of
 * the system's. It belongs to their middle, and half their distance is its error.
 * Between readings the error grows with the uncertainty of the rate.
 *
 *   reading that the line    +------+   second    +------+
 *   does not explain   +---->| one  |------------>| line |---+ more readings
 *   (a clock stepped)  |     +------+             +------+<--+
 *                      +-----------------------------+
 *
 * Each step begins a new epoch: stamps of two epochs are those of two clocks.
 */
#ifndef NICSTAMP_CLOCK_H
#define NICSTAMP_CLOCK_H

#include "include/turnpike_types.h"

/* -- the counter ------------------------------------------------------------ */

/* A raw stamp less than half a turn ahead of the base is later than it, any other is earlier.
 * The base follows well before half a turn.
 */
struct nicstamp_counter {
	u64 base_raw;
	u64 base_ns;
	u64 mask;
	u32 mult;		/* ns = raw * mult >> shift */
	u32 shift;
};

static inline void nicstamp_counter_init(struct nicstamp_counter *c, u32 bits, u32 mult,
					 u32 shift, u64 raw)
{
	c->mask = bits < 64 ? (1ULL << bits) - 1 : ~0ULL;
	c->mult = mult;
	c->shift = shift;
	c->base_raw = raw & c->mask;
	/* A stamp may be older than the first reading: time must not begin at 0. */
	c->base_ns = 1ULL << 62;
}

/* A raw stamp in nanoseconds of the device. */
static inline u64 nicstamp_counter_ns(const struct nicstamp_counter *c, u64 raw)
{
	u64 ahead = (raw - c->base_raw) & c->mask;

	if (ahead <= c->mask >> 1)
		return c->base_ns + tp_mul_shr(ahead, c->mult, c->shift);
	return c->base_ns - tp_mul_shr((c->base_raw - raw) & c->mask, c->mult, c->shift);
}

/* A reading of now. The base moves once a quarter turn only: each move rounds. */
static inline u64 nicstamp_counter_read(struct nicstamp_counter *c, u64 raw)
{
	u64 ns = nicstamp_counter_ns(c, raw);
	u64 ahead = (raw - c->base_raw) & c->mask;

	if (ahead > c->mask >> 2 && ahead <= c->mask >> 1) {
		c->base_raw = raw & c->mask;
		c->base_ns = ns;
	}
	return ns;
}

/* -- the map to the system's clock ------------------------------------------ */

#define NICSTAMP_RATE_SHIFT	32

/* How far the rates of two clocks may differ while nothing is known: 802.3 allows each
 * 100 ppm, and adjfine() may add to that. Linux slews by 500 ppm at most.
 */
#define NICSTAMP_RATE_UNKNOWN	(500ULL * (1ULL << NICSTAMP_RATE_SHIFT) / 1000000)

/* Change of a crystal's rate between two readings: well below 0.1 ppm a second. */
#define NICSTAMP_RATE_WANDER	((1ULL << NICSTAMP_RATE_SHIFT) / 10000000)

/* Two readings closer than this say little of the rate. */
#define NICSTAMP_SPAN_MIN_NS	10000000ULL

/* A map without a reading for so long is not valid any more. */
#define NICSTAMP_MAP_MAX_NS	10000000000ULL

/* A reading whose error is so many times the line's tells nothing new. Nor does one that was
 * interrupted: PCI reads take a few microseconds.
 */
#define NICSTAMP_POOR_READ	4
#define NICSTAMP_WIDTH_MAX_NS	1000000ULL

struct nicstamp_map {
	u64 dev_ns;		/* the newest reading */
	u64 sys_ns;
	s64 rate_q;		/* system's over device's rate, less 1, << RATE_SHIFT */
	u64 rate_error_q;
	u64 error_ns;		/* error of that reading */
	u32 epoch;		/* counts steps */
	u32 readings;		/* 0: none; 1: the rate is not known; 2: it is */
};

enum nicstamp_reading {
	NICSTAMP_READ_FIRST,
	NICSTAMP_READ_GOOD,
	NICSTAMP_READ_POOR,	/* not used */
	NICSTAMP_READ_STEP,	/* one of the clocks stepped */
};

static inline u64 nicstamp_distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* False when the map does not cover that moment. */
static inline bool nicstamp_map_to_sys(const struct nicstamp_map *m, u64 dev_ns, u64 *sys_ns,
				       u64 *error_ns)
{
	u64 far_ns = nicstamp_distance(dev_ns, m->dev_ns);
	u64 size = m->rate_q < 0 ? 0 - (u64)m->rate_q : (u64)m->rate_q;
	u64 more_ns = tp_mul_shr(far_ns, size, NICSTAMP_RATE_SHIFT);

	if (!m->readings || far_ns > NICSTAMP_MAP_MAX_NS)
		return false;
	far_ns = m->rate_q < 0 ? far_ns - more_ns : far_ns + more_ns;
	*sys_ns = dev_ns >= m->dev_ns ? m->sys_ns + far_ns : m->sys_ns - far_ns;
	/* 1: the products are rounded down */
	*error_ns = m->error_ns + 1 +
		    tp_mul_shr(far_ns, m->rate_error_q, NICSTAMP_RATE_SHIFT);
	return true;
}

static inline void nicstamp_map_begin(struct nicstamp_map *m, u64 dev_ns, u64 sys_ns,
				      u64 error_ns)
{
	m->dev_ns = dev_ns;
	m->sys_ns = sys_ns;
	m->error_ns = error_ns;
	m->rate_q = 0;
	m->rate_error_q = NICSTAMP_RATE_UNKNOWN;
	m->readings = 1;
}

/* The line through the newest reading and this one. */
static inline void nicstamp_map_extend(struct nicstamp_map *m, u64 dev_ns, u64 sys_ns,
				       u64 error_ns)
{
	u64 span_ns = dev_ns - m->dev_ns;
	u64 gone_ns = sys_ns - m->sys_ns;
	u64 more_ns = nicstamp_distance(gone_ns, span_ns);
	u64 rate_q = tp_div(more_ns << NICSTAMP_RATE_SHIFT, span_ns);

	m->rate_q = gone_ns < span_ns ? -(s64)rate_q : (s64)rate_q;
	m->rate_error_q = tp_div((error_ns + m->error_ns) << NICSTAMP_RATE_SHIFT, span_ns) +
			  NICSTAMP_RATE_WANDER;
	m->dev_ns = dev_ns;
	m->sys_ns = sys_ns;
	m->error_ns = error_ns;
	m->readings = 2;
}

/* The device said @dev_ns, in steps of @step_ns, between two looks at the system's clock. */
static inline enum nicstamp_reading nicstamp_map_read(struct nicstamp_map *m, u64 before_ns,
						      u64 dev_ns, u64 after_ns, u32 step_ns)
{
	u64 width_ns = after_ns - before_ns;
	u64 sys_ns = before_ns + width_ns / 2;
	u64 error_ns = width_ns / 2 + 1 + step_ns;
	u64 expected_ns, sure_ns;

	if (after_ns < before_ns || width_ns > NICSTAMP_WIDTH_MAX_NS)
		return NICSTAMP_READ_POOR;
	if (!m->readings) {
		nicstamp_map_begin(m, dev_ns, sys_ns, error_ns);
		return NICSTAMP_READ_FIRST;
	}
	if (dev_ns < m->dev_ns || !nicstamp_map_to_sys(m, dev_ns, &expected_ns, &sure_ns) ||
	    nicstamp_distance(expected_ns, sys_ns) > sure_ns + error_ns) {
		nicstamp_map_begin(m, dev_ns, sys_ns, error_ns);
		m->epoch++;
		return NICSTAMP_READ_STEP;
	}
	if (dev_ns - m->dev_ns < NICSTAMP_SPAN_MIN_NS ||
	    (m->readings > 1 && error_ns > NICSTAMP_POOR_READ * sure_ns))
		return NICSTAMP_READ_POOR;
	nicstamp_map_extend(m, dev_ns, sys_ns, error_ns);
	return NICSTAMP_READ_GOOD;
}

#endif /* NICSTAMP_CLOCK_H */
