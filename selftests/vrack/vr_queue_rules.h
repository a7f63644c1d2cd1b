/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a shared-buffer switch decides for one frame: admit, drop, mark or
 * pause. Pure: numbers in, verdict out; vswitch.c holds the queues.
 *
 *   dynamic threshold  a queue may hold alpha times the buffer left free
 *                      (TLT paper 4.2: dropped if Q >= alpha * UB)
 *   color threshold    red frames are refused once the queue holds K bytes,
 *                      green ones are not (TLT paper 4.1), with PFC or
 *                      without (7.1)
 *   ECN                decided as the frame leaves, from what still waits
 *                      behind it (ECN or Delay paper 5.2: egress marking), or
 *                      as it arrives, from what waits before it (ingress)
 *   PI                 the probability of a mark holds the queue at a
 *                      reference (ECN or Delay paper 5.2, equation 32)
 *   PFC                per ingress port and priority, xoff and xon
 *   policer            a bucket that fills at a rate; a frame that finds too
 *                      little in it is dropped, and none ever waits (RFC 2697
 *                      with one bucket)
 */
#ifndef VR_QUEUE_RULES_H
#define VR_QUEUE_RULES_H

#include "vr_time.h"

enum vr_color { VR_GREEN, VR_RED, VR_COLORS };

enum vr_verdict {
	VR_ADMIT,
	VR_DROP_BUFFER,		/* the shared buffer is full */
	VR_DROP_DT,		/* over the dynamic threshold */
	VR_DROP_COLOR,		/* red, over the color threshold */
	VR_DROP_LIMIT,		/* over the port's fixed limit */
	VR_DROP_POLICE,		/* faster than the port's policer allows */
	VR_DROP_FCS,		/* damaged on the wire */
	VR_VERDICTS
};

struct vr_admission {
	u64 buffer_bytes;	/* the switch's shared buffer */
	u64 used_bytes;		/* of it, now */
	u64 queue_bytes;	/* waiting in this port and priority */
	u32 frame_bytes;	/* MAC header to FCS */
	u32 alpha_milli;	/* dynamic threshold; 0: none */
	u64 color_k_bytes;	/* color threshold; 0: none */
	u64 limit_bytes;	/* fixed limit of the queue; 0: none */
	enum vr_color color;
	u8 lossless;		/* PFC guards this priority: only buffer and color bound it */
};

static inline enum vr_verdict vr_admit(const struct vr_admission *a)
{
	u64 free_bytes;

	if (a->used_bytes + a->frame_bytes > a->buffer_bytes)
		return VR_DROP_BUFFER;
	if (!a->lossless && a->limit_bytes && a->queue_bytes + a->frame_bytes > a->limit_bytes)
		return VR_DROP_LIMIT;
	if (a->color_k_bytes && a->color == VR_RED &&
	    a->queue_bytes + a->frame_bytes > a->color_k_bytes)
		return VR_DROP_COLOR;
	if (a->lossless)
		return VR_ADMIT;
	free_bytes = a->buffer_bytes - a->used_bytes;
	if (a->alpha_milli && a->queue_bytes * 1000 >= free_bytes * a->alpha_milli)
		return VR_DROP_DT;
	return VR_ADMIT;
}

enum vr_ecn_where { VR_ECN_OFF, VR_ECN_EGRESS, VR_ECN_INGRESS };

/* Time between updates of a PI marker: an eighth of a base RTT of 80 us, half of one of 20. */
#define VR_PI_PERIOD_PS		10000000ULL
/* An update counts no more, so that its products fit: after an idle time the queue is empty. */
#define VR_PI_ELAPSED_MAX_US	1000
/* The queue's error, of its reference, has 20 fractional bits; a queue counts up to 64 of it. */
#define VR_PI_ERROR_SHIFT	20
#define VR_PI_QUEUE_MAX		64
#define VR_PI_ONE		(1LL << 32)	/* probability */

/* dp/dt = K1 de/dt + K2 e, e = (queue - reference) / reference */
struct vr_pi {
	u64 ref_bytes;		/* 0: off */
	u32 k1_micro;		/* K1, in millionths */
	u32 k2_milli;		/* K2, in thousandths a second */
	u64 updated_ps;
	s64 error;
	s64 mark;		/* the probability p, of VR_PI_ONE */
};

/* Bring p up to date with a queue of @queue_bytes. */
static inline void vr_pi_update(struct vr_pi *pi, u64 queue_bytes, u64 now_ps)
{
	u64 most_bytes = pi->ref_bytes * VR_PI_QUEUE_MAX, elapsed_us;
	s64 error, step;

	if (now_ps - pi->updated_ps < VR_PI_PERIOD_PS)
		return;
	elapsed_us = tp_div(now_ps - pi->updated_ps, 1000000);
	if (elapsed_us > VR_PI_ELAPSED_MAX_US)
		elapsed_us = VR_PI_ELAPSED_MAX_US;
	if (queue_bytes > most_bytes)
		queue_bytes = most_bytes;
	error = (s64)tp_div(queue_bytes << VR_PI_ERROR_SHIFT, pi->ref_bytes) -
		(1LL << VR_PI_ERROR_SHIFT);

	/* 2^12 from the error's fraction to that of p; K2 e is in 10^-9 for each us */
	step = pi->k1_micro * (error - pi->error) * 4096 / 1000000 +
	       pi->k2_milli * error * (s64)elapsed_us / (1000000000 / 4096);
	pi->mark += step;
	if (pi->mark < 0)
		pi->mark = 0;
	if (pi->mark > VR_PI_ONE)
		pi->mark = VR_PI_ONE;
	pi->error = error;
	pi->updated_ps = now_ps;
}

/* Mark a frame? @random: 32 uniform bits. */
static inline int vr_pi_mark(const struct vr_pi *pi, u32 random)
{
	return random < pi->mark;
}

struct vr_ecn {
	enum vr_ecn_where where;
	u64 k_bytes;		/* step threshold; 0: off */
	u64 kmin_bytes;		/* RED-like ramp from Kmin to Kmax; Kmax 0: off */
	u64 kmax_bytes;
	u32 pmax_milli;		/* probability at Kmax; above it, every frame */
};

/* Mark a frame while @behind_bytes wait besides it? @random: 32 uniform bits. */
static inline int vr_ecn_mark(const struct vr_ecn *e, u64 behind_bytes, u32 random)
{
	u64 over, ramp;

	if (e->k_bytes && behind_bytes > e->k_bytes)
		return 1;
	if (!e->kmax_bytes || behind_bytes <= e->kmin_bytes)
		return 0;
	if (behind_bytes >= e->kmax_bytes)
		return 1;
	over = behind_bytes - e->kmin_bytes;
	ramp = e->kmax_bytes - e->kmin_bytes;
	return (u64)(random >> 8) * ramp * 1000 < over * e->pmax_milli << 24;
}

/* Of a bucket the time is kept at which it is full again (GCRA). */
struct vr_police {
	u64 bps;		/* 0: off */
	u64 bucket_bytes;	/* what the bucket holds; below 2 MB, as vr_serialize_ps() asks */
	u64 full_ps;
};

/* Does the policer let a frame of @frame_bytes pass? It is then taken from the bucket. */
static inline int vr_police_pass(struct vr_police *p, u32 frame_bytes, u64 now_ps)
{
	u64 full_ps = p->full_ps > now_ps ? p->full_ps : now_ps, rem = 0;

	if (!p->bps)
		return 1;
	full_ps += vr_serialize_ps(frame_bytes, p->bps, &rem);
	rem = 0;
	if (full_ps - now_ps > vr_serialize_ps(p->bucket_bytes, p->bps, &rem))
		return 0;
	p->full_ps = full_ps;
	return 1;
}

enum vr_pfc_act { VR_PFC_NONE, VR_PFC_XOFF, VR_PFC_XON };

static inline enum vr_pfc_act vr_pfc(u64 held_bytes, u64 xoff_bytes, u64 xon_bytes, int paused)
{
	if (!paused && held_bytes > xoff_bytes)
		return VR_PFC_XOFF;
	if (paused && held_bytes <= xon_bytes)
		return VR_PFC_XON;
	return VR_PFC_NONE;
}

#endif /* VR_QUEUE_RULES_H */
