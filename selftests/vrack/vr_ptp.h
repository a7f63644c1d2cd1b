/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A clock that can be set and steered, over a counter that cannot, as drivers make
 * their PTP clock where the hardware counts freely:
 *
 *	time = time when last set + counted since * rate
 *
 * Pure: no kernel object is touched here, and the unit tests include it as it stands.
 */
#ifndef VR_PTP_H
#define VR_PTP_H

#include "include/turnpike_types.h"

/* Of a rate: what is rounded off makes a nanosecond in two days. */
#define VR_PTP_SHIFT	48
#define VR_PTP_ONE	(1ULL << VR_PTP_SHIFT)

/* Twice what the worst two clocks of a rack are apart (vr_ctl.c). */
#define VR_PTP_MAX_PPB	4000000

struct vr_ptp {
	u64 count_ns;	/* the counter when rate or time were last set, */
	u64 ns;		/* the time then, */
	u64 frac;	/* and 2^-VR_PTP_SHIFT of a nanosecond */
	u64 rate;	/* nanoseconds in one of the counter, times VR_PTP_ONE */
};

/* The time when the counter says @count_ns, before the last setting too. */
static inline u64 vr_ptp_at(const struct vr_ptp *ptp, u64 count_ns, u64 *frac)
{
	bool before = (s64)(count_ns - ptp->count_ns) < 0;
	u64 run_ns = before ? ptp->count_ns - count_ns : count_ns - ptp->count_ns;
	u64 ns = tp_mul_shr(run_ns, ptp->rate, VR_PTP_SHIFT);
	u64 part = (run_ns * ptp->rate) & (VR_PTP_ONE - 1);

	if (before) {
		*frac = (ptp->frac - part) & (VR_PTP_ONE - 1);
		return ptp->ns - ns - (ptp->frac < part);
	}
	*frac = (ptp->frac + part) & (VR_PTP_ONE - 1);
	return ptp->ns + ns + ((ptp->frac + part) >> VR_PTP_SHIFT);
}

static inline void vr_ptp_set(struct vr_ptp *ptp, u64 count_ns, u64 ns)
{
	ptp->count_ns = count_ns;
	ptp->ns = ns;
	ptp->frac = 0;
}

/* From @count_ns on: @scaled_ppm, in 2^-16 parts in a million, faster than the counter. */
static inline void vr_ptp_steer(struct vr_ptp *ptp, u64 count_ns, s64 scaled_ppm)
{
	u64 by = scaled_ppm < 0 ? -scaled_ppm : scaled_ppm;
	u64 frac;

	ptp->ns = vr_ptp_at(ptp, count_ns, &frac);
	ptp->frac = frac;
	ptp->count_ns = count_ns;
	by = tp_div(tp_mul_shr(by, VR_PTP_ONE, 16), 1000000);
	ptp->rate = scaled_ppm < 0 ? VR_PTP_ONE - by : VR_PTP_ONE + by;
}

static inline void vr_ptp_init(struct vr_ptp *ptp, u64 count_ns, u64 ns)
{
	vr_ptp_set(ptp, count_ns, ns);
	ptp->rate = VR_PTP_ONE;
}

#endif /* VR_PTP_H */
