/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types and 64-bit arithmetic for pure headers, in the kernel and outside.
 *
 * A pure header must compile unchanged into a module (C, 32-bit targets too), the
 * unit tests and the tools (C++20). Only this file knows which of them it is in.
 */
#ifndef TURNPIKE_TYPES_H
#define TURNPIKE_TYPES_H

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/stddef.h>
#include <linux/types.h>

static inline u64 tp_div(u64 dividend, u64 divisor)
{
	return div64_u64(dividend, divisor);
}

/* (a * b) >> shift with a 128-bit product. */
static inline u64 tp_mul_shr(u64 a, u64 b, unsigned int shift)
{
	return mul_u64_u64_shr(a, b, shift);
}

/* Number of the highest bit that is set; @value is not 0. */
static inline u32 tp_log2(u64 value)
{
	return ilog2(value);
}

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/* Outside the kernel no other thread reads or writes the field. */
#define READ_ONCE(field) (field)
#define WRITE_ONCE(field, value) ((field) = (value))

static inline u64 tp_div(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* (a * b) >> shift with a 128-bit product. */
static inline u64 tp_mul_shr(u64 a, u64 b, unsigned int shift)
{
	__extension__ unsigned __int128 product = a;

	product *= b;
	return (u64)(product >> shift);
}

/* Number of the highest bit that is set; @value is not 0. */
static inline u32 tp_log2(u64 value)
{
	return 63 - __builtin_clzll(value);
}

#endif /* __KERNEL__ */

/* TCP's sequence numbers wrap: is @a before @b, within 2^31 of each other (RFC 9293, 3.4)? */
static inline bool tp_seq_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

#endif /* TURNPIKE_TYPES_H */
