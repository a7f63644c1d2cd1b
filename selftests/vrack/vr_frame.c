// SPDX-License-Identifier: GPL-2.0
/* Frames under way: where they come from, what they become, how they end. */
#include <linux/slab.h>

#include "vr.h"

static struct kmem_cache *cache;

int vr_frames_init(void)
{
	BUILD_BUG_ON(sizeof(struct vr_frame) > 64);
	cache = kmem_cache_create("vrack_frame", sizeof(struct vr_frame), 0, SLAB_HWCACHE_ALIGN,
				  NULL);
	return cache ? 0 : -ENOMEM;
}

void vr_frames_exit(void)
{
	kmem_cache_destroy(cache);
}

/* A frame that carries nothing yet. NULL without memory. */
struct vr_frame *vr_frame_alloc(const struct vr_cb *cb)
{
	struct vr_frame *frame = kmem_cache_alloc(cache, GFP_ATOMIC);

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
	kmem_cache_free(cache, frame);
}

/* The end of a frame, as an skb with its control block. NULL without memory. */
struct sk_buff *vr_frame_to_skb(struct vr_frame *frame)
{
	struct sk_buff *skb = frame->skb;

	if (frame->cb.flags & VR_F_CUT) {
		skb = vr_burst_build(frame);
		vr_burst_put(frame->burst);
	}
	if (skb)
		*vr_cb(skb) = frame->cb;
	kmem_cache_free(cache, frame);
	return skb;
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
