// SPDX-License-Identifier: GPL-2.0
/*
 * Output devices: the line rate of each, how long its received frames wait for an
 * interrupt, how much it receives, and how many flows send through it.
 *
 * A flow starts at C / (N + 1), and subtracts the wire time of a burst from its RTT
 * (TIMELY15): both need the speed of the device under the route.  A read of that takes
 * the RTNL and, since Linux 7.2, the lock of the device.  The notifier's caller may hold
 * that lock or not, so a worker reads, which holds only the RTNL:
 *
 *     REGISTER      UP, CHANGE, ...      a flow starts and      UNREGISTER
 *         |                |             the speed is not known       |
 *         v                v                        |                 v
 *      in table -----> stale <----------------------+         out of table, freed with
 *         ^              |                                    the last flow that held it
 *         |              v
 *      flows find it  worker: speed read anew
 *
 * The owner of a namespace may have thousands of devices, and the whole host waits for a holder of
 * the RTNL.  So the notifier looks only at its device, and the workers at those on their lists.
 */
#include <linux/completion.h>
#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/rtnetlink.h>

#include "compat/compat.h"
#include "compat/link.h"
#include "timely_dev.h"
#include "timely_stat.h"

/* As many as the kernel's own table of a namespace's devices has. */
#define TIMELY_DEV_HASH_BITS	8

/* The module asks a device that does not tell its speed again this often at most. */
#define TIMELY_DEV_ASK_AGAIN	HZ

/* Loading waits for the devices' speeds no longer than this, see timely_dev_init(). */
#define TIMELY_DEV_START_WAIT	(HZ / 10)

/* No driver's default is longer; an operator who sets more does not care for queues. */
#define TIMELY_DEV_WAIT_MAX_US	1000U

/*
 * While flows send, a worker reads the receive counters so often.  40 ms are longer than a queue
 * lives and shorter than an operator's patience; a read costs microseconds.
 */
#define TIMELY_DEV_RX_EVERY	(HZ / 25)

/*
 * For a device with more links than this the worker reads the device's own counter.  No bond has
 * so many, and a walk over all of them, that often, would keep the RTNL from others.
 */
#define TIMELY_DEV_RX_LINKS	64

/* Loopback has no line: only the engine's max_rate_bps binds there. */
#define TIMELY_LOOPBACK_BPS	400000000000ULL

static DEFINE_HASHTABLE(timely_devs, TIMELY_DEV_HASH_BITS);	/* RTNL; read: RCU */

/* Flows put devices on the lists, in any context; only a holder of the RTNL takes them off. */
static DEFINE_SPINLOCK(timely_dev_lock);
static LIST_HEAD(timely_dev_stale);	/* whose speed is to be read; timely_dev_lock */
static LIST_HEAD(timely_dev_watched);	/* whose receive counters are read; timely_dev_lock */

static struct timely_dev *timely_dev_find(const struct net_device *dev)
{
	struct timely_dev *d;

	hash_for_each_possible_rcu(timely_devs, d, node, (unsigned long)dev,
				   lockdep_rtnl_is_held()) {
		if (d->dev == dev)
			return d;
	}
	return NULL;
}

/* Caller holds the RCU read lock or the RTNL.  NULL: not in the table. */
struct timely_dev *timely_dev_get(const struct net_device *dev)
{
	struct timely_dev *d = timely_dev_find(dev);

	return d && refcount_inc_not_zero(&d->refs) ? d : NULL;
}

static void timely_dev_free(struct rcu_head *head)
{
	struct timely_dev *d = container_of(head, struct timely_dev, rcu);

	free_percpu(d->active);
	kfree(d);
}

void timely_dev_put(struct timely_dev *d)
{
	if (d && refcount_dec_and_test(&d->refs))
		call_rcu(&d->rcu, timely_dev_free);
}

/* A flow may begin on one CPU and end on another: only the sum means something. */
unsigned int timely_dev_flows(const struct timely_dev *d)
{
	int cpu, sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(d->active, cpu));
	return max(sum, 0);
}

static u64 timely_dev_speed_bps(struct net_device *dev)
{
	struct ethtool_link_ksettings ks;

	if (!netif_device_present(dev) || __ethtool_get_link_ksettings(dev, &ks) ||
	    !ks.base.speed || ks.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return ks.base.speed * 1000000ULL;
}

/* Devices that claim a constant speed: bytes do not take that long to leave. */
static bool timely_dev_pretends(const struct net_device *dev)
{
	const char *kind = dev->rtnl_link_ops ? dev->rtnl_link_ops->kind : "";

	return !strcmp(kind, "veth") || !strcmp(kind, "tun");
}

/* A flow over a bond leaves through one of its links, at that link's speed. */
static u64 timely_dev_link_bps(struct net_device *dev)
{
	struct net_device *lower;
	struct list_head *iter;
	u64 fastest = 0;

	netdev_for_each_lower_dev(dev, lower, iter)
		fastest = max(fastest, timely_dev_speed_bps(lower));
	return fastest;
}

/* For a bond the longest wait of its links counts: any of them may bring an ACK. */
static u32 timely_dev_wait_ns(struct net_device *dev)
{
	u32 longest_us = tp_get_rx_usecs(dev);
	struct net_device *lower;
	struct list_head *iter;

	netdev_for_each_lower_dev(dev, lower, iter)
		longest_us = max(longest_us, tp_get_rx_usecs(lower));
	return min(longest_us, TIMELY_DEV_WAIT_MAX_US) * NSEC_PER_USEC;
}

static void timely_dev_refresh(struct timely_dev *d, struct net_device *dev)
{
	u64 line_bps, link_bps;

	ASSERT_RTNL();
	timely_stat_inc(dev_net(dev), TIMELY_STAT_SPEED_READS);
	if (dev->flags & IFF_LOOPBACK) {
		line_bps = TIMELY_LOOPBACK_BPS;
		link_bps = line_bps;
	} else {
		line_bps = timely_dev_speed_bps(dev);
		link_bps = timely_dev_link_bps(dev) ?: line_bps;
		line_bps = line_bps ?: link_bps;
	}
	WRITE_ONCE(d->sure, line_bps && !(dev->flags & IFF_LOOPBACK) &&
			    !timely_dev_pretends(dev));
	WRITE_ONCE(d->wire_mult, link_bps ? timely_wire_mult(link_bps) : 0);
	WRITE_ONCE(d->coalesce_ns, timely_dev_wait_ns(dev));
	WRITE_ONCE(d->line_rate_bps, line_bps);
}

/* Gives the RTNL back after each device, so that others need not wait for all. */
static bool timely_dev_refresh_first(struct list_head *stale)
{
	struct timely_dev *d;

	rtnl_lock();
	spin_lock_bh(&timely_dev_lock);
	d = list_first_entry_or_null(stale, struct timely_dev, stale);
	if (d)
		list_del_init(&d->stale);
	spin_unlock_bh(&timely_dev_lock);
	if (d)
		timely_dev_refresh(d, (struct net_device *)d->dev);
	rtnl_unlock();
	return d;
}

static void timely_dev_work(struct work_struct *work)
{
	LIST_HEAD(stale);

	spin_lock_bh(&timely_dev_lock);
	list_splice_init(&timely_dev_stale, &stale);
	spin_unlock_bh(&timely_dev_lock);
	while (timely_dev_refresh_first(&stale))
		cond_resched();
}

static DECLARE_WORK(timely_dev_worker, timely_dev_work);

/* Any context, also under the lock of the device. */
static void timely_dev_changed(struct timely_dev *d)
{
	bool more;

	spin_lock_bh(&timely_dev_lock);
	more = !d->gone && list_empty(&d->stale);
	if (more)
		list_add_tail(&d->stale, &timely_dev_stale);
	spin_unlock_bh(&timely_dev_lock);
	if (more)
		schedule_work(&timely_dev_worker);
}

/* A flow needs a speed that is not known; any context. */
void timely_dev_ask(struct timely_dev *d)
{
	unsigned long asked = READ_ONCE(d->asked);

	if (time_before(jiffies, asked + TIMELY_DEV_ASK_AGAIN))
		return;
	WRITE_ONCE(d->asked, jiffies);
	timely_dev_changed(d);
}

/* A bond or a bridge, which reports no change itself, may know its speed by a link's. */
static void timely_dev_ask_master(struct net_device *dev)
{
	struct net_device *master = netdev_master_upper_dev_get(dev);
	struct timely_dev *d = master ? timely_dev_find(master) : NULL;

	if (d && !d->line_rate_bps)
		timely_dev_ask(d);
}

static void timely_dev_add(struct net_device *dev)
{
	struct timely_dev *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);

	if (!d)
		return;
	d->active = alloc_percpu_gfp(int, GFP_KERNEL_ACCOUNT);
	if (!d->active) {
		kfree(d);
		return;
	}
	d->dev = dev;
	d->asked = jiffies - TIMELY_DEV_ASK_AGAIN;
	INIT_LIST_HEAD(&d->stale);
	INIT_LIST_HEAD(&d->watch);
	refcount_set(&d->refs, 1);
	hash_add_rcu(timely_devs, &d->node, (unsigned long)dev);
	timely_dev_changed(d);
}

static void timely_dev_remove(struct timely_dev *d)
{
	hash_del_rcu(&d->node);
	spin_lock_bh(&timely_dev_lock);
	d->gone = true;
	list_del_init(&d->stale);
	list_del_init(&d->watch);
	spin_unlock_bh(&timely_dev_lock);
	timely_dev_put(d);
}

static int timely_dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct timely_dev *d = timely_dev_find(dev);

	switch (event) {
	case NETDEV_REGISTER:
		if (!d)
			timely_dev_add(dev);
		break;
	case NETDEV_UNREGISTER:
		if (d)
			timely_dev_remove(d);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEUPPER:
	case NETDEV_CHANGELOWERSTATE:
		if (d)
			timely_dev_changed(d);
		timely_dev_ask_master(dev);
		break;
	default:
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block timely_dev_notifier = {
	.notifier_call = timely_dev_event,
};

static u64 timely_dev_received(struct net_device *dev)
{
	struct rtnl_link_stats64 stats;

	return dev_get_stats(dev, &stats)->rx_bytes;
}

/*
 * For a VLAN or a bond, the bytes that the links below it receive: ACKs wait there.  A bridge has
 * containers below, whose packets come from this host.
 */
static u64 timely_dev_rx_bytes(struct net_device *dev)
{
	struct net_device *lower;
	struct list_head *iter;
	unsigned int links = 0;
	u64 bytes = 0;

	if (netif_is_bridge_master(dev))
		return timely_dev_received(dev);
	netdev_for_each_lower_dev(dev, lower, iter) {
		if (++links > TIMELY_DEV_RX_LINKS)
			return timely_dev_received(dev);
		bytes += timely_dev_received(lower);
	}
	return bytes ?: timely_dev_received(dev);
}

/* Links come and go, and their counters with them: an impossible difference counts as 0. */
static void timely_dev_look_at_rx(struct timely_dev *d)
{
	u64 bytes = timely_dev_rx_bytes((struct net_device *)d->dev);
	ktime_t now = ktime_get();
	u64 elapsed_us = max(ktime_us_delta(now, d->rx_time), 1LL);
	u64 per_ms = 0;

	if (d->rx_time && bytes > d->rx_bytes)
		per_ms = div64_u64((bytes - d->rx_bytes) * USEC_PER_MSEC, elapsed_us);
	d->rx_bytes = bytes;
	d->rx_time = now;
	WRITE_ONCE(d->rx_bytes_per_ms, min_t(u64, per_ms, U32_MAX));
}

/*
 * Without flows the worker looks once more: a flow that just begins may not be counted yet.
 */
static bool timely_dev_watch_on(struct timely_dev *d, bool flows)
{
	bool stays;

	spin_lock_bh(&timely_dev_lock);
	stays = flows || d->watched;
	WRITE_ONCE(d->watched, flows);
	if (stays)
		list_move_tail(&d->watch, &timely_dev_watched);
	else
		list_del_init(&d->watch);
	spin_unlock_bh(&timely_dev_lock);
	return stays;
}

/* Under the RTNL, so @d stays in the table. */
static bool timely_dev_watch(struct timely_dev *d)
{
	bool flows = timely_dev_flows(d);

	if (flows) {
		timely_dev_look_at_rx(d);
	} else {
		d->rx_time = 0;
		WRITE_ONCE(d->rx_bytes_per_ms, 0);
	}
	return timely_dev_watch_on(d, flows);
}

static void timely_dev_rx_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(timely_dev_rx_worker, timely_dev_rx_work);

/* As timely_dev_refresh_first(), but does not wait for the RTNL; true: @watched may have more. */
static bool timely_dev_watch_first(struct list_head *watched, bool *again)
{
	struct timely_dev *d;

	if (!rtnl_trylock())
		return false;
	spin_lock_bh(&timely_dev_lock);
	d = list_first_entry_or_null(watched, struct timely_dev, watch);
	spin_unlock_bh(&timely_dev_lock);
	/* Only this worker and holders of the RTNL take devices off. */
	if (d)
		*again |= timely_dev_watch(d);
	rtnl_unlock();
	return d;
}

/* If another holds the RTNL, the next look is soon enough for the devices that are left. */
static void timely_dev_rx_work(struct work_struct *work)
{
	LIST_HEAD(watched);
	bool again = false;

	spin_lock_bh(&timely_dev_lock);
	list_splice_init(&timely_dev_watched, &watched);
	spin_unlock_bh(&timely_dev_lock);
	while (timely_dev_watch_first(&watched, &again))
		cond_resched();
	spin_lock_bh(&timely_dev_lock);
	again |= !list_empty(&watched);
	list_splice(&watched, &timely_dev_watched);
	spin_unlock_bh(&timely_dev_lock);
	if (again)
		schedule_delayed_work(&timely_dev_rx_worker, TIMELY_DEV_RX_EVERY);
}

/* A flow begins to send through @d; any context. */
void timely_dev_watch_rx(struct timely_dev *d)
{
	if (READ_ONCE(d->watched))
		return;
	spin_lock_bh(&timely_dev_lock);
	if (!d->gone) {
		WRITE_ONCE(d->watched, true);
		if (list_empty(&d->watch))
			list_add_tail(&d->watch, &timely_dev_watched);
	}
	spin_unlock_bh(&timely_dev_lock);
	schedule_delayed_work(&timely_dev_rx_worker, 0);
}

static DECLARE_COMPLETION(timely_dev_started);

static void timely_dev_start(struct work_struct *work)
{
	/* Reports devices that exist as if they were registered now; the notifier never fails. */
	WARN_ON(register_netdevice_notifier(&timely_dev_notifier));
	flush_work(&timely_dev_worker);
	complete(&timely_dev_started);
}

static DECLARE_WORK(timely_dev_starter, timely_dev_start);

/*
 * Registering takes the RTNL.  The loader of the module may hold that and wait for the module (a
 * route with "congctl timely").  So a worker registers, and a flow that begins before has no device
 * yet.  If the RTNL is free, the worker is done at once, and the first flow finds the speeds.
 */
void timely_dev_init(void)
{
	schedule_work(&timely_dev_starter);
	wait_for_completion_timeout(&timely_dev_started, TIMELY_DEV_START_WAIT);
}

/* No flow is left that could ask.  No holder of the RTNL waits for the module. */
void timely_dev_exit(void)
{
	struct hlist_node *next;
	struct timely_dev *d;
	int bucket;

	flush_work(&timely_dev_starter);
	/* Reports every device as unregistered, which empties the table. */
	unregister_netdevice_notifier(&timely_dev_notifier);
	cancel_work_sync(&timely_dev_worker);
	cancel_delayed_work_sync(&timely_dev_rx_worker);
	hash_for_each_safe(timely_devs, bucket, next, d, node)
		timely_dev_remove(d);
	rcu_barrier();
}
