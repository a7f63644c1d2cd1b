// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual NIC: what a host's stack sees of the rack.
 *
 * Transmit: a ring a queue. A TSO skb is cut only when its turn comes, its
 * frames leave back to back at line rate, and the skb is completed (BQL,
 * ring slot, socket) when the last bit of its last frame is on the wire.
 * TSQ, BQL and the retransmission logic all look at that moment; to hold
 * the skb's socket any longer, as veth does, makes TCP believe that packets
 * inside the network are still in the host.
 *
 * Receive: frames wait in a ring for an interrupt, at once or coalesced by
 * count and time, then NAPI hands them to GRO. `jitter_ns` delays the poll
 * by an exponential time, as a busy host does; software timestamps then
 * carry that noise.
 *
 * Interfaces are NOARP: frames are routed by MAC address if it is another
 * NIC's, else by IP address (vr_header.c).
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/net_tstamp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "vr.h"

#define SOURCE_RING	32768	/* frames of frame sources, 75 MB at worst */
#define RX_RING		4096	/* frames; 5 ms of MTU frames at 10 Gbit/s */

struct vr_nic_priv {
	struct vr_nic *nic;
};

static struct vr_nic *dev_nic(struct net_device *dev)
{
	return ((struct vr_nic_priv *)netdev_priv(dev))->nic;
}

/* ---- transmit ---- */

/*
 * Does the host see at once that the frame on the wire has left? It does if
 * it handed over data (TSQ waits for it) or its queue is stopped. The rest,
 * pure ACKs above all, may be completed a cable delay late (vr_engine.c).
 */
bool vr_nic_awaited(const struct vr_port *port)
{
	const struct vr_nic *nic = vr_nic(port->node);
	const struct vr_cb *cb = &port->on_wire->cb;

	if (!(cb->flags & VR_F_LAST))
		return false;
	return cb->flags & VR_F_PAYLOAD ||
	       netif_xmit_stopped(netdev_get_tx_queue(nic->dev, nic->sending_txq));
}

/* The queue was stopped just now: from here on completions are awaited. */
static void await_completion(struct vr_nic *nic)
{
	struct vr_port *port = nic->port;

	if (!port->on_wire || port->tx_done.host || !vr_nic_awaited(port))
		return;
	vr_event_cancel(&port->tx_done);
	port->tx_done.host = true;
	vr_event_set(&port->tx_done, port->busy_until_ps);
}

/* A packet of the stack's that will not be sent. */
static void throw_away(struct vr_nic *nic, struct sk_buff *skb)
{
	if (unlikely(nic->phc))
		vr_phc_ops->forget(nic, skb);
	vr_drop(skb);
}

static netdev_tx_t start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct vr_nic *nic = dev_nic(dev);
	u16 index = skb_get_queue_mapping(skb);
	struct netdev_queue *txq = netdev_get_tx_queue(dev, index);
	struct vr_txq *q = &nic->txq[index];
	u64 now_ps;

	vr_classify(skb, nic);
	if (unlikely(nic->phc))
		vr_cb(skb)->stamp = vr_phc_ops->wanted(nic, skb);
	skb_tx_timestamp(skb);
	now_ps = vr_enter();
	if (unlikely(!nic->port || !vrack.up)) {
		throw_away(nic, skb);
		vr_leave();
		return NETDEV_TX_OK;
	}
	vr_cb(skb)->queued_ps = now_ps;
	netdev_tx_sent_queue(txq, skb->len);
	__skb_queue_tail(&q->ring, skb);
	if (++q->in_ring >= nic->ring_size)
		netif_tx_stop_queue(txq);
	vr_port_kick(nic->port, now_ps);
	if (netif_xmit_stopped(txq))
		await_completion(nic);
	vr_leave();
	return NETDEV_TX_OK;
}

/*
 * A frame source's frame joins the first ring; the stack's BQL and ring size
 * do not count it, but a source faster than the line must not eat the memory.
 */
void vr_nic_inject(struct vr_nic *nic, struct sk_buff *skb, u64 now_ps)
{
	if (nic->txq[0].injected >= SOURCE_RING) {
		nic->dev->stats.tx_dropped++;
		vr_drop(skb);
		return;
	}
	vr_cb(skb)->queued_ps = now_ps;
	nic->txq[0].injected++;
	__skb_queue_tail(&nic->txq[0].ring, skb);
	vr_port_kick(nic->port, now_ps);
}

/*
 * Cut a TSO skb into frames. They must not carry its socket: hardware holds
 * one reference, the skb itself. GSO keeps notes of its own in skb->cb.
 */
static struct sk_buff *cut(struct sk_buff *parent)
{
	void (*destructor)(struct sk_buff *skb) = parent->destructor;
	struct vr_cb cb = *vr_cb(parent);
	struct sock *sk = parent->sk;
	struct sk_buff *frames;

	parent->destructor = NULL;
	parent->sk = NULL;
	frames = skb_gso_segment(parent, NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA |
				 NETIF_F_HW_VLAN_CTAG_TX) ?: ERR_PTR(-EINVAL);
	parent->sk = sk;
	parent->destructor = destructor;
	*vr_cb(parent) = cb;
	return frames;
}

static void complete_tx(struct vr_nic *nic, u16 index, u32 bytes)
{
	struct netdev_queue *txq = netdev_get_tx_queue(nic->dev, index);
	struct vr_txq *q = &nic->txq[index];

	q->in_ring--;
	netdev_tx_completed_queue(txq, 1, bytes);
	/* three quarters: not a wake-up for every slot */
	if (netif_tx_queue_stopped(txq) && q->in_ring <= nic->ring_size - nic->ring_size / 4)
		netif_tx_wake_queue(txq);
}

/*
 * What goes out in place of @skb as the hardware reads it: frames that nobody
 * else holds. TCP keeps its data in the retransmit queue and hands down clones,
 * which share their fragment table with it; the receiver's GRO rewrites that
 * table. A stamp goes to the socket with a clone, and the receiver's own would be
 * written over it. NULL: @skb itself is fit to go.
 */
static struct sk_buff *read_out(struct sk_buff *skb)
{
	if (skb_is_gso(skb))
		return cut(skb);
	if (skb_cloned(skb) || vr_cb(skb)->stamp & VR_STAMP_SOCKET)
		return pskb_copy(skb, GFP_ATOMIC) ?: ERR_PTR(-ENOMEM);
	return NULL;
}

/* What the NIC cannot send, for want of memory, it throws away and completes. */
static void abandon(struct vr_nic *nic, u16 index, struct sk_buff *skb)
{
	nic->dev->stats.tx_dropped++;
	if (vr_cb(skb)->flags & VR_F_SYNTH)
		nic->txq[index].injected--;
	else
		complete_tx(nic, index, skb->len);
	throw_away(nic, skb);
}

static bool cutting(const struct vr_txq *q)
{
	return q->burst || q->frames;
}

/* Begin with @skb: as a burst, as frames that the stack has cut, or as it is. */
static struct sk_buff *begin(struct vr_txq *q, struct sk_buff *skb)
{
	struct sk_buff *frames;

	if (skb_is_gso(skb))
		q->burst = vr_burst_make(skb);
	if (!q->burst) {
		frames = read_out(skb);
		if (!frames || IS_ERR(frames))
			return frames ?: skb;
		q->frames = frames;
	}
	q->parent = skb;
	return NULL;
}

static struct vr_frame *whole(struct sk_buff *skb)
{
	struct vr_frame *frame = vr_frame_alloc(vr_cb(skb));

	if (!frame)
		return NULL;
	frame->cb.flags |= VR_F_LAST;
	frame->skb = skb;
	frame->len = skb->len;
	return frame;
}

static u32 frame_wire_bytes(const struct vr_frame *frame)
{
	bool tag = !(frame->cb.flags & VR_F_CUT) && skb_vlan_tag_present(frame->skb);

	return vr_wire_bytes(frame->len + (tag ? VLAN_HLEN : 0));
}

static bool take_frame(struct vr_txq *q, struct vr_frame *frame)
{
	struct sk_buff *skb = q->frames;

	q->frames = skb->next;
	skb_mark_not_on_list(skb);
	frame->skb = skb;
	frame->len = skb->len;
	return q->frames;
}

static struct vr_frame *next_cut(struct vr_txq *q)
{
	struct vr_frame *frame = vr_frame_alloc(vr_cb(q->parent));
	bool more;

	if (!frame)
		return NULL;
	if (q->burst) {
		more = vr_burst_cut(q->burst, frame);
		if (!more)
			q->burst = NULL;
	} else {
		more = take_frame(q, frame);
	}
	frame->cb.wire_bytes = frame_wire_bytes(frame);
	if (!more)
		frame->cb.flags |= VR_F_LAST;
	return frame;
}

/* No memory for the next frame of q->parent: the rest of it is lost. */
static void abandon_cut(struct vr_nic *nic, u16 index)
{
	struct vr_txq *q = &nic->txq[index];

	if (q->burst)
		vr_burst_put(q->burst);
	kfree_skb_list(q->frames);
	q->burst = NULL;
	q->frames = NULL;
	abandon(nic, index, q->parent);
	q->parent = NULL;
}

/* The next frame of a ring in which none is begun, unless cutting begins; NULL when it is empty. */
static struct vr_frame *next_whole(struct vr_nic *nic, u16 index, u64 now_ps)
{
	struct vr_txq *q = &nic->txq[index];
	struct vr_frame *frame;
	struct sk_buff *skb, *as_is;

	while (!cutting(q) && (skb = __skb_dequeue(&q->ring))) {
		vr_cb(skb)->waited_ps = now_ps - vr_cb(skb)->queued_ps;
		vr_cb(skb)->ring_units = vr_hops_units(div_u64(vr_cb(skb)->waited_ps, VR_PS_PER_NS));
		as_is = begin(q, skb);
		if (!as_is)
			break;
		frame = IS_ERR(as_is) ? NULL : whole(as_is);
		if (frame)
			return frame;
		abandon(nic, index, skb);
	}
	return NULL;
}

static bool paces(const struct vr_txq *q, u64 now_ps)
{
	return cutting(q) && q->paced_ps > now_ps;
}

/* @frame leaves: when the next of its burst may, its first bit so long after this one's. */
static void pace_next(struct vr_nic *nic, struct vr_txq *q, const struct vr_frame *frame, u64 now_ps)
{
	if (nic->pace_bps)
		q->paced_ps = now_ps + vr_serialize_ps(frame->cb.wire_bytes, nic->pace_bps, &q->pace_rem);
}

static void pace_event(struct vr_event *ev, u64 now_ps)
{
	vr_port_kick(container_of(ev, struct vr_nic, pace)->port, now_ps);
}

/* Nothing may leave now: come back for the ring whose burst goes on first. */
static void await_pace(struct vr_nic *nic, u64 now_ps)
{
	u64 next_ps = ~0ULL;
	u16 i;

	for (i = 0; i < nic->txqs; i++)
		if (paces(&nic->txq[i], now_ps))
			next_ps = min(next_ps, nic->txq[i].paced_ps);
	if (next_ps != ~0ULL)
		vr_event_set(&nic->pace, next_ps);
}

static struct vr_frame *next_of(struct vr_nic *nic, u16 index, u64 now_ps)
{
	struct vr_txq *q = &nic->txq[index];
	struct sk_buff *head = cutting(q) ? q->parent : skb_peek(&q->ring);
	struct vr_frame *frame = NULL;

	if (!head || nic->port->paused & BIT(vr_cb(head)->prio) || paces(q, now_ps))
		return NULL;
	while (!frame && (cutting(q) || !skb_queue_empty(&q->ring))) {
		frame = next_whole(nic, index, now_ps);
		if (frame || !cutting(q))
			break;
		frame = next_cut(q);
		if (!frame)
			abandon_cut(nic, index);
	}
	return frame;
}

/* Frame by frame round robin over the rings. */
static struct vr_frame *dequeue(struct vr_port *port, u64 now_ps)
{
	struct vr_nic *nic = vr_nic(port->node);
	struct vr_frame *frame;
	u16 i, index;

	for (i = 0; i < nic->txqs; i++) {
		index = (nic->next_txq + i) % nic->txqs;
		frame = next_of(nic, index, now_ps);
		if (!frame)
			continue;
		pace_next(nic, &nic->txq[index], frame, now_ps);
		if (!port->stat.tx_packets)
			nic->tx_first_ps = now_ps;
		nic->sending_txq = index;
		nic->next_txq = (index + 1) % nic->txqs;
		nic->dev->stats.tx_packets++;
		nic->dev->stats.tx_bytes += frame->len;
		return frame;
	}
	if (nic->pace_bps)
		await_pace(nic, now_ps);
	return NULL;
}

/* The last bit of port->on_wire has left. */
void vr_nic_sent(struct vr_port *port, u64 now_ps)
{
	struct vr_nic *nic = vr_nic(port->node);
	struct vr_txq *q = &nic->txq[nic->sending_txq];
	struct vr_frame *frame = port->on_wire;
	struct sk_buff *skb;
	u32 bytes;

	port->on_wire = NULL;
	if (!frame)
		return;
	skb = q->parent ?: frame->skb;
	if (unlikely(nic->phc))
		vr_phc_ops->sent(nic, skb, frame, now_ps);
	if (!(frame->cb.flags & VR_F_LAST))
		return;
	if (frame->cb.flags & VR_F_SYNTH) {
		q->injected--;
		return;
	}
	bytes = skb->len;
	if (q->parent) {
		vr_drop(skb);
		q->parent = NULL;
	} else {
		skb_orphan(skb);
	}
	complete_tx(nic, nic->sending_txq, bytes);
}

/* ---- receive ---- */

static void interrupt(struct vr_nic *nic)
{
	nic->irq_enabled = false;
	vr_engine_poll(nic);
}

static void irq_event(struct vr_event *ev, u64 now_ps)
{
	interrupt(container_of(ev, struct vr_nic, irq));
}

/* Interrupts are on and frames wait: when is the next one due? */
static void set_irq(struct vr_nic *nic, u64 now_ps)
{
	bool full = nic->rx.count >= nic->rx_frames || !nic->rx_ps;
	u64 when_ps = full ? now_ps : now_ps + nic->rx_ps;

	if (nic->jitter_ps) {
		if (nic->irq.slot < 0)
			vr_event_set(&nic->irq, when_ps + vr_random_exp(nic->jitter_ps));
	} else if (full) {
		vr_event_cancel(&nic->irq);
		interrupt(nic);
	} else if (nic->irq.slot < 0) {
		vr_event_set(&nic->irq, when_ps);
	}
}

static void sink_synthetic(struct vr_nic *nic, struct vr_frame *frame)
{
	nic->synth_packets++;
	if (vr_header_is_ce(frame->skb))
		nic->synth_ce++;
	vr_frame_drop(frame);
}

static void receive(struct vr_port *port, struct vr_frame *frame, u64 now_ps)
{
	struct vr_nic *nic = vr_nic(port->node);
	struct vr_cb *cb = &frame->cb;

	if (!nic->rx_packets++)
		nic->rx_first_ps = now_ps;
	nic->rx_last_ps = now_ps;
	nic->rx_wire_bytes += cb->wire_bytes;
	vr_hist_add(cb->flags & VR_F_PAYLOAD ? nic->delay_payload : nic->delay_bare,
		    div_u64(cb->waited_ps, VR_PS_PER_NS));
	if (cb->flags & VR_F_SYNTH) {
		sink_synthetic(nic, frame);
		return;
	}
	if (!netif_running(nic->dev) || nic->rx.count >= RX_RING) {
		nic->rx_drops++;
		vr_frame_drop(frame);
		return;
	}
	vr_fifo_push(&nic->rx, frame);
	if (nic->irq_enabled)
		set_irq(nic, now_ps);
}

/* @alone: GRO has nothing to merge it with, and would give it back at the end of the poll. */
static void deliver(struct vr_nic *nic, struct sk_buff *skb, bool alone)
{
	struct net_device *dev = nic->dev;
	vr_hops_fn hops_received = READ_ONCE(vr_hops_received);
	struct vr_cb *cb = vr_cb(skb);
	bool by_ip = !(cb->flags & VR_F_FLOOD);
	u64 arrive_ps = cb->arrive_ps;
	u32 hash = cb->hash;

	if (unlikely(hops_received))
		hops_received(skb);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb_orphan(skb);
	skb_scrub_packet(skb, true);
	skb->priority = 0;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 0;
	skb_set_hash(skb, hash, PKT_HASH_TYPE_L4);
	dev->stats.rx_packets++;
	dev->stats.rx_bytes += skb->len;
	skb->protocol = eth_type_trans(skb, dev);
	/* routed here, whatever MAC address a NOARP sender wrote */
	if (by_ip)
		skb->pkt_type = PACKET_HOST;
	skb_record_rx_queue(skb, 0);
	if (unlikely(nic->phc))
		vr_phc_ops->received(nic, skb, arrive_ps);
	if (alone)
		netif_receive_skb(skb);
	else
		napi_gro_receive(&nic->napi, skb);
}

/* The host's own memory for a frame that has arrived. */
static struct sk_buff *receive_skb(struct vr_nic *nic)
{
	const struct vr_telemetry_ops *telemetry = READ_ONCE(vr_telemetry_ops);
	struct vr_frame *frame = vr_fifo_pop(&nic->rx);
	struct sk_buff *skb = vr_frame_to_skb(frame);

	if (!skb)
		nic->rx_drops++;
	else if (unlikely(telemetry))
		telemetry->arrived(frame, skb);
	return skb;
}

static void take_rx(struct vr_nic *nic, struct sk_buff_head *batch, int budget)
{
	struct sk_buff *skb;

	vr_enter();
	while (budget-- && nic->rx.count) {
		skb = receive_skb(nic);
		if (skb)
			__skb_queue_tail(batch, skb);
	}
	vr_leave();
}

static int poll(struct napi_struct *napi, int budget)
{
	struct vr_nic *nic = container_of(napi, struct vr_nic, napi);
	struct sk_buff_head batch;
	struct sk_buff *skb;
	int done = 0;
	bool alone;
	u64 now_ps;

	__skb_queue_head_init(&batch);
	take_rx(nic, &batch, budget);
	alone = skb_queue_len(&batch) == 1;
	while ((skb = __skb_dequeue(&batch))) {
		deliver(nic, skb, alone);
		done++;
	}
	if (done < budget && napi_complete_done(napi, done)) {
		now_ps = vr_enter();
		nic->irq_enabled = true;
		if (nic->rx.count)
			set_irq(nic, now_ps);
		vr_leave();
	}
	return done;
}

/* What napi_schedule() comes to, or with @here the same without a softirq of its own. */
void vr_nic_poll(struct vr_nic *nic, bool here)
{
	if (!napi_schedule_prep(&nic->napi))
		return;
	if (!here || poll(&nic->napi, NAPI_POLL_WEIGHT) == NAPI_POLL_WEIGHT)
		__napi_schedule(&nic->napi);
}

/* ---- net_device ---- */

static int nic_open(struct net_device *dev)
{
	struct vr_nic *nic = dev_nic(dev);

	napi_enable(&nic->napi);
	local_bh_disable();
	vr_enter();
	nic->irq_enabled = true;
	vr_leave();
	local_bh_enable();
	netif_tx_start_all_queues(dev);
	return 0;
}

static int nic_stop(struct net_device *dev)
{
	struct vr_nic *nic = dev_nic(dev);

	netif_tx_stop_all_queues(dev);
	local_bh_disable();
	vr_enter();
	nic->irq_enabled = false;
	vr_event_cancel(&nic->irq);
	vr_fifo_purge(&nic->rx);
	vr_leave();
	local_bh_enable();
	napi_disable(&nic->napi);
	return 0;
}

int vr_nic_hwtstamp_get(struct net_device *dev, struct tp_hwtstamp_config *config)
{
	struct vr_nic *nic = dev_nic(dev);

	return nic->phc ? vr_phc_ops->hwtstamp_get(nic, config) : -EOPNOTSUPP;
}

int vr_nic_hwtstamp_set(struct net_device *dev, struct tp_hwtstamp_config *config)
{
	struct vr_nic *nic = dev_nic(dev);

	return nic->phc ? vr_phc_ops->hwtstamp_set(nic, config) : -EOPNOTSUPP;
}

static const struct net_device_ops nic_ops = {
	.ndo_open		= nic_open,
	.ndo_stop		= nic_stop,
	.ndo_start_xmit		= start_xmit,
	.ndo_validate_addr	= eth_validate_addr,
	TP_HWTSTAMP_OPS,
};

static int get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *cmd)
{
	struct vr_nic *nic = dev_nic(dev);

	cmd->base.speed = nic->port ? div_u64(nic->port->rate_bps, 1000000) : SPEED_UNKNOWN;
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.port = PORT_FIBRE;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static int get_coalesce(struct net_device *dev, struct ethtool_coalesce *ec,
			struct kernel_ethtool_coalesce *kec, struct netlink_ext_ack *extack)
{
	struct vr_nic *nic = dev_nic(dev);

	ec->rx_max_coalesced_frames = nic->rx_frames;
	ec->rx_coalesce_usecs = div_u64(nic->rx_ps, VR_PS_PER_NS * 1000);
	return 0;
}

static int set_coalesce(struct net_device *dev, struct ethtool_coalesce *ec,
			struct kernel_ethtool_coalesce *kec, struct netlink_ext_ack *extack)
{
	struct vr_nic *nic = dev_nic(dev);

	if (!ec->rx_max_coalesced_frames || ec->rx_coalesce_usecs > USEC_PER_SEC) {
		NL_SET_ERR_MSG(extack, "rx-frames must be at least 1, rx-usecs at most 1000000");
		return -EINVAL;
	}
	nic->rx_frames = ec->rx_max_coalesced_frames;
	nic->rx_ps = (u64)ec->rx_coalesce_usecs * VR_PS_PER_NS * 1000;
	return 0;
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "vrack", sizeof(info->driver));
}

static int get_ts_info(struct net_device *dev, struct tp_ts_info *info)
{
	struct vr_nic *nic = dev_nic(dev);
	int err = ethtool_op_get_ts_info(dev, info);

	if (err)
		return err;
	info->so_timestamping |= SOF_TIMESTAMPING_TX_SOFTWARE;
	if (!nic->phc)
		return 0;
	info->so_timestamping |= SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
				 SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = vr_phc_ops->ptp_index(nic);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

static const struct ethtool_ops nic_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS | ETHTOOL_COALESCE_RX_MAX_FRAMES,
	.get_drvinfo		= get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= get_link_ksettings,
	.get_coalesce		= get_coalesce,
	.set_coalesce		= set_coalesce,
	.get_ts_info		= get_ts_info,
};

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &nic_ops;
	dev->ethtool_ops = &nic_ethtool_ops;
	dev->flags |= IFF_NOARP;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA | NETIF_F_RXCSUM |
			   NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN | NETIF_F_TSO_MANGLEID |
			   NETIF_F_GSO_UDP_L4;
	dev->features = dev->hw_features | NETIF_F_HW_VLAN_CTAG_TX;
	dev->vlan_features = dev->hw_features;
	dev->max_mtu = 9600;
}

/* The MAC address names the node, so that frames need no table to be routed. */
static void set_mac(struct net_device *dev, u16 id)
{
	const u8 mac[ETH_ALEN] = { 0x02, 'v', 'r', 0, id >> 8, id & 0xff };

	eth_hw_addr_set(dev, mac);
}

static int register_dev(struct vr_nic *nic)
{
	struct net_device *dev;
	int err;

	dev = alloc_netdev_mqs(sizeof(struct vr_nic_priv), nic->node.name, NET_NAME_USER, setup,
			       nic->txqs, 1);
	if (!dev)
		return -ENOMEM;
	((struct vr_nic_priv *)netdev_priv(dev))->nic = nic;
	nic->dev = dev;
	set_mac(dev, nic->node.id);
	netif_napi_add(dev, &nic->napi, poll);
	netif_carrier_off(dev);
	err = register_netdev(dev);
	if (err) {
		netif_napi_del(&nic->napi);
		free_netdev(dev);
		nic->dev = NULL;
	}
	return err;
}

void vr_nic_up(struct vr_nic *nic)
{
	netif_carrier_on(nic->dev);
}

static int alloc_nic(struct vr_nic *nic)
{
	u16 i;

	nic->txq = kcalloc(nic->txqs, sizeof(*nic->txq), GFP_KERNEL);
	nic->delay_payload = kvzalloc(sizeof(*nic->delay_payload), GFP_KERNEL);
	nic->delay_bare = kvzalloc(sizeof(*nic->delay_bare), GFP_KERNEL);
	if (!nic->txq || !nic->delay_payload || !nic->delay_bare)
		return -ENOMEM;
	for (i = 0; i < nic->txqs; i++)
		__skb_queue_head_init(&nic->txq[i].ring);
	return 0;
}

/* ERR_PTR on failure; the netdev is registered in the caller's namespace, carrier off. */
struct vr_nic *vr_nic_add(const char *name, u16 queues)
{
	struct vr_nic *nic = kzalloc(sizeof(*nic), GFP_KERNEL);
	int err;

	if (!nic)
		return ERR_PTR(-ENOMEM);
	nic->txqs = queues;
	INIT_LIST_HEAD(&nic->poll_link);
	vr_event_init(&nic->irq, true, irq_event);
	vr_event_init(&nic->pace, false, pace_event);
	nic->node.dequeue = dequeue;
	nic->node.receive = receive;
	err = alloc_nic(nic) ?: vr_node_init(&nic->node, VR_NIC, name);
	if (err)
		goto free;
	err = register_dev(nic);
	if (err) {
		list_del(&nic->node.list);
		vrack.node[--vrack.nodes_count] = NULL;
		goto free;
	}
	return nic;
free:
	kfree(nic->txq);
	kvfree(nic->delay_payload);
	kvfree(nic->delay_bare);
	kfree(nic);
	return ERR_PTR(err);
}

/* Take the interface from the host; the rack's events are stopped. */
void vr_nic_unregister(struct vr_nic *nic)
{
	unregister_netdev(nic->dev);
	netif_napi_del(&nic->napi);
}

/* After vr_nic_unregister(). */
void vr_nic_free(struct vr_nic *nic)
{
	u16 i;

	for (i = 0; i < nic->txqs; i++) {
		__skb_queue_purge(&nic->txq[i].ring);
		if (nic->txq[i].burst)
			vr_burst_put(nic->txq[i].burst);
		kfree_skb_list(nic->txq[i].frames);
		kfree_skb(nic->txq[i].parent);
	}
	vr_fifo_purge(&nic->rx);
	vr_addr_del(nic);
	free_netdev(nic->dev);
	kfree(nic->txq);
	kvfree(nic->delay_payload);
	kvfree(nic->delay_bare);
	kfree(nic);
}
