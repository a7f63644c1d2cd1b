// SPDX-License-Identifier: GPL-2.0
/*
 * The generic feed stamps packets (TIMELY15) of devices whose drivers know nothing of nicstamp,
 * by the host's clock, at the driver's border. The kernel has tracepoints there:
 *
 *   qdisc --> net_dev_start_xmit --> ndo_start_xmit()
 *
 *   driver --> napi_gro_receive_entry, napi_gro_frags_entry ---------------> GRO --> stack
 *          --> netif_receive_skb_entry, netif_receive_skb_list_entry --------------> stack
 *          --> netif_rx_entry --> backlog -----------------------------------------> stack
 *
 * A driver hands a packet over in one of these ways, and the packet passes none of them for the
 * same device again. A packet tap would clone all sent packets, and see received ones after GRO.
 *
 * The NIC's own stamps of received frames are better, if a program reports readings of that
 * clock (nicstamp_follow.c).
 *
 * The operator chooses the devices. The probes are registered while the feed has a device and
 * a consumer subscribed; packets of other devices then cost a look into a table.
 */
#include <linux/hashtable.h>
#include <linux/if.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/tracepoint.h>
#include <trace/events/net.h>

#include "nicstamp_feed.h"
#include "nicstamp_packet.h"
#include "nicstamp_port.h"

/* A host has a few NICs, hardly two of them in one bucket. */
#define NICSTAMP_FEED_BITS	6

/* Ports of the feed, by device. Writers hold nicstamp_lock, readers use RCU. */
static DEFINE_HASHTABLE(nicstamp_feeds, NICSTAMP_FEED_BITS);
static u32 nicstamp_feed_ports;		/* in it; nicstamp_lock */
static bool nicstamp_feed_watches;	/* the probes are registered; nicstamp_lock */

/* -- packets -------------------------------------------------------------------- */

/* RCU read side. */
static struct nicstamp_port *nicstamp_feed_port(const struct net_device *dev)
{
	struct nicstamp_port *port;

	hash_for_each_possible_rcu(nicstamp_feeds, port, by_dev, (unsigned long)dev) {
		if (port->dev == dev)
			return port;
	}
	return NULL;
}

static void nicstamp_feed_sent(void *data, const struct sk_buff *skb,
			       const struct net_device *dev)
{
	struct nicstamp_port *port;

	if (!nicstamp_flow_any())
		return;
	rcu_read_lock();
	port = nicstamp_feed_port(dev);
	if (port)
		nicstamp_host_tx(port, skb);
	rcu_read_unlock();
}

static void nicstamp_feed_received(void *data, const struct sk_buff *skb)
{
	struct nicstamp_port *port;

	if (!nicstamp_rx_matters())
		return;
	rcu_read_lock();
	port = nicstamp_feed_port(skb->dev);
	if (port)
		nicstamp_host_rx(port, skb);
	rcu_read_unlock();
}

/* -- probes ---------------------------------------------------------------------- */

/* The kernel does not export the tracepoints, but a module can find them by name. */
static struct nicstamp_feed_probe {
	const char *name;
	void *function;
	struct tracepoint *at;	/* NULL until found; nicstamp_lock */
} nicstamp_feed_probes[] = {
	{ "net_dev_start_xmit", nicstamp_feed_sent },
	{ "napi_gro_receive_entry", nicstamp_feed_received },
	{ "napi_gro_frags_entry", nicstamp_feed_received },
	{ "netif_receive_skb_entry", nicstamp_feed_received },
	{ "netif_receive_skb_list_entry", nicstamp_feed_received },
	{ "netif_rx_entry", nicstamp_feed_received },
};

/* Makes the compiler check the arguments of the tracepoints. */
static void nicstamp_feed_check(void)
{
	check_trace_callback_type_net_dev_start_xmit(nicstamp_feed_sent);
	check_trace_callback_type_napi_gro_receive_entry(nicstamp_feed_received);
	check_trace_callback_type_napi_gro_frags_entry(nicstamp_feed_received);
	check_trace_callback_type_netif_receive_skb_entry(nicstamp_feed_received);
	check_trace_callback_type_netif_receive_skb_list_entry(nicstamp_feed_received);
	check_trace_callback_type_netif_rx_entry(nicstamp_feed_received);
}

static void nicstamp_feed_find(struct tracepoint *at, void *data)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(nicstamp_feed_probes); i++) {
		if (!strcmp(at->name, nicstamp_feed_probes[i].name))
			nicstamp_feed_probes[i].at = at;
	}
}

/* Unregisters the probes before @end; when this returns, no CPU is in one. */
static void nicstamp_feed_unwatch(u32 end)
{
	while (end-- > 0)
		tracepoint_probe_unregister(nicstamp_feed_probes[end].at,
					    nicstamp_feed_probes[end].function, NULL);
	tracepoint_synchronize_unregister();
}

static int nicstamp_feed_watch(void)
{
	struct nicstamp_feed_probe *probe;
	int err;
	u32 i;

	nicstamp_feed_check();
	for_each_kernel_tracepoint(nicstamp_feed_find, NULL);
	for (i = 0; i < ARRAY_SIZE(nicstamp_feed_probes); i++) {
		probe = &nicstamp_feed_probes[i];
		err = probe->at ? tracepoint_probe_register(probe->at, probe->function, NULL) :
				  -ENOENT;
		if (err) {
			pr_err("nicstamp: cannot watch the tracepoint %s: %d\n", probe->name,
			       err);
			nicstamp_feed_unwatch(i);
			return err;
		}
	}
	return 0;
}

/* To be called with nicstamp_lock after devices or subscribers came or went. */
int nicstamp_feed_update(void)
{
	bool wanted = nicstamp_feed_ports && static_key_enabled(&nicstamp_listened);
	int err = 0;

	if (wanted == nicstamp_feed_watches)
		return 0;
	if (wanted)
		err = nicstamp_feed_watch();
	else
		nicstamp_feed_unwatch(ARRAY_SIZE(nicstamp_feed_probes));
	nicstamp_feed_watches = wanted && !err;
	return err;
}

/* How many probes are registered? */
u32 nicstamp_feed_probe_count(void)
{
	return READ_ONCE(nicstamp_feed_watches) ? ARRAY_SIZE(nicstamp_feed_probes) : 0;
}

/* -- devices --------------------------------------------------------------------- */

/* Can the feed stamp packets of the device? */
static int nicstamp_feed_check_device(const struct net_device *dev,
				      struct netlink_ext_ack *extack)
{
	/* the probes run with preemption off, and may not take that kernel's locks */
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		NL_SET_ERR_MSG(extack, "a kernel with PREEMPT_RT has no generic feed");
		return -EOPNOTSUPP;
	}
	if (dev->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "the loopback device has no driver");
		return -EOPNOTSUPP;
	}
	if (!list_empty(&dev->adj_list.lower)) {
		NL_SET_ERR_MSG(extack, "the device lies upon another: use that one");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* The caller of these two holds nicstamp_lock. */
static int nicstamp_feed_enter(struct nicstamp_port *port, struct netlink_ext_ack *extack)
{
	const struct nicstamp_port *other = nicstamp_port_of(port->dev);
	int err;

	if (other)
		return nicstamp_port_refuse(other, -EEXIST, extack);
	nicstamp_feed_ports++;
	err = nicstamp_feed_update();
	if (err) {
		nicstamp_feed_ports--;
		NL_SET_ERR_MSG(extack, "the kernel's tracepoints cannot be watched");
		return err;
	}
	hash_add_rcu(nicstamp_feeds, &port->by_dev, (unsigned long)port->dev);
	nicstamp_port_enter(port);
	return 0;
}

static void nicstamp_feed_leave(struct nicstamp_port *port)
{
	hash_del_rcu(&port->by_dev);
	nicstamp_port_leave(port);
	nicstamp_feed_ports--;
	nicstamp_feed_update();
}

/* nicstamp_lock: removes the feed's port of @dev from all tables and returns it, or NULL. */
struct nicstamp_port *nicstamp_feed_take_out(const struct net_device *dev)
{
	struct nicstamp_port *port = nicstamp_port_of(dev);

	if (!port || !port->generic)
		return NULL;
	nicstamp_feed_leave(port);
	return port;
}

static struct nicstamp_port *nicstamp_feed_alloc(struct net_device *dev)
{
	struct nicstamp_port *port = nicstamp_port_alloc(dev, &nicstamp_info_host, true);

	if (port)
		port->generic = true;
	return port;
}

/* RTNL. */
int nicstamp_feed_use(struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct nicstamp_port *port;
	int err = nicstamp_feed_check_device(dev, extack);

	if (err)
		return err;
	port = nicstamp_feed_alloc(dev);
	if (!port)
		return -ENOMEM;
	mutex_lock(&nicstamp_lock);
	err = nicstamp_feed_enter(port, extack);
	mutex_unlock(&nicstamp_lock);
	if (err)
		nicstamp_port_free(port);
	return err;
}

/* RTNL. */
int nicstamp_feed_drop(struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct nicstamp_port *port;
	int err = 0;

	mutex_lock(&nicstamp_lock);
	port = nicstamp_feed_take_out(dev);
	if (!port)
		err = nicstamp_port_refuse(nicstamp_port_of(dev), -ENOENT, extack);
	mutex_unlock(&nicstamp_lock);
	nicstamp_port_free(port);
	return err;
}

/*
 * A device that moves to another namespace, or gets another name, is the same one still. Only
 * its state tells such a move from its end.
 */
static int nicstamp_feed_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	struct net_device *dev = netdev_notifier_info_to_dev(data);

	if (event == NETDEV_UNREGISTER && dev->reg_state == NETREG_UNREGISTERING)
		nicstamp_feed_drop(dev, NULL);
	return NOTIFY_DONE;
}

static struct notifier_block nicstamp_feed_notifier = {
	.notifier_call = nicstamp_feed_notify,
};

int __init nicstamp_feed_init(void)
{
	return register_netdevice_notifier(&nicstamp_feed_notifier);
}

/* No new device can come meanwhile. */
void nicstamp_feed_exit(void)
{
	struct nicstamp_port *port;
	struct hlist_node *next;
	u32 i;

	rtnl_lock();
	hash_for_each_safe(nicstamp_feeds, i, next, port, by_dev)
		nicstamp_feed_drop(port->dev, NULL);
	rtnl_unlock();
	unregister_netdevice_notifier(&nicstamp_feed_notifier);
}
