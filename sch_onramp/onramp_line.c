// SPDX-License-Identifier: GPL-2.0
/*
 * The wire behind the qdisc: its rate, and a gate for drivers that take all they get.
 *
 * A pause works on what waits in the qdisc.  A driver with byte queue limits (BQL) takes little
 * more than the wire needs.  One without takes a whole ring, beyond the reach of pauses.  For
 * such a driver the qdisc hands out packets no faster than the line.  Not in ONRAMP21.
 *
 * The first packets show whether a driver has BQL: it counts them (dql.num_queued).
 */
#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

#include "compat/link.h"
#include "onramp_burst.h"
#include "onramp_sched.h"

/* After so many packets without a sign of BQL the driver counts as having none. */
#define ONRAMP_LINE_LOOKS	16

/* A packet's length has the Ethernet header, but not FCS 4, preamble 8 and gap 12. */
#define ONRAMP_LINE_FRAME	24

/* The gate runs so far ahead of the wire: timers are late by some microseconds, and must not make
 * the wire idle.
 */
#define ONRAMP_LINE_AHEAD_NS	(20 * NSEC_PER_USEC)

/* An unprivileged user's namespace may have thousands of qdiscs: an event looks at those of its
 * device.  The kernel's own table of a namespace's devices has as many buckets.
 */
#define ONRAMP_LINE_HASH_BITS	8

static DEFINE_HASHTABLE(onramp_lines, ONRAMP_LINE_HASH_BITS);	/* all, by device; RTNL */
static LIST_HEAD(onramp_line_stale);	/* those that the worker is to ask; RTNL */

/* Bytes per second; 0: the device does not say. */
static u64 onramp_line_rate(const struct ethtool_link_ksettings *ks)
{
	if (!ks->base.speed || ks->base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return ks->base.speed * 125000ULL;
}

/* For callers that hold the RTNL alone. */
static u64 onramp_line_ask(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (!netif_device_present(dev) || __ethtool_get_link_ksettings(dev, &ks))
		return 0;
	return onramp_line_rate(&ks);
}

/* For a qdisc's init and change: the kernel calls these with all locks that a driver's operations
 * need.
 */
static u64 onramp_line_ask_locked(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (!netif_device_present(dev) || tp_qdisc_get_link_ksettings(dev, &ks))
		return 0;
	return onramp_line_rate(&ks);
}

/* A hypervisor's speed for these is a number and no wire's: guests on one host are faster.  The
 * list has the names of their drivers.
 */
static const char * const onramp_line_nominal[] = {
	"hv_netvsc", "vif", "virtio_net", "vmxnet3",
};

static bool onramp_line_has_wire(const struct net_device *dev)
{
	const struct device *parent = dev->dev.parent;

	return parent && !(parent->driver &&
			   match_string(onramp_line_nominal, ARRAY_SIZE(onramp_line_nominal),
					parent->driver->name) >= 0);
}

/* A device without hardware (veth) reports a speed and sends at once.  Its packets are not spread
 * over time, and it has a gate only if the operator asks for one.
 */
static bool onramp_line_is_real(const struct onramp_sched *q)
{
	return q->config.line_rate || q->config.gate == ONRAMP_GATE_ON || q->line.real ||
	       q->line.bql == ONRAMP_BQL_YES;
}

static void onramp_line_decide(struct onramp_sched *q)
{
	struct onramp_line *line = &q->line;
	u64 rate = q->config.line_rate ?: line->rate;
	u64 mult = 0;

	if (rate && onramp_line_is_real(q))
		mult = div64_u64((u64)NSEC_PER_SEC << ONRAMP_LINE_SHIFT, rate);
	WRITE_ONCE(line->mult, min_t(u64, mult, U32_MAX));
	q->burst_per_line = onramp_burst_per_line(rate);
	if (q->config.gate == ONRAMP_GATE_AUTO)
		line->gated = q->config.pause_on && mult && line->bql == ONRAMP_BQL_NO;
	else
		line->gated = mult && q->config.gate == ONRAMP_GATE_ON;
}

static void onramp_line_set(struct onramp_sched *q, u64 rate)
{
	ASSERT_RTNL();
	q->line.rate = rate;
	q->line.real = onramp_line_has_wire(qdisc_dev(q->sch));
	sch_tree_lock(q->sch);
	onramp_line_decide(q);
	sch_tree_unlock(q->sch);
}

/* The qdisc is new, or its options changed. */
void onramp_line_refresh(struct onramp_sched *q)
{
	onramp_line_set(q, onramp_line_ask_locked(qdisc_dev(q->sch)));
}

/* Warns of a requested gate that has no rate. */
void onramp_line_advise(const struct onramp_sched *q, struct netlink_ext_ack *extack)
{
	if (q->config.gate == ONRAMP_GATE_ON && !q->line.mult)
		NL_SET_ERR_MSG_MOD(extack, "gate on: the device tells no speed, say line_rate");
}

/* Until BQL is known: has the driver counted the packets it got so far? */
void onramp_line_look(struct onramp_sched *q, const struct sk_buff *skb)
{
#ifdef CONFIG_BQL
	const struct netdev_queue *txq = netdev_get_tx_queue(qdisc_dev(q->sch),
							     skb_get_queue_mapping(skb));

	if (READ_ONCE(txq->dql.num_queued)) {
		q->line.bql = ONRAMP_BQL_YES;
	} else {
		if (++q->line.looks < ONRAMP_LINE_LOOKS)
			return;
		q->line.bql = ONRAMP_BQL_NO;
	}
#else
	q->line.bql = ONRAMP_BQL_NO;
#endif
	onramp_line_decide(q);
	/* An unprivileged user's namespace may make qdiscs: those fill no log of the host. */
	if (q->line.gated && net_eq(q->net, &init_net) && net_ratelimit())
		netdev_info(qdisc_dev(q->sch),
			    "onramp: no byte queue limits, packets go out at %llu Mbit/s (gate off: as they come)\n",
			    div_u64(q->config.line_rate ?: q->line.rate, 125000));
}

/* A packet goes to the driver: the wire is busy with it. */
void onramp_line_sent(struct onramp_sched *q, const struct sk_buff *skb, u64 now_ns)
{
	struct onramp_line *line = &q->line;
	u32 frames = skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
	u64 start_ns = max(line->free_ns, now_ns - min_t(u64, now_ns, ONRAMP_LINE_AHEAD_NS));

	line->free_ns = start_ns + onramp_line_ns(line, qdisc_pkt_len(skb) +
						  frames * ONRAMP_LINE_FRAME);
}

/* Gives the RTNL back after each qdisc, so that others need not wait for all. */
static bool onramp_line_refresh_first(void)
{
	struct onramp_sched *q;

	rtnl_lock();
	q = list_first_entry_or_null(&onramp_line_stale, struct onramp_sched, line.stale);
	if (q) {
		list_del_init(&q->line.stale);
		onramp_line_set(q, onramp_line_ask(qdisc_dev(q->sch)));
	}
	rtnl_unlock();
	return q;
}

static void onramp_line_work(struct work_struct *work)
{
	while (onramp_line_refresh_first())
		cond_resched();
}

static DECLARE_WORK(onramp_line_worker, onramp_line_work);

/* The caller may hold the device's lock or not, so a worker asks the device. */
static int onramp_line_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct onramp_sched *q;

	if (event != NETDEV_UP && event != NETDEV_CHANGE)
		return NOTIFY_DONE;
	hash_for_each_possible(onramp_lines, q, line.node, (unsigned long)dev) {
		if (qdisc_dev(q->sch) != dev)
			continue;
		list_move_tail(&q->line.stale, &onramp_line_stale);
		schedule_work(&onramp_line_worker);
	}
	return NOTIFY_DONE;
}

static struct notifier_block onramp_line_notifier = {
	.notifier_call = onramp_line_event,
};

void onramp_line_add(struct onramp_sched *q)
{
	ASSERT_RTNL();
	hash_add(onramp_lines, &q->line.node, (unsigned long)qdisc_dev(q->sch));
}

void onramp_line_del(struct onramp_sched *q)
{
	hash_del(&q->line.node);
	list_del_init(&q->line.stale);
}

int onramp_line_init(void)
{
	return register_netdevice_notifier(&onramp_line_notifier);
}

void onramp_line_exit(void)
{
	unregister_netdevice_notifier(&onramp_line_notifier);
	cancel_work_sync(&onramp_line_worker);
}
