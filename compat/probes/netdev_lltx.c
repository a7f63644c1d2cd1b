// SPDX-License-Identifier: GPL-2.0
/* Is "transmits without the queue lock" a bit of the device? */
#include <linux/netdevice.h>

void probe(struct net_device *dev);
void probe(struct net_device *dev)
{
	dev->lltx = true;
}
