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
 *                      behind it (ECN or Delay paper 5.2: egress marking)
 *   PFC                per ingress port and priority, xoff and xon
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

struct vr_ecn {
	u64 k_bytes;		/* step threshold; 0: off */
	u64 kmin_bytes;		/* RED-like ramp from Kmin to Kmax; Kmax 0: off */
	u64 kmax_bytes;
	u32 pmax_milli;		/* probability at Kmax; above it, every frame */
};

/* Mark a leaving frame with @behind_bytes still waiting? @random: 32 uniform bits. */
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
