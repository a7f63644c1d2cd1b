/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixed-point arithmetic of the rate engine (TIMELY15, ECNDELAY16).
 */
#ifndef TIMELY_MATH_H
#define TIMELY_MATH_H

#include "timely_types.h"

/*
 * Gradients, weights and factors have 28 fractional bits: 10 s over a min_rtt
 * of 1 us (2^24) still fits an s64 with room for a milli multiplier.
 */
#define TIMELY_Q		28
#define TIMELY_ONE		(1ULL << TIMELY_Q)

static inline u64 timely_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 timely_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline s64 timely_within(s64 value, s64 most)
{
	if (value > most)
		return most;
	return value < -most ? -most : value;
}

/* a - b, not below zero. */
static inline u64 timely_less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static inline u64 timely_abs(s64 value)
{
	return value < 0 ? 0 - (u64)value : (u64)value;
}

/* Quotient rounded away from zero: a decaying gradient never loses its sign. */
static inline s64 timely_div_away(s64 dividend, u64 divisor)
{
	u64 magnitude = timely_div(timely_abs(dividend) + divisor - 1, divisor);

	return dividend < 0 ? -(s64)magnitude : (s64)magnitude;
}

static inline u64 timely_us_to_ns(u32 value_us)
{
	return (u64)value_us * 1000;
}

/* Integer square root, rounded down. */
static inline u32 timely_sqrt(u64 value)
{
	u64 root = 0, bit;

	if (!value)
		return 0;
	for (bit = 1ULL << (tp_log2(value) & ~1U); bit; bit >>= 2) {
		if (value >= root + bit) {
			value -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (u32)root;
}

/* value * part / whole, part <= whole <= 10 s; the sign is kept. */
static inline s64 timely_part_of(s64 value, u64 part_ns, u64 whole_ns)
{
	u64 part_q = timely_div(part_ns << TIMELY_Q, whole_ns);
	u64 scaled = timely_mul_shr(timely_abs(value), part_q, TIMELY_Q);

	return value < 0 ? -(s64)scaled : (s64)scaled;
}

#endif /* TIMELY_MATH_H */
