/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The speed of a device's link, asked for by a qdisc.
 *
 * __ethtool_get_link_ksettings() wants the RTNL and, on newer kernels, takes the lock that
 * drivers with queue management or shapers have for their operations.  A qdisc's init and
 * change run under that lock, and would wait for themselves.
 */
#ifndef TURNPIKE_COMPAT_LINK_H
#define TURNPIKE_COMPAT_LINK_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>

#include "compat/compat.h"

static inline int tp_qdisc_get_link_ksettings(struct net_device *dev,
					      struct ethtool_link_ksettings *settings)
{
#ifdef TP_HAVE_LINK_KSETTINGS_UNLOCKED
	return netif_get_link_ksettings(dev, settings);
#else
	return __ethtool_get_link_ksettings(dev, settings);
#endif
}

#endif /* TURNPIKE_COMPAT_LINK_H */
