// SPDX-License-Identifier: GPL-2.0
/*
 * A NIC's own clock and hardware stamps, and the reference use of nicstamp's driver
 * interface (include/nicstamp.h). The counter counts steps of step_ns from an offset,
 * fast or slow, at a rate that wanders if asked to (vr_walk.h), and wraps at its width.
 * A transmit stamp is of the last bit of a packet's last frame, a receive stamp of the
 * last bit of the frame.
 *
 *   counter, masked ------------------> nicstamp, which unwraps and maps it itself
 *      | not masked
 *      v
 *   vr_ptp.h, set and steered --------> /dev/ptpN, sockets' stamps
 *
 * The counter runs freely, so that a daemon that steers the PTP clock is nothing that
 * nicstamp has to know. A real driver would unwrap it by reading it now and then; the
 * rack knows the counter without its mask.
 *
 * Transmit stamps may be few (tx_slots): each is under way from when its packet is
 * posted until its last bit has left. While a daemon has them switched on, one slot is
 * kept free of nicstamp: ptp4l has one packet under way at a time.
 *
 * A stock driver (stock) has all that but nicstamp: it calls nothing of it.
 *
 * vrack_phc.ko: a module apart from vrack.ko. A NIC has no clock unless asked for.
 */
#include <linux/module.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/slab.h>

#include "include/nicstamp.h"
#include "vr.h"
#include "vr_ptp.h"
#include "vr_walk.h"

#define FS_PER_PS	1000
#define RAW_SHIFT	8	/* of a step's length: only nicstamp's arithmetic sees it */

struct vr_phc {
	struct nicstamp_port __rcu *port;
	struct ptp_clock *clock;
	struct ptp_clock_info info;	/* fixed, as the step and the mask */
	u32 step_ns;
	u64 mask;
	bool stock;		/* fixed: there is no port */
	u32 gap_ns;		/* fixed: the least time between two stamps for nicstamp */
	bool tx_on;		/* sockets' transmit stamps; written under RTNL, */
	int rx_filter;		/* and receive stamps: of all packets, or of none */
	spinlock_t lock;	/* all below; bottom halves off; inside vrack.lock */
	u64 offset_ns;		/* of the counter, at rack time 0 */
	u64 fast_ppb;
	u64 slow_ppb;
	u64 walk_ppb;
	u64 walk_ms;
	struct vr_walk walk;
	struct vr_ptp ptp;
	u32 tx_slots;		/* 0: any number of stamps may be under way */
	u32 tx_under_way;
	u64 stat_tx;		/* stamps given to sockets, */
	u64 stat_tx_missed;	/* and asked for while no slot was free */
};

/* ---- the counter ---- */

/* By a moment of the rack's time; phc->lock is held. */
static u64 counter_ps(struct vr_phc *phc, u64 ps)
{
	u64 fast = mul_u64_u64_div_u64(ps, phc->fast_ppb, NSEC_PER_SEC);
	u64 slow = mul_u64_u64_div_u64(ps, phc->slow_ppb, NSEC_PER_SEC);

	return ps + phc->offset_ns * VR_PS_PER_NS + fast - slow +
	       div_s64(vr_walk_ahead_fs(&phc->walk, ps), FS_PER_PS);
}

/* What the hardware has of it: whole steps. phc->lock is held. */
static u64 steps_at(struct vr_phc *phc, u64 ps)
{
	return div_u64(counter_ps(phc, ps), phc->step_ns * (u32)VR_PS_PER_NS);
}

static u64 raw_at(struct vr_phc *phc, u64 ps)
{
	u64 steps;

	spin_lock_bh(&phc->lock);
	steps = steps_at(phc, ps);
	spin_unlock_bh(&phc->lock);
	return steps & phc->mask;
}

static u64 rack_now_ps(void)
{
	return (ktime_get_ns() - vrack.epoch_ns) * VR_PS_PER_NS;
}

static u64 read_now(void *driver)
{
	return raw_at(driver, rack_now_ps());
}

/* ---- the PTP clock ---- */

static struct vr_phc *phc_of(struct ptp_clock_info *info)
{
	return container_of(info, struct vr_phc, info);
}

/* The counter now, for the PTP clock; phc->lock is held. */
static u64 ptp_count_ns(struct vr_phc *phc)
{
	return steps_at(phc, rack_now_ps()) * phc->step_ns;
}

static u64 ptp_ns_at(struct vr_phc *phc, u64 ps)
{
	u64 ns, frac;

	spin_lock_bh(&phc->lock);
	ns = vr_ptp_at(&phc->ptp, steps_at(phc, ps) * phc->step_ns, &frac);
	spin_unlock_bh(&phc->lock);
	return ns;
}

static int ptp_gettimex(struct ptp_clock_info *info, struct timespec64 *ts,
			struct ptp_system_timestamp *sts)
{
	u64 ns;

	ptp_read_system_prets(sts);
	ns = ptp_ns_at(phc_of(info), rack_now_ps());
	ptp_read_system_postts(sts);
	*ts = ns_to_timespec64(ns);
	return 0;
}

static int ptp_settime(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	struct vr_phc *phc = phc_of(info);

	if (ts->tv_sec < 0)
		return -EINVAL;
	spin_lock_bh(&phc->lock);
	vr_ptp_set(&phc->ptp, ptp_count_ns(phc), timespec64_to_ns(ts));
	spin_unlock_bh(&phc->lock);
	return 0;
}

static int ptp_adjtime(struct ptp_clock_info *info, s64 delta_ns)
{
	struct vr_phc *phc = phc_of(info);

	spin_lock_bh(&phc->lock);
	phc->ptp.ns += delta_ns;
	spin_unlock_bh(&phc->lock);
	return 0;
}

static int ptp_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct vr_phc *phc = phc_of(info);

	spin_lock_bh(&phc->lock);
	vr_ptp_steer(&phc->ptp, ptp_count_ns(phc), scaled_ppm);
	spin_unlock_bh(&phc->lock);
	return 0;
}

/* Simulated time stands still while bottom halves are off: both are of one moment. */
static int ptp_crosststamp(struct ptp_clock_info *info, struct system_device_crosststamp *both)
{
	local_bh_disable();
	tp_crosststamp_now(both);
	both->device = ns_to_ktime(ptp_ns_at(phc_of(info), rack_now_ps()));
	local_bh_enable();
	return 0;
}

static int ptp_enable(struct ptp_clock_info *info, struct ptp_clock_request *request, int on)
{
	return -EOPNOTSUPP;
}

static const struct ptp_clock_info ptp_info = {
	.owner		= THIS_MODULE,
	.max_adj	= VR_PTP_MAX_PPB,
	.gettimex64	= ptp_gettimex,
	.settime64	= ptp_settime,
	.adjtime	= ptp_adjtime,
	.adjfine	= ptp_adjfine,
	.getcrosststamp	= ptp_crosststamp,
	.enable		= ptp_enable,
};

static int ptp_index(const struct vr_nic *nic)
{
	return ptp_clock_index(nic->phc->clock);
}

/* It begins with what the counter says: hosts are apart until somebody steers. */
static int register_ptp(struct vr_phc *phc, const char *name)
{
	u64 count_ns;

	phc->info = ptp_info;
	strscpy(phc->info.name, name, sizeof(phc->info.name));
	spin_lock_bh(&phc->lock);
	count_ns = ptp_count_ns(phc);
	vr_ptp_init(&phc->ptp, count_ns, count_ns);
	spin_unlock_bh(&phc->lock);
	/* not the net device's child, which moves between namespaces */
	phc->clock = ptp_clock_register(&phc->info, NULL);
	if (!phc->clock)
		return -EOPNOTSUPP;
	return PTR_ERR_OR_ZERO(phc->clock);
}

/* ---- SIOCSHWTSTAMP and SIOCGHWTSTAMP ---- */

static int hwtstamp_get(struct vr_nic *nic, struct tp_hwtstamp_config *config)
{
	config->tx_type = nic->phc->tx_on ? HWTSTAMP_TX_ON : HWTSTAMP_TX_OFF;
	config->rx_filter = nic->phc->rx_filter;
	return 0;
}

/*
 * Which packets are stamped on arrival cannot be chosen: all or none. A stock driver takes other
 * filters too, as real ones do, and has no packets that pass them.
 */
static int hwtstamp_set(struct vr_nic *nic, struct tp_hwtstamp_config *config)
{
	struct vr_phc *phc = nic->phc;

	if (config->tx_type != HWTSTAMP_TX_OFF && config->tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	WRITE_ONCE(phc->tx_on, config->tx_type == HWTSTAMP_TX_ON);
	if (config->rx_filter == HWTSTAMP_FILTER_NONE || phc->stock)
		WRITE_ONCE(phc->rx_filter, config->rx_filter);
	else
		WRITE_ONCE(phc->rx_filter, HWTSTAMP_FILTER_ALL);
	return hwtstamp_get(nic, config);
}

/* ---- knobs ---- */

/* Each clock of a rack walks its own way, by the rack's seed. phc->lock is held. */
static void set_walk(struct vr_phc *phc, u16 node, const struct vr_phc_knobs *k)
{
	u64 seed = READ_ONCE(vrack.rng) + node;

	if (phc->walk_ppb == k->walk_ppb && phc->walk_ms == k->walk_ms)
		return;
	phc->walk_ppb = k->walk_ppb;
	phc->walk_ms = k->walk_ms;
	vr_walk_begin(&phc->walk, seed, k->walk_ppb, k->walk_ms, rack_now_ps());
}

static void set(struct vr_phc *phc, u16 node, const struct vr_phc_knobs *k)
{
	spin_lock_bh(&phc->lock);
	phc->offset_ns = k->offset_ns;
	phc->fast_ppb = k->fast_ppb;
	phc->slow_ppb = k->slow_ppb;
	phc->tx_slots = k->tx_slots;
	set_walk(phc, node, k);
	spin_unlock_bh(&phc->lock);
}

static int create(struct vr_nic *nic, const struct vr_phc_knobs *k)
{
	struct vr_phc *phc = kzalloc(sizeof(*phc), GFP_KERNEL);
	struct nicstamp_info info = {
		.read = read_now,
		.driver = phc,
		.bits = k->bits,
		.mult = k->step_ns << RAW_SHIFT,
		.shift = RAW_SHIFT,
		.step_ns = k->step_ns,
		.gap_ns = k->gap_ns,
	};
	int err;

	if (!phc)
		return -ENOMEM;
	spin_lock_init(&phc->lock);
	phc->step_ns = k->step_ns;
	phc->stock = k->stock;
	phc->gap_ns = k->gap_ns;
	phc->mask = k->bits < 64 ? BIT_ULL(k->bits) - 1 : U64_MAX;
	set(phc, nic->node.id, k);
	err = register_ptp(phc, nic->node.name);
	if (err)
		goto free;
	if (!phc->stock)
		err = nicstamp_port_add(&phc->port, nic->dev, &info);
	if (err)
		goto unregister;
	vr_phc_attach(nic, phc);
	return 0;
unregister:
	ptp_clock_unregister(phc->clock);
free:
	kfree(phc);
	return err;
}

/* No packet of the NIC is in hand any more once the grace period is over. */
static void destroy(struct vr_nic *nic)
{
	struct vr_phc *phc = nic->phc;

	if (!phc)
		return;
	vr_phc_attach(nic, NULL);
	synchronize_net();
	nicstamp_port_del(&phc->port);
	ptp_clock_unregister(phc->clock);
	kfree(phc);
}

static struct vr_phc_knobs knobs_of(const struct vr_nic *nic)
{
	const struct vr_phc *phc = nic->phc;

	return (struct vr_phc_knobs) {
		.on = 1,
		.stock = phc->stock,
		.offset_ns = phc->offset_ns,
		.fast_ppb = phc->fast_ppb,
		.slow_ppb = phc->slow_ppb,
		.step_ns = phc->step_ns,
		.bits = fls64(phc->mask),
		.tx_slots = phc->tx_slots,
		.gap_ns = phc->gap_ns,
		.walk_ppb = phc->walk_ppb,
		.walk_ms = phc->walk_ms,
	};
}

/* Sleeps. A new offset or rate is a step of the clock. */
static int apply(struct vr_nic *nic, const struct vr_phc_knobs *k)
{
	if (!k->on) {
		destroy(nic);
		return 0;
	}
	if (!nic->phc)
		return create(nic, k);
	if (nic->phc->step_ns != k->step_ns || fls64(nic->phc->mask) != k->bits ||
	    nic->phc->stock != k->stock || nic->phc->gap_ns != k->gap_ns)
		return -EBUSY;
	set(nic->phc, nic->node.id, k);
	return 0;
}

/* ---- packets ---- */

/* With @left others free. */
static bool take_slot(struct vr_phc *phc, u32 left)
{
	bool free;

	spin_lock_bh(&phc->lock);
	free = !phc->tx_slots || phc->tx_under_way + left < phc->tx_slots;
	phc->tx_under_way += free;
	spin_unlock_bh(&phc->lock);
	return free;
}

/* A packet in a ring may be of the time of another clock of this NIC. */
static void give_slot(struct vr_phc *phc)
{
	spin_lock_bh(&phc->lock);
	phc->tx_under_way -= phc->tx_under_way > 0;
	spin_unlock_bh(&phc->lock);
}

static u8 wanted_by_socket(struct vr_phc *phc, struct sk_buff *skb)
{
	bool slot = take_slot(phc, 0);

	spin_lock_bh(&phc->lock);
	phc->stat_tx_missed += !slot;
	spin_unlock_bh(&phc->lock);
	if (!slot)
		return 0;
	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	return VR_STAMP_SOCKET;
}

static u8 wanted(struct vr_nic *nic, struct sk_buff *skb)
{
	struct vr_phc *phc = nic->phc;
	bool tx_on = READ_ONCE(phc->tx_on);
	bool slot;

	if (tx_on && skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP)
		return wanted_by_socket(phc, skb);
	if (phc->stock || !nicstamp_active())
		return 0;
	slot = take_slot(phc, tx_on);
	if (nicstamp_tx_wanted(&phc->port, skb, slot))
		return VR_STAMP_FLOW;
	if (slot)
		give_slot(phc);
	return 0;
}

static void forget(struct vr_nic *nic, struct sk_buff *skb)
{
	if (vr_cb(skb)->stamp)
		give_slot(nic->phc);
	vr_cb(skb)->stamp = 0;
}

static void tell_socket(struct vr_phc *phc, struct sk_buff *skb, u64 last_ps)
{
	struct skb_shared_hwtstamps stamps = {
		.hwtstamp = ns_to_ktime(ptp_ns_at(phc, last_ps)),
	};

	skb_tstamp_tx(skb, &stamps);
	spin_lock_bh(&phc->lock);
	phc->stat_tx++;
	spin_unlock_bh(&phc->lock);
}

/* @frame of @skb has left. */
static void sent(struct vr_nic *nic, struct sk_buff *skb, const struct vr_frame *frame,
		 u64 last_ps)
{
	u8 stamp = vr_cb(skb)->stamp;

	vr_truth_sent(skb, frame, nic->node.id, last_ps);
	if (!(frame->cb.flags & VR_F_LAST) || !stamp)
		return;
	if (stamp & VR_STAMP_SOCKET)
		tell_socket(nic->phc, skb, last_ps);
	else
		nicstamp_tx(&nic->phc->port, skb, raw_at(nic->phc, last_ps));
	give_slot(nic->phc);
}

/* @skb, its data at the network header, goes to the host. */
static void received(struct vr_nic *nic, struct sk_buff *skb, u64 last_ps)
{
	struct vr_phc *phc = nic->phc;

	vr_truth_received(skb, nic->node.id, last_ps);
	/* what a host on the way had put there is not this NIC's */
	skb_hwtstamps(skb)->hwtstamp =
		READ_ONCE(phc->rx_filter) == HWTSTAMP_FILTER_ALL ?
		ns_to_ktime(ptp_ns_at(phc, last_ps)) : 0;
	if (!phc->stock)
		nicstamp_rx(&phc->port, skb, raw_at(phc, last_ps));
}

/* ---- what there is to see ---- */

/* Finer than its steps; phc->lock is held. */
static u64 fine_ns_at(struct vr_phc *phc, u64 ps)
{
	u64 frac;

	return vr_ptp_at(&phc->ptp, div_u64(counter_ps(phc, ps), VR_PS_PER_NS), &frac);
}

static u64 now_ns(const struct vr_nic *nic)
{
	struct vr_phc *phc = nic->phc;
	u64 ns;

	spin_lock_bh(&phc->lock);
	ns = fine_ns_at(phc, rack_now_ps());
	spin_unlock_bh(&phc->lock);
	return ns;
}

static void show_clock(struct seq_file *m, const char *name, struct vr_phc *phc, u64 now_ps)
{
	u64 ns;

	spin_lock_bh(&phc->lock);
	ns = fine_ns_at(phc, now_ps);
	seq_printf(m,
		   "\"%s\":{\"ptp\":%d,\"ns\":%llu,\"tx_stamps\":%llu,\"tx_missed\":%llu}",
		   name, ptp_clock_index(phc->clock), ns, phc->stat_tx, phc->stat_tx_missed);
	spin_unlock_bh(&phc->lock);
}

/* Another member of the rack's object: all clocks at one moment. */
static void show_clocks(struct seq_file *m, u64 now_ps)
{
	const char *comma = "";
	struct vr_node *node;

	seq_puts(m, ",\"clocks\":{");
	list_for_each_entry(node, &vrack.nodes, list) {
		if (node->kind != VR_NIC || !vr_nic(node)->phc)
			continue;
		seq_puts(m, comma);
		show_clock(m, node->name, vr_nic(node)->phc, now_ps);
		comma = ",";
	}
	seq_puts(m, "}");
}

static void show(struct seq_file *m, u64 now_ps)
{
	vr_truth_show(m);
	show_clocks(m, now_ps);
}

static const struct vr_phc_ops ops = {
	.knobs_of	= knobs_of,
	.apply		= apply,
	.ptp_index	= ptp_index,
	.hwtstamp_get	= hwtstamp_get,
	.hwtstamp_set	= hwtstamp_set,
	.wanted		= wanted,
	.forget		= forget,
	.sent		= sent,
	.received	= received,
	.now_ns		= now_ns,
	.reset		= vr_truth_reset,
	.show		= show,
};

static int __init vr_phc_load(void)
{
	int err = vr_pairs_begin();

	if (err)
		return err;
	err = vr_truth_begin();
	if (err)
		vr_pairs_end();
	else
		vr_phc_register(&ops);
	return err;
}

static void __exit vr_phc_unload(void)
{
	vr_phc_unregister();
	vr_truth_end();
	vr_pairs_end();
}

module_init(vr_phc_load);
module_exit(vr_phc_unload);

MODULE_DESCRIPTION("Clocks and hardware stamps for the virtual rack");
MODULE_LICENSE("GPL");
