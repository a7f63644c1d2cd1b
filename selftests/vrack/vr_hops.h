/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a frame remembers of the switches' queues that it stood in, one after the other: the longest,
 * and the sum of the squares (CS244 section 3.2). Pure. Their sum is what it waited in all
 * (vr_cb.waited_ps) less its time in the source NIC's ring.
 *
 * A frame is one cache line, so this has 8 bytes and the ring 2. Units are of 64 ns: squares of 32
 * bits are those of a queue of 4.2 ms, and what is longer counts as that.
 */
#ifndef VR_HOPS_H
#define VR_HOPS_H

#include "include/turnpike_hops.h"

#define VR_HOPS_SHIFT		6
#define VR_HOPS_UNITS_MAX	0xffff

/* Empty when all zero. */
struct vr_hops {
	u32 max_ns;
	u32 squares;	/* units^2 */
};

static inline u16 vr_hops_units(u64 ns)
{
	u64 units = (ns + (1 << (VR_HOPS_SHIFT - 1))) >> VR_HOPS_SHIFT;

	return units < VR_HOPS_UNITS_MAX ? units : VR_HOPS_UNITS_MAX;
}

static inline void vr_hops_add(struct vr_hops *h, u64 waited_ns)
{
	u32 ns = waited_ns < ~0U ? waited_ns : ~0U;
	u64 units = vr_hops_units(waited_ns);
	u64 squares = h->squares + units * units;

	if (h->max_ns < ns)
		h->max_ns = ns;
	h->squares = squares < ~0U ? squares : ~0U;
}

/* Of @waited_ns in all what was in switches' queues. */
static inline u64 vr_hops_sum_ns(u64 waited_ns, u16 ring_units)
{
	u64 ring_ns = (u64)ring_units << VR_HOPS_SHIFT;

	return waited_ns > ring_ns ? waited_ns - ring_ns : 0;
}

/* In the terms of those who ask. */
static inline void vr_hops_tell(struct tp_hops *tell, const struct vr_hops *h, u64 sum_ns)
{
	tell->sum_ns = sum_ns;
	tell->max_ns = h->max_ns;
	tell->squares = (u64)h->squares << (2 * VR_HOPS_SHIFT);
}

#endif /* VR_HOPS_H */
