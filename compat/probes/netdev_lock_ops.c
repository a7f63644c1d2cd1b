// SPDX-License-Identifier: GPL-2.0
/* Do drivers have a lock of their own for ethtool's operations? */
#include <linux/netdevice.h>
#include <net/netdev_lock.h>

void probe(struct net_device *dev);
void probe(struct net_device *dev)
{
	netdev_lock_ops(dev);
	netdev_unlock_ops(dev);
}
