/* SPDX-License-Identifier: GPL-2.0 */
/* Stock drivers' devices whose NIC stamps received frames (TIMELY15) (nicstamp_follow.c). */
#ifndef NICSTAMP_FOLLOWED_H
#define NICSTAMP_FOLLOWED_H

#include <linux/skbuff.h>

#include "nicstamp_port.h"

int nicstamp_follow_init(void);
void nicstamp_follow_exit(void);
int nicstamp_follow_device(struct net_device *dev, u32 owner, u32 step_ns, u32 *number,
			   struct netlink_ext_ack *extack);
int nicstamp_follow_tell(u32 number, u32 owner, const struct nicstamp_crossing *crossing,
			 struct netlink_ext_ack *extack);
void nicstamp_follow_improve(struct nicstamp_port *port, const struct sk_buff *skb, u64 now_ns,
			     struct nicstamp_stamp *stamp);

/* Does a program read the NIC's clock, so that its stamps are of use? */
static inline bool nicstamp_follow_is_on(const struct nicstamp_port *port)
{
	return READ_ONCE(port->owner);
}

#endif /* NICSTAMP_FOLLOWED_H */
