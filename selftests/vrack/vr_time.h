/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time on the wire. Pure: no kernel object is touched here, and the unit
 * tests include it as it stands.
 *
 * The rack's clock counts picoseconds: 80 ps is one byte at 100 Gbit/s, so
 * a nanosecond clock would drift by up to half a byte a frame. 2^64 ps are
 * 213 days of simulated time.
 */
#ifndef VR_TIME_H
#define VR_TIME_H

#include "include/turnpike_types.h"

#ifndef __KERNEL__
static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}
#endif

#define VR_PS_PER_NS	1000ULL
#define VR_PS_PER_SEC	1000000000000ULL

/* IEEE 802.3: shortest frame, and what a frame costs beside its bytes. */
#define VR_ETH_MIN	60U		/* without FCS */
#define VR_ETH_FCS	4U
#define VR_ETH_GAP	20U		/* preamble, SFD and inter-frame gap */
#define VR_RATE_MIN	10000000ULL	/* 10 Mbit/s */
#define VR_RATE_MAX	400000000000ULL	/* 400 Gbit/s */

/* Bytes of link time for a frame of @len bytes from MAC header to payload. */
static inline u32 vr_wire_bytes(u32 len)
{
	return (len < VR_ETH_MIN ? VR_ETH_MIN : len) + VR_ETH_FCS + VR_ETH_GAP;
}

/*
 * How long @wire_bytes occupy a link of @rate_bps, in ps, rounded down. The
 * fraction of a picosecond is kept in @rem (unit 1/rate_bps ps) and joins
 * the next frame: n frames take what n frames take, at any rate.
 * @wire_bytes must stay below 2 MB (the product is 64 bits wide).
 */
static inline u64 vr_serialize_ps(u32 wire_bytes, u64 rate_bps, u64 *rem)
{
	return div64_u64_rem((u64)wire_bytes * 8 * VR_PS_PER_SEC + *rem,
			     rate_bps, rem);
}

/* Uniform from 0 to below @most_ps; @random: 32 uniform bits. */
static inline u64 vr_jitter_ps(u64 most_ps, u32 random)
{
	return tp_mul_shr(most_ps, random, 32);
}

#endif /* VR_TIME_H */
