/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP-INT: a TCP option into which switches write what a packet met, and which the receiver echoes
 * ("TCP-INT: Lightweight Network Telemetry with TCP Transport", SIGCOMM 2022). Pure.
 *
 *      0      1        2            3       4     5  6  7    8       9            10 11
 *      0x72   length   tag, speed   value   hop   latency    value   hop, speed   latency
 *                      written by switches on this way       echoed: of the other way
 *
 * The value is of the fullest hop: how much of its link is in use, or from 0x80 on its queue in
 * units, which are of 8 KB.  The latency is that of all hops.  So a signal has the longest queue in
 * such steps, and the sum.
 */
#ifndef VR_INT_H
#define VR_INT_H

#include "include/turnpike_hops.h"
#include "include/turnpike_tcp_options.h"

#define VR_INT_KIND		0x72
#define VR_INT_BYTES		12
#define VR_INT_QUEUE		0x80	/* a value of a queue; the rest is its length */
#define VR_INT_QUEUE_MAX	0x7f
#define VR_INT_UNIT_SHIFT	13
#define VR_INT_TTL		64	/* a hop is what is left of it */
#define VR_INT_LATENCY_MAX	0xffffff
/* Echoed are 15 bits: of nanoseconds, or with this bit of 256. */
#define VR_INT_COARSE		0x8000
#define VR_INT_COARSE_SHIFT	8
#define VR_INT_ECHO_MAX		((VR_INT_COARSE - 1U) << VR_INT_COARSE_SHIFT)

/* One way; nothing met when all zero. */
struct vr_int {
	u32 latency_ns;
	u8 value;
	u8 speed;		/* of that hop's link, by its number in vr_int_mbps(); 0: unknown */
	u8 hop;			/* which one, from 1 */
};

static inline u32 vr_int_mbps(u8 speed)
{
	static const u32 gbps[] = { 0, 10, 25, 40, 50, 100, 200, 400 };

	return speed < sizeof(gbps) / sizeof(*gbps) ? gbps[speed] * 1000 : 0;
}

/* The number of a link's speed; 0: it has none. */
static inline u8 vr_int_speed(u32 mbps)
{
	u8 speed;

	for (speed = 7; speed && vr_int_mbps(speed) != mbps; speed--)
		;
	return speed;
}

/* A packet waited behind @queue_bytes at its @hop. The longer queue stays. */
static inline void vr_int_pass(struct vr_int *i, u32 unit_shift, u8 hop, u32 mbps, u32 queue_bytes,
			       u64 waited_ns)
{
	u64 latency_ns = i->latency_ns + waited_ns;
	u32 units = queue_bytes >> unit_shift;
	u8 value = units ? VR_INT_QUEUE | (units < VR_INT_QUEUE_MAX ? units : VR_INT_QUEUE_MAX) : 0;

	i->latency_ns = latency_ns < VR_INT_LATENCY_MAX ? latency_ns : VR_INT_LATENCY_MAX;
	if (i->hop && value <= i->value)
		return;
	i->value = value;
	i->speed = vr_int_speed(mbps);
	i->hop = hop;
}

/* What switches write. */
static inline void vr_int_write(u8 *option, const struct vr_int *i)
{
	option[2] = (option[2] & 0xf0) | i->speed;
	option[3] = i->value;
	option[4] = VR_INT_TTL - i->hop;
	option[5] = i->latency_ns >> 16;
	option[6] = i->latency_ns >> 8;
	option[7] = i->latency_ns;
}

static inline void vr_int_read(struct vr_int *i, const u8 *option)
{
	i->speed = option[2] & 0xf;
	i->value = option[3];
	i->hop = VR_INT_TTL - option[4];
	i->latency_ns = (u32)option[5] << 16 | (u32)option[6] << 8 | option[7];
}

/* What hosts write: an option of nothing met on this way, and of @i on the other. */
static inline void vr_int_begin(u8 *option, const struct vr_int *i)
{
	u32 latency = i->latency_ns < VR_INT_ECHO_MAX ? i->latency_ns : VR_INT_ECHO_MAX;

	if (latency >= VR_INT_COARSE)
		latency = latency >> VR_INT_COARSE_SHIFT | VR_INT_COARSE;
	option[0] = VR_INT_KIND;
	option[1] = VR_INT_BYTES;
	option[2] = 0;
	option[3] = 0;
	option[4] = VR_INT_TTL;
	option[5] = 0;
	option[6] = 0;
	option[7] = 0;
	option[8] = i->value;
	option[9] = i->hop << 4 | i->speed;
	option[10] = latency >> 8;
	option[11] = latency;
}

static inline void vr_int_read_echo(struct vr_int *i, const u8 *option)
{
	u32 latency = (u32)option[10] << 8 | option[11];

	i->value = option[8];
	i->speed = option[9] & 0xf;
	i->hop = option[9] >> 4;
	if (latency & VR_INT_COARSE)
		latency = (latency & ~VR_INT_COARSE) << VR_INT_COARSE_SHIFT;
	i->latency_ns = latency;
}

/* The option among @bytes of a header's; NULL: there is none. */
static inline const u8 *vr_int_find(const u8 *options, u32 bytes)
{
	struct tp_tcp_options list = { .at = options, .end = options + bytes };
	struct tp_tcp_option o;

	while (tp_tcp_option_next(&list, &o))
		if (o.kind == VR_INT_KIND && o.bytes == VR_INT_BYTES - 2)
			return o.value - 2;
	return NULL;
}

/* In the terms of signals: all but the longest queue counts as one other. False: nobody knows how
 * long that takes to send.
 */
static inline bool vr_int_tell(struct tp_hops *h, const struct vr_int *i, u32 unit_shift)
{
	u32 mbps = vr_int_mbps(i->speed);
	u64 rest_ns;

	h->sum_ns = i->latency_ns;
	h->max_ns = 0;
	if (i->value & VR_INT_QUEUE) {
		if (!mbps)
			return false;
		h->max_ns = ((u64)(i->value & VR_INT_QUEUE_MAX) << unit_shift) * 8000 / mbps;
	}
	if (h->max_ns > h->sum_ns)
		h->max_ns = h->sum_ns;
	rest_ns = h->sum_ns - h->max_ns;
	h->squares = h->max_ns * h->max_ns + rest_ns * rest_ns;
	return true;
}

#endif /* VR_INT_H */
