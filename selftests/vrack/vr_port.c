// SPDX-License-Identifier: GPL-2.0
/*
 * An egress and its cable: one frame at a time at the line rate, whole at
 * the other end delay_ps after its last bit left. Cables keep order, so only
 * the oldest frame of each needs an event.
 */
#include <linux/slab.h>

#include "vr.h"

static void put_on_wire(struct vr_port *port, struct vr_frame *frame, u64 now_ps)
{
	struct vr_link *link = &port->link;
	struct vr_cb *cb = &frame->cb;

	port->began_ps = now_ps;
	port->busy_until_ps = now_ps + vr_serialize_ps(cb->wire_bytes, port->rate_bps,
						       &port->rate_rem);
	cb->arrive_ps = max(port->busy_until_ps + link->delay_ps, link->last_arrive_ps);
	link->last_arrive_ps = cb->arrive_ps;
	port->stat.tx_packets++;
	port->stat.tx_wire_bytes += cb->wire_bytes;
	vrack.hops++;

	if (port->node->kind == VR_NIC) {
		port->on_wire = frame;
		port->wake_set = true;
		port->tx_done.host = vr_nic_awaited(port);
		vr_event_set(&port->tx_done, port->busy_until_ps);
	}
	if (!link->flight.count)
		vr_event_set(&link->arrival, cb->arrive_ps);
	vr_fifo_push(&link->flight, frame);
}

/* Send what can be sent now; if the port is busy, come back when it is not. */
void vr_port_kick(struct vr_port *port, u64 now_ps)
{
	struct vr_frame *frame;

	if (port->wake_set)
		return;
	if (now_ps < port->busy_until_ps) {
		port->wake_set = true;
		vr_event_set(&port->tx_done, port->busy_until_ps);
		return;
	}
	frame = port->node->dequeue(port, now_ps);
	if (!frame)
		return;
	put_on_wire(port, frame, now_ps);
	if (port->node->kind == VR_SWITCH && (port->waiting_bytes || port->control.count)) {
		port->wake_set = true;
		vr_event_set(&port->tx_done, port->busy_until_ps);
	}
}

static void tx_done(struct vr_event *ev, u64 now_ps)
{
	struct vr_port *port = container_of(ev, struct vr_port, tx_done);

	port->wake_set = false;
	if (port->node->kind == VR_NIC)
		vr_nic_sent(port, now_ps);
	vr_port_kick(port, now_ps);
}

/* The peer stopped (@xoff) or released priority @prio of this egress. */
void vr_port_pause(struct vr_port *port, u8 prio, bool xoff, u64 now_ps)
{
	u8 before = port->paused;

	if (xoff)
		port->paused |= BIT(prio);
	else
		port->paused &= ~BIT(prio);
	if (!before && port->paused)
		port->paused_since_ps = now_ps;
	if (before && !port->paused)
		port->stat.paused_ps += now_ps - port->paused_since_ps;
	if (!xoff)
		vr_port_kick(port, now_ps);
}

static bool happens(u32 ppb)
{
	return ppb && ((u64)vr_random() * 1000000000ULL) >> 32 < ppb;
}

/* Into the late ones, before those that arrive later. */
static void insert_late(struct vr_fifo *late, struct vr_frame *frame)
{
	struct vr_frame **next = &late->first;

	if (!late->count || late->last->cb.arrive_ps <= frame->cb.arrive_ps) {
		vr_fifo_push(late, frame);
		return;
	}
	while ((*next)->cb.arrive_ps <= frame->cb.arrive_ps)
		next = &(*next)->next;
	frame->next = *next;
	*next = frame;
	late->count++;
}

/* As a path of two ways does, of which few packets take the longer one; with jitter there are
 * many ways, and each packet takes another.
 */
static void hold_back(struct vr_link *link, struct vr_frame *frame, u64 late_ps, u64 now_ps)
{
	frame->cb.arrive_ps = now_ps + late_ps;
	insert_late(&link->late, frame);
	vr_event_set(&link->late_arrival, link->late.first->cb.arrive_ps);
}

static void receive(struct vr_link *link, struct vr_frame *frame, u64 now_ps)
{
	struct vr_port *peer = container_of(link, struct vr_port, link)->peer;
	struct vr_cb *cb = &frame->cb;

	if (cb->flags & VR_F_PFC) {
		vr_port_pause(peer, cb->prio, cb->flags & VR_F_XOFF, now_ps);
		vr_frame_drop(frame);
		return;
	}
	if (link->clear_dscp)
		vr_frame_clear_dscp(frame);
	peer->node->receive(peer, frame, now_ps);
}

static void late_arrival(struct vr_event *ev, u64 now_ps)
{
	struct vr_link *link = container_of(ev, struct vr_link, late_arrival);
	struct vr_frame *frame = vr_fifo_pop(&link->late);

	if (link->late.count)
		vr_event_set(ev, link->late.first->cb.arrive_ps);
	receive(link, frame, now_ps);
}

static void arrival(struct vr_event *ev, u64 now_ps)
{
	struct vr_link *link = container_of(ev, struct vr_link, arrival);
	struct vr_frame *frame = vr_fifo_pop(&link->flight);

	if (link->flight.count)
		vr_event_set(ev, link->flight.first->cb.arrive_ps);
	if (happens(link->loss_ppb)) {
		link->lost++;
		vr_frame_drop(frame);
	} else if (!(frame->cb.flags & VR_F_PFC) && happens(link->late_ppb)) {
		hold_back(link, frame, link->late_ps, now_ps);
	} else if (!(frame->cb.flags & VR_F_PFC) && link->jitter_ps) {
		hold_back(link, frame, vr_jitter_ps(link->jitter_ps, vr_random()), now_ps);
	} else {
		receive(link, frame, now_ps);
	}
}

/* Rate and cable are set by vr_port_connect(). NULL without memory. */
struct vr_port *vr_port_add(struct vr_node *node, const char *name, gfp_t gfp)
{
	struct vr_port **grown;
	struct vr_port *port;

	grown = krealloc_array(node->port, node->ports + 1, sizeof(*grown), gfp);
	if (!grown)
		return NULL;
	node->port = grown;
	port = kzalloc(sizeof(*port), gfp);
	if (!port)
		return NULL;
	port->delay = kvzalloc(sizeof(*port->delay), gfp);
	if (!port->delay) {
		kfree(port);
		return NULL;
	}
	port->node = node;
	port->index = node->ports;
	strscpy(port->name, name, sizeof(port->name));
	vr_event_init(&port->tx_done, node->kind == VR_NIC, tx_done);
	node->port[node->ports++] = port;
	return port;
}

/* Lay the cable; both ends' rates and delays are set by the caller. */
void vr_port_connect(struct vr_port *a, struct vr_port *b)
{
	a->peer = b;
	b->peer = a;
	vr_event_init(&a->link.arrival, b->node->kind == VR_NIC, arrival);
	vr_event_init(&b->link.arrival, a->node->kind == VR_NIC, arrival);
	vr_event_init(&a->link.late_arrival, b->node->kind == VR_NIC, late_arrival);
	vr_event_init(&b->link.late_arrival, a->node->kind == VR_NIC, late_arrival);
}

/* The caller has seen to it that no event of the port is left to run. */
void vr_port_free(struct vr_port *port)
{
	int i;

	for (i = 0; i < VR_PRIOS; i++)
		vr_fifo_purge(&port->queue[i]);
	vr_fifo_purge(&port->control);
	vr_fifo_purge(&port->link.flight);
	vr_fifo_purge(&port->link.late);
	kvfree(port->delay);
	kfree(port);
}
