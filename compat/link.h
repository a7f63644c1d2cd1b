/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device says of itself: the speed of its link, for a qdisc, and how long received
 * frames wait.
 *
 * __ethtool_get_link_ksettings() wants the RTNL.  In newer kernels it also takes the lock for
 * operations of drivers with queue management or shapers.  A qdisc's init and change run under
 * that lock, and would wait for themselves.
 */
#ifndef TURNPIKE_COMPAT_LINK_H
#define TURNPIKE_COMPAT_LINK_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>

#include "compat/compat.h"

#ifdef TP_HAVE_NETDEV_LOCK_OPS
#include <net/netdev_lock.h>
#else
static inline void netdev_lock_ops(struct net_device *dev) { }
static inline void netdev_unlock_ops(struct net_device *dev) { }
#endif

static inline int tp_qdisc_get_link_ksettings(struct net_device *dev,
					      struct ethtool_link_ksettings *settings)
{
#ifdef TP_HAVE_LINK_KSETTINGS_UNLOCKED
	return netif_get_link_ksettings(dev, settings);
#else
	return __ethtool_get_link_ksettings(dev, settings);
#endif
}

/*
 * Longest time that a received frame waits for an interrupt, in microseconds; 0: none, or not
 * known.  The caller holds the RTNL, but not the device's lock.
 */
static inline u32 tp_get_rx_usecs(struct net_device *dev)
{
	struct ethtool_coalesce settings = { .cmd = ETHTOOL_GCOALESCE };
	const struct ethtool_ops *ops = dev->ethtool_ops;
	struct kernel_ethtool_coalesce more = {};
	int err;

	/* A device that is down may sleep, and some drivers read registers for the answer. */
	if (!netif_device_present(dev) || !netif_running(dev) || !ops->get_coalesce)
		return 0;
	netdev_lock_ops(dev);
	err = ops->begin ? ops->begin(dev) : 0;
	if (!err) {
		err = ops->get_coalesce(dev, &settings, &more, NULL);
		if (ops->complete)
			ops->complete(dev);
	}
	netdev_unlock_ops(dev);
	return err ? 0 : settings.rx_coalesce_usecs;
}

#endif /* TURNPIKE_COMPAT_LINK_H */
