// SPDX-License-Identifier: GPL-2.0
/* Do devices say how long before its time they accept a packet? */
#include <linux/netdevice.h>

u64 probe(const struct net_device *dev);
u64 probe(const struct net_device *dev)
{
	return dev->max_pacing_offload_horizon;
}
