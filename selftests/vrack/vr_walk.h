/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A clock's rate that wanders, and how far ahead that brings the clock: a random walk that
 * is drawn back to zero (Ornstein-Uhlenbeck), so that its variance stays what was asked for.
 *
 *	rate[k+1] = a rate[k] + b gauss,	a = 1 - step / tau,	b = sigma sqrt(1 - a^2)
 *
 * The rate stands for a step of 1 ms; ahead is its integral, without a jump. Rates of two
 * moments t apart have the correlation a^(t/step), about exp(-t / tau). Of the past the last
 * steps are known: a frame's stamp is asked for when its host is woken.
 *
 * Pure: no kernel object is touched here, and the unit tests include it as it stands.
 */
#ifndef VR_WALK_H
#define VR_WALK_H

#include "include/turnpike_types.h"

#define VR_WALK_STEP_PS		1000000000ULL
#define VR_WALK_KEPT		64	/* steps: longer than any host sleeps over its interrupt */
#define VR_WALK_ONE		(1LL << 30)	/* of a and b */
#define VR_WALK_TERMS		12	/* uniform numbers of variance 1/12 in one of about normal */
#define VR_WALK_PPT_PER_PPB	1000

/* Of one step: the rate in 10^-12, how far ahead at its beginning in 10^-15 s. */
struct vr_walk_leg {
	s64 rate_ppt;
	s64 ahead_fs;
};

struct vr_walk {
	u64 rng;
	s64 sigma_ppt;
	s64 a;			/* of VR_WALK_ONE, */
	s64 b;			/* times sigma_ppt */
	u64 step;		/* the newest, counted from time 0 */
	u64 first;		/* since then there is something known */
	struct vr_walk_leg leg[VR_WALK_KEPT];	/* of step k in k % VR_WALK_KEPT */
};

/* splitmix64 (Steele et al. 2014). */
static inline u32 vr_walk_draw(struct vr_walk *w)
{
	u64 x = w->rng += 0x9E3779B97F4A7C15ULL;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
	return (u32)((x ^ (x >> 31)) >> 32);
}

/* About standard normal and no more than 6 from zero, of VR_WALK_ONE. */
static inline s64 vr_walk_gauss(struct vr_walk *w)
{
	s64 sum = 0;
	int i;

	for (i = 0; i < VR_WALK_TERMS; i++)
		sum += vr_walk_draw(w) >> 2;	/* 2^32 to VR_WALK_ONE */
	return sum - VR_WALK_TERMS / 2 * VR_WALK_ONE;
}

/* The root of @square, rounded down. */
static inline u64 vr_walk_root(u64 square)
{
	u64 root = 0;
	int bit;

	for (bit = 31; bit >= 0; bit--)
		if ((root | 1ULL << bit) * (root | 1ULL << bit) <= square)
			root |= 1ULL << bit;
	return root;
}

/* @factor of VR_WALK_ONE; both ways the same. */
static inline s64 vr_walk_scale(s64 value, s64 factor)
{
	u64 size = tp_mul_shr(value < 0 ? -value : value, factor < 0 ? -factor : factor, 30);

	return (value < 0) == (factor < 0) ? (s64)size : -(s64)size;
}

static inline struct vr_walk_leg *vr_walk_leg(struct vr_walk *w, u64 step)
{
	return &w->leg[step % VR_WALK_KEPT];
}

static inline void vr_walk_next(struct vr_walk *w)
{
	const struct vr_walk_leg *old = vr_walk_leg(w, w->step);
	struct vr_walk_leg *leg = vr_walk_leg(w, w->step + 1);

	/* 10^-12 of 1 ms is 10^-15 s */
	leg->ahead_fs = old->ahead_fs + old->rate_ppt;
	leg->rate_ppt = vr_walk_scale(old->rate_ppt, w->a) +
			vr_walk_scale(vr_walk_gauss(w), w->b);
	w->step++;
}

/* What @rate_ppt makes in @ps, forwards or backwards: 10^-24 s, in 10^-15 s. */
static inline s64 vr_walk_gain_fs(s64 rate_ppt, s64 ps)
{
	s64 product = rate_ppt * ps;
	u64 size = tp_div(product < 0 ? -product : product, 1000000000);

	return product < 0 ? -(s64)size : (s64)size;
}

/* How far ahead the clock is at @ps; what is older than known goes on backwards. */
static inline s64 vr_walk_ahead_fs(struct vr_walk *w, u64 ps)
{
	u64 step = tp_div(ps, VR_WALK_STEP_PS);
	const struct vr_walk_leg *leg;

	while (w->step < step && w->sigma_ppt)
		vr_walk_next(w);
	if (step > w->step)
		step = w->step;
	if (step + VR_WALK_KEPT <= w->step)
		step = w->step - VR_WALK_KEPT + 1;
	if (step < w->first)
		step = w->first;
	leg = vr_walk_leg(w, step);
	return leg->ahead_fs + vr_walk_gain_fs(leg->rate_ppt, (s64)(ps - step * VR_WALK_STEP_PS));
}

/*
 * From @ps on a deviation of @sigma_ppb (0: none) that is forgotten in @tau_ms; the clock does
 * not step. Zeroed, a walk is one that never left.
 */
static inline void vr_walk_begin(struct vr_walk *w, u64 seed, u32 sigma_ppb, u32 tau_ms, u64 ps)
{
	s64 ahead_fs = vr_walk_ahead_fs(w, ps);
	struct vr_walk_leg *leg;

	w->rng = seed;
	w->sigma_ppt = (s64)sigma_ppb * VR_WALK_PPT_PER_PPB;
	w->a = VR_WALK_ONE - (s64)tp_div(VR_WALK_ONE, tau_ms);
	w->b = vr_walk_scale(w->sigma_ppt,
			     (s64)vr_walk_root((u64)(VR_WALK_ONE * VR_WALK_ONE - w->a * w->a)));
	w->step = w->first = tp_div(ps, VR_WALK_STEP_PS);
	leg = vr_walk_leg(w, w->step);
	leg->rate_ppt = vr_walk_scale(vr_walk_gauss(w), w->sigma_ppt);
	leg->ahead_fs = ahead_fs - vr_walk_gain_fs(leg->rate_ppt,
						   (s64)(ps - w->step * VR_WALK_STEP_PS));
}

#endif /* VR_WALK_H */
