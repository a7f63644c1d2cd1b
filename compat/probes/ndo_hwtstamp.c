// SPDX-License-Identifier: GPL-2.0
/* Has a device functions of its own for the timestamps that sockets ask for? */
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>

int probe(struct net_device *dev, struct kernel_hwtstamp_config *config);
int probe(struct net_device *dev, struct kernel_hwtstamp_config *config)
{
	return dev->netdev_ops->ndo_hwtstamp_set(dev, config, NULL);
}
