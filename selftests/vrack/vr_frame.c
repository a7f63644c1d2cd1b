// SPDX-License-Identifier: GPL-2.0
/* Frames under way: where they come from, what they become, how they end. */
#include <linux/slab.h>

#include "vr.h"

/*
 * Frames done with, the last one first: still in the processor's cache, where the
 * slab's own order after a deep queue is that of memory long cold. None are kept
 * when KASAN is to see the use of one after its end.
 */
#define SPARE_MAX	(IS_ENABLED(CONFIG_KASAN) ? 0 : 65536)	/* 4 MB */

static struct kmem_cache *cache;
static struct vr_frame *spare;	/* linked by ->next; vrack.lock */
static u32 spares;

static struct vr_frame *get_frame(void)
{
	struct vr_frame *frame = spare;

	if (!frame)
		return kmem_cache_alloc(cache, GFP_ATOMIC);
	spare = frame->next;
	spares--;
	return frame;
}

static void put_frame(struct vr_frame *frame)
{
	if (spares >= SPARE_MAX) {
		kmem_cache_free(cache, frame);
		return;
	}
	frame->next = spare;
	spare = frame;
	spares++;
}

int vr_frames_init(void)
{
	BUILD_BUG_ON(sizeof(struct vr_frame) > 64);
	cache = kmem_cache_create("vrack_frame", sizeof(struct vr_frame), 0, SLAB_HWCACHE_ALIGN,
				  NULL);
	return cache ? 0 : -ENOMEM;
}

void vr_frames_exit(void)
{
	while (spare)
		kmem_cache_free(cache, get_frame());
	kmem_cache_destroy(cache);
}

/* A frame that carries nothing yet. NULL without memory. */
struct vr_frame *vr_frame_alloc(const struct vr_cb *cb)
{
	struct vr_frame *frame = get_frame();

	if (frame) {
		frame->cb = *cb;
		frame->skb = NULL;
	}
	return frame;
}

/* Of a frame that is an skb, with data of its own. NULL without memory. */
struct vr_frame *vr_frame_copy(const struct vr_frame *frame)
{
	struct vr_frame *copy = vr_frame_alloc(&frame->cb);

	if (!copy)
		return NULL;
	copy->len = frame->len;
	copy->skb = skb_copy(frame->skb, GFP_ATOMIC);
	if (copy->skb)
		return copy;
	vr_frame_drop(copy);
	return NULL;
}

/* skbs are freed when the lock is dropped. */
void vr_drop(struct sk_buff *skb)
{
	__skb_queue_tail(&vrack.done, skb);
}

void vr_frame_drop(struct vr_frame *frame)
{
	if (frame->cb.flags & VR_F_CUT)
		vr_burst_put(frame->burst);
	else if (frame->skb)
		vr_drop(frame->skb);
	put_frame(frame);
}

/* The end of a frame, as an skb with its control block. NULL without memory. */
struct sk_buff *vr_frame_to_skb(struct vr_frame *frame)
{
	struct sk_buff *skb = frame->skb;

	if (frame->cb.flags & VR_F_CUT) {
		skb = vr_burst_build(frame);
		vr_burst_put(frame->burst);
	}
	if (skb && frame->cb.dscp_cleared)
		vr_header_clear_dscp(skb);
	if (skb)
		*vr_cb(skb) = frame->cb;
	put_frame(frame);
	return skb;
}

/* The frame is one of DSCP 0 from here on; ECN stays. */
void vr_frame_clear_dscp(struct vr_frame *frame)
{
	frame->cb.dscp_cleared = 1;
	frame->cb.prio = vrack.dscp_prio[0];
	frame->cb.color = vrack.dscp_color[0];
}

void vr_fifo_purge(struct vr_fifo *fifo)
{
	struct vr_frame *frame;

	while ((frame = vr_fifo_pop(fifo)))
		vr_frame_drop(frame);
}

/* Mark congestion experienced. False when the sender is not ECN capable. */
bool vr_frame_set_ce(struct vr_frame *frame)
{
	if (frame->cb.flags & VR_F_CUT)
		return vr_burst_set_ce(frame);
	return vr_header_set_ce(frame->skb);
}
