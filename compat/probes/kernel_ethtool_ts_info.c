// SPDX-License-Identifier: GPL-2.0
/* Is a device's information about timestamps a kernel-only structure? */
#include <linux/ethtool.h>

static int get(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	return 0;
}

const struct ethtool_ops probe_ops = { .get_ts_info = get };
