/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate engine's names (TIMELY15) for the arithmetic that all pure headers share.
 */
#ifndef TIMELY_TYPES_H
#define TIMELY_TYPES_H

#include "include/turnpike_types.h"

static inline u64 timely_div(u64 dividend, u64 divisor)
{
	return tp_div(dividend, divisor);
}

static inline u64 timely_mul_shr(u64 a, u64 b, unsigned int shift)
{
	return tp_mul_shr(a, b, shift);
}

#endif /* TIMELY_TYPES_H */
