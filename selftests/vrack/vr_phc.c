// SPDX-License-Identifier: GPL-2.0
/*
 * A NIC's own clock and hardware stamps, and the reference use of nicstamp's driver
 * interface (include/nicstamp.h). The counter counts steps of step_ns from an offset,
 * fast or slow, and wraps at its width. A transmit stamp is of the last bit of a
 * packet's last frame, a receive stamp of the last bit of the frame.
 *
 * vrack_phc.ko: a module apart from vrack.ko. A NIC has no clock unless asked for.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "include/nicstamp.h"
#include "vr.h"

#define RAW_SHIFT	8	/* of a step's length: only nicstamp's arithmetic sees it */

struct vr_phc {
	struct nicstamp_port __rcu *port;
	spinlock_t lock;	/* offset and rates; bottom halves off; inside vrack.lock */
	u64 offset_ns;		/* at rack time 0 */
	u64 fast_ppb;
	u64 slow_ppb;
	u32 step_ns;		/* fixed, as the width */
	u64 mask;
};

/* The counter at a moment of the rack's time. */
static u64 raw_at(struct vr_phc *phc, u64 ps)
{
	u64 fast, slow;

	spin_lock_bh(&phc->lock);
	fast = mul_u64_u64_div_u64(ps, phc->fast_ppb, NSEC_PER_SEC);
	slow = mul_u64_u64_div_u64(ps, phc->slow_ppb, NSEC_PER_SEC);
	ps += phc->offset_ns * VR_PS_PER_NS + fast - slow;
	spin_unlock_bh(&phc->lock);
	return div_u64(ps, phc->step_ns * (u32)VR_PS_PER_NS) & phc->mask;
}

static u64 read_now(void *driver)
{
	return raw_at(driver, (ktime_get_ns() - vrack.epoch_ns) * VR_PS_PER_NS);
}

static void set(struct vr_phc *phc, const struct vr_phc_knobs *k)
{
	spin_lock_bh(&phc->lock);
	phc->offset_ns = k->offset_ns;
	phc->fast_ppb = k->fast_ppb;
	phc->slow_ppb = k->slow_ppb;
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
	};
	int err;

	if (!phc)
		return -ENOMEM;
	spin_lock_init(&phc->lock);
	phc->step_ns = k->step_ns;
	phc->mask = k->bits < 64 ? BIT_ULL(k->bits) - 1 : U64_MAX;
	set(phc, k);
	err = nicstamp_port_add(&phc->port, nic->dev, &info);
	if (err) {
		kfree(phc);
		return err;
	}
	vr_phc_attach(nic, phc);
	return 0;
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
	kfree(phc);
}

static struct vr_phc_knobs knobs_of(const struct vr_nic *nic)
{
	const struct vr_phc *phc = nic->phc;

	return (struct vr_phc_knobs) {
		.on = 1,
		.offset_ns = phc->offset_ns,
		.fast_ppb = phc->fast_ppb,
		.slow_ppb = phc->slow_ppb,
		.step_ns = phc->step_ns,
		.bits = fls64(phc->mask),
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
	if (nic->phc->step_ns != k->step_ns || fls64(nic->phc->mask) != k->bits)
		return -EBUSY;
	set(nic->phc, k);
	return 0;
}

/* ---- packets ---- */

static bool wanted(struct vr_nic *nic, struct sk_buff *skb)
{
	return nicstamp_tx_wanted(&nic->phc->port, skb, true);
}

/* @frame of @skb has left. */
static void sent(struct vr_nic *nic, struct sk_buff *skb, const struct vr_frame *frame,
		 u64 last_ps)
{
	vr_truth_sent(skb, frame, last_ps);
	if (frame->cb.flags & VR_F_LAST && vr_cb(skb)->stamp)
		nicstamp_tx(&nic->phc->port, skb, raw_at(nic->phc, last_ps));
}

/* @skb, its data at the network header, goes to the host. */
static void received(struct vr_nic *nic, struct sk_buff *skb, u64 last_ps)
{
	vr_truth_received(skb, last_ps);
	nicstamp_rx(&nic->phc->port, skb, raw_at(nic->phc, last_ps));
}

static const struct vr_phc_ops ops = {
	.knobs_of	= knobs_of,
	.apply		= apply,
	.wanted		= wanted,
	.sent		= sent,
	.received	= received,
	.reset		= vr_truth_reset,
	.show		= vr_truth_show,
};

static int __init vr_phc_load(void)
{
	int err = vr_truth_begin();

	if (!err)
		vr_phc_register(&ops);
	return err;
}

static void __exit vr_phc_unload(void)
{
	vr_phc_unregister();
	vr_truth_end();
}

module_init(vr_phc_load);
module_exit(vr_phc_unload);

MODULE_DESCRIPTION("Clocks and hardware stamps for the virtual rack");
MODULE_LICENSE("GPL");
