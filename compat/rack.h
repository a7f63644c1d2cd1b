/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels that only the virtual rack meets: the inside of the kernel's timers,
 * and requests to drivers of NICs with clocks.
 */
#ifndef TURNPIKE_COMPAT_RACK_H
#define TURNPIKE_COMPAT_RACK_H

#include <linux/hrtimer.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "turnpike_config.h"

#ifdef TP_HAVE_HRTIMER_BASES
#include <linux/hrtimer_bases.h>
#endif

/* The first timer of a clock, or NULL. Interrupts are off. */
static inline struct hrtimer *tp_hrtimer_first(struct hrtimer_clock_base *base)
{
#ifdef TP_HAVE_TIMERQUEUE_LINKED
	struct timerqueue_linked_node *node = timerqueue_linked_first(&base->active);
#else
	struct timerqueue_node *node = timerqueue_getnext(&base->active);
#endif

	return node ? container_of(node, struct hrtimer, node) : NULL;
}

/* Puts the times of the system's clocks into @both. */
static inline void tp_crosststamp_now(struct system_device_crosststamp *both)
{
	struct system_time_snapshot system;

#ifdef TP_HAVE_KTIME_SNAPSHOT_ID
	ktime_get_snapshot_id(both->clock_id, &system);
	both->sys_systime = system.systime;
	both->sys_monoraw = system.monoraw;
#else
	ktime_get_snapshot(&system);
	both->sys_realtime = system.real;
	both->sys_monoraw = system.raw;
#endif
}

/*
 * TP_HWTSTAMP_OPS are the members of net_device_ops by which SIOCGHWTSTAMP and SIOCSHWTSTAMP
 * reach these two functions of the virtual NIC.  The caller holds the RTNL.
 */
#ifdef TP_HAVE_NDO_HWTSTAMP
#define tp_hwtstamp_config	kernel_hwtstamp_config
#else
#define tp_hwtstamp_config	hwtstamp_config
#endif

int vr_nic_hwtstamp_get(struct net_device *dev, struct tp_hwtstamp_config *config);
int vr_nic_hwtstamp_set(struct net_device *dev, struct tp_hwtstamp_config *config);

#ifdef TP_HAVE_NDO_HWTSTAMP
#define TP_HWTSTAMP_OPS							\
	.ndo_hwtstamp_get	= vr_nic_hwtstamp_get,			\
	.ndo_hwtstamp_set	= tp_hwtstamp_set

static inline int tp_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *config,
				  struct netlink_ext_ack *extack)
{
	return vr_nic_hwtstamp_set(dev, config);
}
#else
#define TP_HWTSTAMP_OPS		.ndo_eth_ioctl = tp_hwtstamp_ioctl

static inline int tp_hwtstamp_ioctl(struct net_device *dev, struct ifreq *ifr, int cmd)
{
	struct hwtstamp_config config = {};
	int err;

	if (cmd == SIOCGHWTSTAMP) {
		err = vr_nic_hwtstamp_get(dev, &config);
	} else if (cmd == SIOCSHWTSTAMP) {
		if (copy_from_user(&config, ifr->ifr_data, sizeof(config)))
			return -EFAULT;
		err = vr_nic_hwtstamp_set(dev, &config);
	} else {
		return -EOPNOTSUPP;
	}
	if (err)
		return err;
	return copy_to_user(ifr->ifr_data, &config, sizeof(config)) ? -EFAULT : 0;
}
#endif

#endif /* TURNPIKE_COMPAT_RACK_H */
