/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log-linear histogram of nanoseconds: 128 equal buckets an octave, so a
 * bucket is at most 1/128 (0.8 %) of what it holds. Values below 128 are
 * exact, those from 2^VR_HIST_OCTAVES on share the last bucket. Pure.
 */
#ifndef VR_HIST_H
#define VR_HIST_H

#include "vr_time.h"

#define VR_HIST_SUB_BITS	7
#define VR_HIST_SUB		(1U << VR_HIST_SUB_BITS)
#define VR_HIST_OCTAVES		36	/* 68 s: longer than any run's queue */
#define VR_HIST_BUCKETS		((VR_HIST_OCTAVES - VR_HIST_SUB_BITS + 1) * VR_HIST_SUB)

struct vr_hist {
	u64 count;
	u64 sum_ns;
	u64 max_ns;
	u32 bucket[VR_HIST_BUCKETS];
};

static inline u32 vr_hist_index(u64 ns)
{
	u32 octave;

	if (ns < VR_HIST_SUB)
		return (u32)ns;
	octave = 63 - (u32)__builtin_clzll(ns);
	if (octave >= VR_HIST_OCTAVES)
		return VR_HIST_BUCKETS - 1;
	return (octave - VR_HIST_SUB_BITS + 1) * VR_HIST_SUB +
	       (u32)((ns >> (octave - VR_HIST_SUB_BITS)) & (VR_HIST_SUB - 1));
}

/* The smallest value that falls into bucket @index; index + 1 gives its end. */
static inline u64 vr_hist_floor(u32 index)
{
	u32 octave = index >> VR_HIST_SUB_BITS;

	if (octave == 0)
		return index;
	return (u64)(VR_HIST_SUB + (index & (VR_HIST_SUB - 1))) << (octave - 1);
}

static inline void vr_hist_add(struct vr_hist *h, u64 ns)
{
	h->count++;
	h->sum_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->bucket[vr_hist_index(ns)]++;
}

#endif /* VR_HIST_H */
