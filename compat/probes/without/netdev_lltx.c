// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>

void probe(struct net_device *dev);
void probe(struct net_device *dev)
{
	dev->features |= NETIF_F_LLTX;
}
