/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vrack: a rack of hosts' NICs and switches in one kernel, for tests.
 *
 * The model is store and forward, event by event, on a picosecond clock of
 * its own:
 *
 *      host stack            NIC                 switch              NIC
 *   qdisc -> ndo_start_xmit  ring -> port ==link==> queue -> port ==link==> NAPI
 *                                    |                       |
 *                     one frame at a time at line rate, delay_ps later at the
 *                     other end, whole; a NIC cuts TSO skbs just before
 *
 * What a host hands over is an sk_buff whose control block (struct vr_cb) the
 * rack owns. On the wire it is one or more frames (struct vr_frame) of at most
 * one MTU each, to become an sk_buff again at the receiver. Every egress, of NIC and
 * switch alike, is a struct vr_port: what differs is where its next frame
 * comes from (->dequeue) and what happens when one has left (->sent).
 *
 * Everything below is guarded by vrack.lock, taken with bottom halves off;
 * fields that are fixed once `up` was written say so. skbs are freed after the
 * lock is dropped (vrack.done).
 */
#ifndef VR_H
#define VR_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/prefetch.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "compat/rack.h"
#include "vr_hist.h"
#include "vr_hops.h"
#include "vr_queue_rules.h"
#include "vr_time.h"

#define VR_PRIOS	8
#define VR_DSCPS	64
#define VR_NODES_MAX	2048	/* NICs and switches; a 3-level fat tree of 192 hosts has 272 */
#define VR_PORTS_MAX	256	/* of one switch */
#define VR_NO_NODE	0xffff

/* Frame flags (vr_cb.flags) */
#define VR_F_LAST	BIT(0)	/* last frame of what the host handed over */
#define VR_F_PAYLOAD	BIT(1)	/* carries user data, not a pure ACK */
#define VR_F_PFC	BIT(2)	/* PFC message between neighbours */
#define VR_F_SYNTH	BIT(3)	/* from a frame source, counted at the sink */
#define VR_F_FLOOD	BIT(4)	/* multicast: copied along the tree */
#define VR_F_XOFF	BIT(5)	/* VR_F_PFC: stop prio; else go */
#define VR_F_CUT	BIT(6)	/* of a burst (vr_burst.c), not an skb yet */
#define VR_F_CE		BIT(7)	/* VR_F_CUT: marked on its way */

/* Who a transmit stamp is for (vr_cb.stamp). */
#define VR_STAMP_FLOW	BIT(0)	/* nicstamp */
#define VR_STAMP_SOCKET	BIT(1)	/* a socket's error queue */

/* What the rack knows of a frame; in skb->cb while the host's skb waits in a ring. */
struct vr_cb {
	union {
		u64 queued_ps;	/* entered the queue it stands in, */
		u64 arrive_ps;	/* or will be whole at the other end of the link */
	};
	u64 waited_ps;		/* in queues so far, the source NIC's included */
	struct vr_hops hops;	/* of the switches' queues alone */
	u16 wire_bytes;		/* with Ethernet's overhead; of a TSO skb nothing */
	u16 ring_units;		/* in the source NIC's ring (vr_hops.h) */
	u32 hash;		/* of the 5-tuple, for ECMP */
	u16 dst;		/* node, or VR_NO_NODE */
	u16 in_port;		/* of the switch it stands in */
	u8 prio;
	u8 color;
	u8 flags;
	u8 stamp:7;		/* VR_STAMP_*: who wants to know when the last of it leaves */
	u8 dscp_cleared:1;	/* on its way; the header is written where it arrives */
};

static inline struct vr_cb *vr_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct vr_cb) > sizeof(skb->cb));
	return (struct vr_cb *)skb->cb;
}

struct vr_burst;

/* A frame under way: one cache line, so that deep queues stay in the cache. */
struct vr_frame {
	struct vr_cb cb;
	struct vr_frame *next;	/* in its fifo */
	union {
		struct sk_buff *skb;	/* NULL for PFC */
		struct vr_burst *burst;	/* VR_F_CUT */
	};
	u16 len;		/* MAC header to payload */
	u16 segment;		/* VR_F_CUT: which of the burst, from 0, */
	u32 frag:8;		/* and where its payload begins */
	u32 frag_offset:24;
};

/* Empty when all zero. */
struct vr_fifo {
	struct vr_frame *first;
	struct vr_frame *last;
	u32 count;
};

static inline void vr_fifo_push(struct vr_fifo *fifo, struct vr_frame *frame)
{
	frame->next = NULL;
	if (fifo->first)
		fifo->last->next = frame;
	else
		fifo->first = frame;
	fifo->last = frame;
	fifo->count++;
}

static inline struct vr_frame *vr_fifo_pop(struct vr_fifo *fifo)
{
	struct vr_frame *frame = fifo->first;

	if (frame) {
		fifo->first = frame->next;
		fifo->count--;
		/* long out of the cache, and next to be needed */
		prefetch(fifo->first);
	}
	return frame;
}

struct vr_event {
	int slot;		/* in its heap, -1 when not scheduled */
	bool host;		/* the host sees its effect at once (see vr_engine.c) */
	void (*fn)(struct vr_event *ev, u64 now_ps);
};

struct vr_port;
struct vr_node;

/* One direction of a cable: frames in flight, oldest first. */
struct vr_link {
	struct vr_fifo flight;
	struct vr_event arrival;	/* of the oldest */
	u64 delay_ps;
	u64 last_arrive_ps;	/* a shortened cable must not reorder */
	u32 loss_ppb;		/* frames damaged, per 10^9 */
	u64 lost;
	u32 late_ppb;		/* frames that take a longer way, per 10^9, */
	u64 late_ps;		/* by so much, */
	u64 jitter_ps;		/* or all of them, by up to so much; */
	struct vr_fifo late;	/* those which do now, the next to arrive first */
	struct vr_event late_arrival;	/* of the oldest of these */
	bool clear_dscp;	/* by a middlebox at its end */
};

struct vr_color_stat {
	u64 packets;
	u64 bytes;		/* MAC header to FCS */
	u64 drops;
};

struct vr_port_stat {
	u64 tx_packets;
	u64 tx_wire_bytes;
	u64 ecn_marks;
	u64 drops[VR_VERDICTS];
	struct vr_color_stat color[VR_COLORS];
	u64 pauses_sent;
	u64 paused_ps;		/* time in which at least one priority stood still */
	u64 queue_max_bytes;
};

struct vr_port {
	struct vr_node *node;	/* fixed */
	struct vr_port *peer;	/* the other end of the cable; fixed */
	u16 index;		/* within node; fixed */
	char name[IFNAMSIZ * 2];
	u64 rate_bps;
	u64 rate_rem;		/* vr_serialize_ps() */
	u64 began_ps;		/* the frame last put on the wire: first bit, */
	u64 busy_until_ps;	/* and last */
	bool wake_set;		/* tx_done is scheduled */
	struct vr_frame *on_wire;	/* NIC: frame being sent, to be completed */
	struct vr_event tx_done;
	struct vr_link link;	/* from here to peer */
	u8 paused;		/* priorities stopped by the peer, a bit each */
	u64 paused_since_ps;
	struct vr_port_stat stat;

	/* switch ports only */
	struct vr_fifo queue[VR_PRIOS];
	u64 queue_bytes[VR_PRIOS];
	u64 waiting_bytes;	/* all priorities */
	struct vr_fifo control;	/* PFC messages, sent first */
	u64 held_bytes[VR_PRIOS];	/* in this switch, having come in here */
	u8 xoff_sent;		/* priorities we stopped at the peer */
	struct vr_ecn ecn;
	struct vr_pi pi;	/* of all priorities */
	struct vr_police police;	/* of all priorities */
	u64 color_k_bytes;
	u64 limit_bytes;
	struct vr_hist *delay;	/* time frames waited here */
	u64 telemetry_bytes;	/* sent since vrack_telemetry.ko is loaded, whatever becomes of stat */
};

enum vr_kind { VR_NIC, VR_SWITCH };

struct vr_node {
	enum vr_kind kind;
	u16 id;
	char name[IFNAMSIZ];
	struct list_head list;	/* vrack.nodes */
	u16 ports;
	struct vr_port **port;

	/* set by the kind: next frame to send, or NULL */
	struct vr_frame *(*dequeue)(struct vr_port *port, u64 now_ps);
	/* a whole frame came in on @port; owns it */
	void (*receive)(struct vr_port *port, struct vr_frame *frame, u64 now_ps);

	/* switches: routes[dst node] -> next-hop ports; fixed after `up` */
	u16 *routes;		/* a row a destination: count, then ports */
	unsigned long *tree;	/* bitmap: ports of the flooding tree */
};

struct vr_switch {
	struct vr_node node;
	u64 buffer_bytes;
	u64 used_bytes;
	u64 used_max_bytes;
	u64 unrouted;		/* frames to nobody we know */
	u32 alpha_milli;
	u32 seed;		/* of the ECMP hash */
	u8 pfc_prios;		/* lossless priorities, a bit each */
	u64 pfc_xoff_bytes;
	u64 pfc_xon_bytes;
};

struct vr_txq {
	struct sk_buff_head ring;	/* handed over, not begun */
	struct sk_buff *parent;		/* the TSO skb being cut, or NULL */
	struct vr_burst *burst;		/* what is left of it: this, */
	struct sk_buff *frames;		/* or these */
	u64 paced_ps;			/* the next frame of burst or frames, not before, */
	u64 pace_rem;			/* with its fraction (vr_serialize_ps()) */
	u32 in_ring;			/* the host's: ring, and what is in service */
	u32 injected;			/* frame sources' */
};

struct vr_nic {
	struct vr_node node;
	struct vr_port *port;	/* node.port[0], NULL before its link */
	struct net_device *dev;
	struct napi_struct napi;
	struct vr_phc *phc;	/* NULL: no clock, no stamps; written with RTNL held too */
	struct vr_txq *txq;
	u16 txqs;		/* fixed */
	u16 next_txq;
	u16 sending_txq;	/* of port->on_wire */
	u32 ring_size;
	u64 pace_bps;		/* of the frames of a burst; 0: the line's */
	struct vr_event pace;	/* the next of them may leave */

	struct vr_fifo rx;	/* arrived, not yet polled */
	struct vr_event irq;
	bool irq_enabled;	/* false while NAPI polls */
	struct list_head poll_link;	/* waits for the engine to poll it */
	u32 rx_frames;		/* coalescing: interrupt at so many frames */
	u64 rx_ps;		/* or so long after the first */
	u64 jitter_ps;		/* mean of the exponential delay of the poll */
	__be32 ip;
	struct in6_addr ip6;
	struct hlist_node ip_hash;
	struct hlist_node ip6_hash;

	u64 tx_first_ps;	/* first bit of the first frame sent */
	u64 rx_first_ps;	/* last bit of the first frame received, */
	u64 rx_last_ps;		/* and of the latest */
	u64 rx_packets;
	u64 rx_wire_bytes;
	u64 rx_drops;		/* receive ring full or interface down */
	u64 synth_packets;
	u64 synth_ce;
	struct vr_hist *delay_payload;	/* frames' waiting time, summed over the path */
	struct vr_hist *delay_bare;	/* the same for frames without payload */
};

struct vrack {
	spinlock_t lock;	/* all of the rack, see top */
	bool up;
	u64 epoch_ns;		/* ktime of rack time 0 */
	u64 since_ps;		/* last stats reset */
	u64 hops;		/* frames sent by any port */
	u64 order;		/* vr_event.order */
	u64 rng;		/* xorshift64* state, from `seed` */
	u16 nodes_count;
	struct list_head nodes;
	struct vr_node *node[VR_NODES_MAX];
	u8 dscp_prio[VR_DSCPS];
	u8 dscp_color[VR_DSCPS];
	struct sk_buff_head done;	/* to be freed once the lock is dropped */
};

extern struct vrack vrack;

/* vr_engine.c */
int vr_engine_init(void);
void vr_engine_stop(void);
void vr_engine_exit(void);
u64 vr_now_ps(void);
void vr_event_init(struct vr_event *ev, bool host, void (*fn)(struct vr_event *ev, u64 now_ps));
int vr_event_set(struct vr_event *ev, u64 when_ps);
void vr_event_cancel(struct vr_event *ev);
void vr_engine_slack(u64 slack_ps);
u64 vr_enter(void) __acquires(&vrack.lock);
void vr_leave(void) __releases(&vrack.lock);
u32 vr_random(void);
u64 vr_random_exp(u64 mean);
void vr_engine_poll(struct vr_nic *nic);

/* vr_clock.c */
bool vr_clock_stands(void);
bool vr_clock_due(const struct hrtimer *timer);
u64 vr_clock_advance(const struct hrtimer *timer, u64 now_ns, u64 due_ns);

/* vr_port.c */
struct vr_port *vr_port_add(struct vr_node *node, const char *name, gfp_t gfp);
void vr_port_free(struct vr_port *port);
void vr_port_connect(struct vr_port *a, struct vr_port *b);
void vr_port_kick(struct vr_port *port, u64 now_ps);
void vr_port_pause(struct vr_port *port, u8 prio, bool xoff, u64 now_ps);

/* vswitch.c */
struct vr_switch *vr_switch_add(const char *name);
void vr_switch_free(struct vr_switch *sw);

static inline struct vr_switch *vr_switch(struct vr_node *node)
{
	return container_of(node, struct vr_switch, node);
}

/* vnic.c */
struct vr_nic *vr_nic_add(const char *name, u16 queues);
void vr_nic_unregister(struct vr_nic *nic);
void vr_nic_free(struct vr_nic *nic);
bool vr_nic_awaited(const struct vr_port *port);
void vr_nic_sent(struct vr_port *port, u64 now_ps);
void vr_nic_up(struct vr_nic *nic);
void vr_nic_poll(struct vr_nic *nic, bool here);
void vr_nic_inject(struct vr_nic *nic, struct sk_buff *skb, u64 now_ps);

static inline struct vr_nic *vr_nic(struct vr_node *node)
{
	return container_of(node, struct vr_nic, node);
}

/* vr_ctl.c, and vr_phc.c in a module of its own */
struct vr_phc_knobs {
	u64 on, stock, offset_ns, fast_ppb, slow_ppb, step_ns, bits, tx_slots, gap_ns, walk_ppb, walk_ms;
};

/* What a clock costs when there is none: a look at nic->phc. */
struct vr_phc_ops {
	/* for vr_ctl.c; these may sleep */
	struct vr_phc_knobs (*knobs_of)(const struct vr_nic *nic);
	int (*apply)(struct vr_nic *nic, const struct vr_phc_knobs *k);
	/* for NICs with a clock; RTNL is held */
	int (*ptp_index)(const struct vr_nic *nic);
	int (*hwtstamp_get)(struct vr_nic *nic, struct tp_hwtstamp_config *config);
	int (*hwtstamp_set)(struct vr_nic *nic, struct tp_hwtstamp_config *config);
	/* for NICs with a clock: what vr_cb(skb)->stamp shall be, and its end without a stamp */
	u8 (*wanted)(struct vr_nic *nic, struct sk_buff *skb);
	void (*forget)(struct vr_nic *nic, struct sk_buff *skb);
	void (*sent)(struct vr_nic *nic, struct sk_buff *skb, const struct vr_frame *frame,
		     u64 last_ps);
	void (*received)(struct vr_nic *nic, struct sk_buff *skb, u64 last_ps);
	/* vrack.lock is held: what the PTP clock of a NIC that has one says, */
	u64 (*now_ns)(const struct vr_nic *nic);
	/* and for vr_stats.c */
	void (*reset)(void);
	void (*show)(struct seq_file *m, u64 now_ps);
};

extern const struct vr_phc_ops *vr_phc_ops;	/* NULL: vrack_phc.ko is not loaded */
void vr_phc_register(const struct vr_phc_ops *ops);
void vr_phc_unregister(void);
void vr_phc_attach(struct vr_nic *nic, struct vr_phc *phc);
bool vr_phc_of_net(const struct net *net, u64 *ns);

/* vr_ctl.c, and vr_hops.c in a module of its own */
/* @skb's data begin at its MAC header, and its control block is the rack's still. */
typedef void (*vr_hops_fn)(struct sk_buff *skb);

extern vr_hops_fn vr_hops_received;	/* NULL: vrack_hops.ko is not loaded */
void vr_hops_register(vr_hops_fn received);

/* vr_ctl.c, and vr_telemetry.c or vr_int.c in a module of its own. A frame is known by its address,
 * which is that of no other before it has arrived or was dropped.
 */
struct vr_telemetry_ops {
	/* @frame leaves the queue of a switch's @port */
	void (*left)(const struct vr_frame *frame, struct vr_port *port, u64 now_ps);
	/* its host has it as @skb, from the MAC header on */
	void (*arrived)(const struct vr_frame *frame, struct sk_buff *skb);
};

extern const struct vr_telemetry_ops *vr_telemetry_ops;	/* NULL: neither module is loaded */
int vr_telemetry_register(const struct vr_telemetry_ops *ops);

/* Is the switch that @frame leaves by @port its first one? */
static inline bool vr_frame_is_from_host(const struct vr_frame *frame, const struct vr_port *port)
{
	return port->node->port[frame->cb.in_port]->peer->node->kind == VR_NIC;
}

/* vr_truth.c */
int vr_truth_begin(void);
void vr_truth_end(void);
void vr_truth_reset(void);
void vr_truth_show(struct seq_file *m);
void vr_truth_sent(const struct sk_buff *skb, const struct vr_frame *frame, u16 from, u64 last_ps);
void vr_truth_received(const struct sk_buff *skb, u16 to, u64 last_ps);

/* vr_pairs.c */
int vr_pairs_begin(void);
void vr_pairs_end(void);
bool vr_pairs_on(void);
void vr_pairs_reset(void);
void vr_pairs_sent(u64 name, u16 from, u64 ps);
void vr_pairs_arrived(u64 name, u16 to, u64 ps);
void vr_pairs_answered(u64 name, u64 ps);
void vr_pairs_acked(u64 name, u64 ps);

/* vr_frame.c */
int vr_frames_init(void);
void vr_frames_exit(void);
struct vr_frame *vr_frame_alloc(const struct vr_cb *cb);
struct vr_frame *vr_frame_copy(const struct vr_frame *frame);
struct sk_buff *vr_frame_to_skb(struct vr_frame *frame);
void vr_frame_drop(struct vr_frame *frame);
void vr_fifo_purge(struct vr_fifo *fifo);
void vr_drop(struct sk_buff *skb);
void vr_frame_clear_dscp(struct vr_frame *frame);
bool vr_frame_set_ce(struct vr_frame *frame);

/* vr_header.c */
void vr_classify(struct sk_buff *skb, const struct vr_nic *from);
struct sk_buff *vr_header_build(struct vr_nic *from, struct vr_nic *to, u32 ip_bytes, u8 tos,
				u16 flow);
bool vr_header_set_ce(struct sk_buff *skb);
void vr_header_clear_dscp(struct sk_buff *skb);
bool vr_header_is_ce(const struct sk_buff *skb);

/* vr_burst.c */
struct vr_burst *vr_burst_make(const struct sk_buff *skb);
void vr_burst_put(struct vr_burst *burst);
bool vr_burst_cut(struct vr_burst *burst, struct vr_frame *frame);
bool vr_burst_set_ce(struct vr_frame *frame);
struct sk_buff *vr_burst_build(const struct vr_frame *frame);

/* vr_route.c */
int vr_route_all(void);
u32 vr_route_port(struct vr_switch *sw, const struct vr_cb *cb);
void vr_route_flood(struct vr_switch *sw, struct vr_frame *frame, u16 in_port, u64 now_ps,
		    void (*enqueue)(struct vr_switch *, struct vr_port *, struct vr_frame *, u64));
void vr_route_free(struct vr_node *node);
int vr_addr_add(struct vr_nic *nic);
void vr_addr_del(struct vr_nic *nic);
u16 vr_addr_find4(__be32 ip);
u16 vr_addr_find6(const struct in6_addr *ip);
u16 vr_addr_find_mac(const u8 *mac);

/* vr_source.c */
int vr_source_add(struct vr_nic *from, struct vr_nic *to, u32 ip_bytes, u64 rate_bps, bool poisson,
		  u64 count, u64 start_ns, u8 tos, u16 flows);
void vr_source_free_all(void);

/* vr_series.c */
int vr_series_start(struct vr_port **port, u32 ports, u64 interval_ps);
void vr_series_cancel(void);
void vr_series_free(void);

/* vr_stats.c, vr_ctl.c */
void vr_stats_reset(void);
void vr_stats_hist(struct seq_file *m, const char *name, const struct vr_hist *h);
extern const struct file_operations vr_ctl_fops;
extern const struct file_operations vr_stats_fops;
extern const struct file_operations vr_series_fops;
struct vr_node *vr_node_find(const char *name);
int vr_node_init(struct vr_node *node, enum vr_kind kind, const char *name);

#endif /* VR_H */
