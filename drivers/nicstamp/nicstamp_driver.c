// SPDX-License-Identifier: GPL-2.0
/*
 * What drivers of NICs call (TIMELY15, section 5): include/nicstamp.h says how. Only this file
 * reads and writes a driver's pointer to its port.
 *
 *   ports    --> nicstamp_feed.c (lets go of the device), nicstamp_port.c
 *   packets  --> nicstamp_packet.c
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/skbuff.h>

#include "nicstamp_feed.h"
#include "nicstamp_packet.h"
#include "nicstamp_port.h"

/* A NIC whose driver gives stamps of its PTP clock has one register for the next stamp.  A
 * kworker asks for it over the bus until it is there: some 10 us.  With this gap that takes a
 * tenth of a CPU at most.
 */
#define NICSTAMP_PTP_GAP_NS	(100 * NSEC_PER_USEC)

/* -- ports: each call sleeps ------------------------------------------------------ */

static int nicstamp_driver_add(struct nicstamp_port __rcu **portp, struct net_device *dev,
			       const struct nicstamp_info *info, bool host)
{
	struct nicstamp_port *port, *generic;

	if (!nicstamp_info_is_sound(info)) {
		netdev_err(dev, "nicstamp: no clock with these properties\n");
		return -EINVAL;
	}
	port = nicstamp_port_alloc(dev, info, host);
	if (!port) {
		netdev_err(dev, "nicstamp: no memory\n");
		return -ENOMEM;
	}
	mutex_lock(&nicstamp_lock);
	if (rcu_access_pointer(*portp)) {
		mutex_unlock(&nicstamp_lock);
		netdev_err(dev, "nicstamp: the device has a port already\n");
		nicstamp_port_free(port);
		return -EEXIST;
	}
	generic = nicstamp_feed_take_out(dev);
	nicstamp_port_enter(port);
	rcu_assign_pointer(*portp, port);
	mutex_unlock(&nicstamp_lock);
	if (generic)
		netdev_info(dev, "nicstamp: the driver gives stamps, which are used from now on\n");
	nicstamp_port_free(generic);
	return 0;
}

int nicstamp_port_add(struct nicstamp_port __rcu **portp, struct net_device *dev,
		      const struct nicstamp_info *info)
{
	return nicstamp_driver_add(portp, dev, info, false);
}
EXPORT_SYMBOL_GPL(nicstamp_port_add);

static u64 nicstamp_read_ptp(void *driver)
{
	struct ptp_clock_info *ptp = driver;
	struct timespec64 now = {};

	if (ptp->gettimex64)
		ptp->gettimex64(ptp, &now, NULL);
	else
		ptp->gettime64(ptp, &now);
	return timespec64_to_ns(&now);
}

int nicstamp_port_add_ptp(struct nicstamp_port __rcu **portp, struct net_device *dev,
			  struct ptp_clock_info *ptp, u32 step_ns)
{
	struct nicstamp_info info = {
		.read = nicstamp_read_ptp,
		.driver = ptp,
		.bits = 64,
		.mult = 1,
		.step_ns = step_ns,
		.gap_ns = NICSTAMP_PTP_GAP_NS,
		.no_tso = true,
	};

	return nicstamp_driver_add(portp, dev, &info, false);
}
EXPORT_SYMBOL_GPL(nicstamp_port_add_ptp);

int nicstamp_port_add_host(struct nicstamp_port __rcu **portp, struct net_device *dev)
{
	return nicstamp_driver_add(portp, dev, &nicstamp_info_host, true);
}
EXPORT_SYMBOL_GPL(nicstamp_port_add_host);

/*
 * A driver may stop from two places at once, of which one may not hold RTNL (a reset). One of
 * them takes the port, and the other waits for the mutex until the port is gone.
 */
void nicstamp_port_del(struct nicstamp_port __rcu **portp)
{
	struct nicstamp_port *port;

	mutex_lock(&nicstamp_lock);
	port = rcu_replace_pointer(*portp, NULL, lockdep_is_held(&nicstamp_lock));
	if (port)
		nicstamp_port_leave(port);
	nicstamp_port_free(port);
	mutex_unlock(&nicstamp_lock);
}
EXPORT_SYMBOL_GPL(nicstamp_port_del);

/* -- packets: any context -------------------------------------------------------- */

/* Is the stamp of @skb wanted?  A packet too soon after the last stamp has no slot. */
static bool nicstamp_want(struct nicstamp_port *port, const struct sk_buff *skb, bool slot)
{
	u64 now_ns;

	if (!port->info.gap_ns)
		return nicstamp_ask(port, skb, slot);
	now_ns = ktime_get_ns();
	if (!nicstamp_ask(port, skb, slot && now_ns >= READ_ONCE(port->next_ns)))
		return false;
	WRITE_ONCE(port->next_ns, now_ns + port->info.gap_ns);
	return true;
}

bool __nicstamp_tx_wanted(struct nicstamp_port __rcu **portp, const struct sk_buff *skb,
			  bool slot)
{
	struct nicstamp_port *port;
	bool wanted = false;

	if (!nicstamp_may_lock())
		return false;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port && port->host)
		nicstamp_host_tx(port, skb);
	else if (port)
		wanted = nicstamp_want(port, skb, slot);
	rcu_read_unlock();
	return wanted;
}
EXPORT_SYMBOL_GPL(__nicstamp_tx_wanted);

void __nicstamp_tx(struct nicstamp_port __rcu **portp, const struct sk_buff *skb, u64 raw)
{
	struct nicstamp_port *port;

	if (!nicstamp_may_lock())
		return;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port && !port->host)
		nicstamp_sent(port, skb, raw);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nicstamp_tx);

void __nicstamp_rx(struct nicstamp_port __rcu **portp, const struct sk_buff *skb, u64 raw)
{
	struct nicstamp_port *port;

	if (!nicstamp_rx_matters() || !nicstamp_may_lock())
		return;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port && !port->host)
		nicstamp_received(port, skb, raw);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nicstamp_rx);

void __nicstamp_rx_skb(struct nicstamp_port __rcu **portp, struct sk_buff *skb)
{
	ktime_t stamp = skb_hwtstamps(skb)->hwtstamp;
	struct nicstamp_port *port;

	if (!nicstamp_rx_matters() || !nicstamp_may_lock())
		return;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port && port->host)
		nicstamp_host_rx(port, skb);
	else if (port && stamp)
		nicstamp_received(port, skb, ktime_to_ns(stamp));
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nicstamp_rx_skb);
