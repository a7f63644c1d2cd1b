// SPDX-License-Identifier: GPL-2.0
/* ndo_eth_ioctl is there as well where it is no longer asked for stamps. */
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>

struct kernel_hwtstamp_config { int none_but_this_file_has_it; };

int (*probe(struct net_device *dev))(struct net_device *, struct ifreq *, int);
int (*probe(struct net_device *dev))(struct net_device *, struct ifreq *, int)
{
	return dev->netdev_ops->ndo_eth_ioctl;
}
