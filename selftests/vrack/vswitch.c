// SPDX-License-Identifier: GPL-2.0
/*
 * A shared-buffer, output-queued, store-and-forward switch. The verdicts are
 * in vr_queue_rules.h. A frame occupies the buffer from its arrival until it
 * begins to leave; the frame being sent is not counted as queue.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "vr.h"

#define PFC_WIRE_BYTES	84	/* a minimum frame: IEEE 802.1Qbb message */

static u32 frame_bytes(const struct vr_cb *cb)
{
	return cb->wire_bytes - VR_ETH_GAP;
}

/*
 * Tell the neighbour behind @port to stop or go. The message is a frame of
 * its own: it waits for the frame being sent, takes its time on the cable
 * and acts when it is whole at the other end.
 */
static void send_pfc(struct vr_port *port, u8 prio, bool xoff, u64 now_ps)
{
	const struct vr_cb cb = {
		.wire_bytes = PFC_WIRE_BYTES,
		.prio = prio,
		.flags = VR_F_PFC | (xoff ? VR_F_XOFF : 0),
	};
	struct vr_frame *frame = vr_frame_alloc(&cb);

	if (!frame)
		return;
	if (xoff) {
		port->xoff_sent |= BIT(prio);
		port->stat.pauses_sent++;
	} else {
		port->xoff_sent &= ~BIT(prio);
	}
	vr_fifo_push(&port->control, frame);
	vr_port_kick(port, now_ps);
}

/* @bytes (of either sign) of priority @prio that came in by @in entered or left. */
static void hold(struct vr_switch *sw, struct vr_port *in, u8 prio, s64 bytes, u64 now_ps)
{
	enum vr_pfc_act act;

	in->held_bytes[prio] += bytes;
	if (!(sw->pfc_prios & BIT(prio)))
		return;
	act = vr_pfc(in->held_bytes[prio], sw->pfc_xoff_bytes, sw->pfc_xon_bytes,
		     !!(in->xoff_sent & BIT(prio)));
	if (act != VR_PFC_NONE)
		send_pfc(in, prio, act == VR_PFC_XOFF, now_ps);
}

static enum vr_verdict admit(struct vr_switch *sw, struct vr_port *out, const struct vr_cb *cb)
{
	struct vr_admission a = {
		.buffer_bytes = sw->buffer_bytes,
		.used_bytes = sw->used_bytes,
		.queue_bytes = out->queue_bytes[cb->prio],
		.frame_bytes = frame_bytes(cb),
		.alpha_milli = sw->alpha_milli,
		.color_k_bytes = out->color_k_bytes,
		.limit_bytes = out->limit_bytes,
		.color = cb->color,
		.lossless = !!(sw->pfc_prios & BIT(cb->prio)),
	};

	return vr_admit(&a);
}

/* The rules for marks, with @waiting_bytes besides the frame in its queue. */
static void mark(struct vr_port *port, struct vr_frame *frame, u64 waiting_bytes, u64 now_ps)
{
	bool marked = vr_ecn_mark(&port->ecn, waiting_bytes, vr_random());

	if (port->pi.ref_bytes) {
		vr_pi_update(&port->pi, waiting_bytes, now_ps);
		marked |= vr_pi_mark(&port->pi, vr_random());
	}
	if (marked && vr_frame_set_ce(frame))
		port->stat.ecn_marks++;
}

static void enqueue(struct vr_switch *sw, struct vr_port *out, struct vr_frame *frame, u64 now_ps)
{
	struct vr_cb *cb = &frame->cb;
	enum vr_verdict verdict = admit(sw, out, cb);

	if (verdict == VR_ADMIT && !vr_police_pass(&out->police, frame_bytes(cb), now_ps))
		verdict = VR_DROP_POLICE;
	if (verdict != VR_ADMIT) {
		out->stat.drops[verdict]++;
		out->stat.color[cb->color].drops++;
		vr_frame_drop(frame);
		return;
	}
	cb->queued_ps = now_ps;
	if (out->ecn.where == VR_ECN_INGRESS)
		mark(out, frame, out->queue_bytes[cb->prio], now_ps);
	vr_fifo_push(&out->queue[cb->prio], frame);
	out->queue_bytes[cb->prio] += frame_bytes(cb);
	out->waiting_bytes += frame_bytes(cb);
	sw->used_bytes += frame_bytes(cb);
	hold(sw, sw->node.port[cb->in_port], cb->prio, frame_bytes(cb), now_ps);
	vr_port_kick(out, now_ps);

	/* after the kick: a frame that leaves at once has not queued */
	out->stat.queue_max_bytes = max(out->stat.queue_max_bytes, out->waiting_bytes);
	sw->used_max_bytes = max(sw->used_max_bytes, sw->used_bytes);
}

static void leave_queue(struct vr_port *port, struct vr_frame *frame, u64 now_ps)
{
	const struct vr_telemetry_ops *telemetry = READ_ONCE(vr_telemetry_ops);
	struct vr_switch *sw = vr_switch(port->node);
	struct vr_cb *cb = &frame->cb;
	u64 waited_ps = now_ps - cb->queued_ps;
	u64 waited_ns = div_u64(waited_ps, VR_PS_PER_NS);
	u32 bytes = frame_bytes(cb);

	port->queue_bytes[cb->prio] -= bytes;
	port->waiting_bytes -= bytes;
	sw->used_bytes -= bytes;
	port->stat.color[cb->color].packets++;
	port->stat.color[cb->color].bytes += bytes;
	cb->waited_ps += waited_ps;
	vr_hops_add(&cb->hops, waited_ns);
	vr_hist_add(port->delay, waited_ns);
	if (port->ecn.where == VR_ECN_EGRESS)
		mark(port, frame, port->queue_bytes[cb->prio], now_ps);
	hold(sw, sw->node.port[cb->in_port], cb->prio, -(s64)bytes, now_ps);
	if (unlikely(telemetry))
		telemetry->left(frame, port, now_ps);
}

static struct vr_frame *dequeue(struct vr_port *port, u64 now_ps)
{
	struct vr_frame *frame = vr_fifo_pop(&port->control);
	int prio;

	if (frame)
		return frame;
	for (prio = VR_PRIOS - 1; prio >= 0; prio--) {
		if (port->paused & BIT(prio) || !port->queue[prio].count)
			continue;
		frame = vr_fifo_pop(&port->queue[prio]);
		/* the port is taken from here on: leave_queue() may want to send a PFC message */
		port->wake_set = true;
		leave_queue(port, frame, now_ps);
		port->wake_set = false;
		return frame;
	}
	return NULL;
}

static void receive(struct vr_port *port, struct vr_frame *frame, u64 now_ps)
{
	struct vr_switch *sw = vr_switch(port->node);
	struct vr_cb *cb = &frame->cb;
	u32 out;

	cb->in_port = port->index;
	if (cb->flags & VR_F_FLOOD) {
		vr_route_flood(sw, frame, port->index, now_ps, enqueue);
		return;
	}
	out = vr_route_port(sw, cb);
	if (out == VR_NO_NODE) {
		sw->unrouted++;
		vr_frame_drop(frame);
		return;
	}
	enqueue(sw, sw->node.port[out], frame, now_ps);
}

struct vr_switch *vr_switch_add(const char *name)
{
	struct vr_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);

	if (!sw)
		return NULL;
	if (vr_node_init(&sw->node, VR_SWITCH, name)) {
		kfree(sw);
		return NULL;
	}
	sw->node.dequeue = dequeue;
	sw->node.receive = receive;
	return sw;
}

void vr_switch_free(struct vr_switch *sw)
{
	vr_route_free(&sw->node);
	kfree(sw);
}
