/* SPDX-License-Identifier: GPL-2.0 */
/* Devices of the generic feed of stamps (TIMELY15) (nicstamp_feed.c). */
#ifndef NICSTAMP_FEED_H
#define NICSTAMP_FEED_H

#include <linux/netdevice.h>

#include "nicstamp_port.h"

int nicstamp_feed_init(void);
void nicstamp_feed_exit(void);
int nicstamp_feed_update(void);
u32 nicstamp_feed_probe_count(void);
struct nicstamp_port *nicstamp_feed_take_out(const struct net_device *dev);
int nicstamp_feed_use(struct net_device *dev, struct netlink_ext_ack *extack);
int nicstamp_feed_drop(struct net_device *dev, struct netlink_ext_ack *extack);

#endif /* NICSTAMP_FEED_H */
