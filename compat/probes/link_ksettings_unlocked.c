// SPDX-License-Identifier: GPL-2.0
/* Does the usual call for a link's settings take the device's lock, and another not? */
#include <linux/ethtool.h>
#include <linux/netdevice.h>

int probe(struct net_device *dev, struct ethtool_link_ksettings *settings);
int probe(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	return netif_get_link_ksettings(dev, settings);
}
