/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types and 64-bit arithmetic for the pure headers of nicstamp, in the kernel and
 * outside: the only file of them that knows where it is being compiled.
 */
#ifndef NICSTAMP_TYPES_H
#define NICSTAMP_TYPES_H

#ifdef __KERNEL__

#include <linux/math64.h>
#include <linux/types.h>

static inline u64 nicstamp_div(u64 dividend, u64 divisor)
{
	return div64_u64(dividend, divisor);
}

/* (a * b) >> shift with a 128-bit product. */
static inline u64 nicstamp_mul_shr(u64 a, u64 b, unsigned int shift)
{
	return mul_u64_u64_shr(a, b, shift);
}

#else

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

static inline u64 nicstamp_div(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* (a * b) >> shift with a 128-bit product. */
static inline u64 nicstamp_mul_shr(u64 a, u64 b, unsigned int shift)
{
	__extension__ unsigned __int128 product = a;

	product *= b;
	return (u64)(product >> shift);
}

#endif /* __KERNEL__ */

#endif /* NICSTAMP_TYPES_H */
