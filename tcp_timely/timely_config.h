/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of a namespace (TIMELY15, ECNDELAY16), as sysctls publish them (timely_sysctl.c).
 */
#ifndef TIMELY_CONFIG_H
#define TIMELY_CONFIG_H

#include <linux/types.h>

#include "timely_host.h"
#include "timely_state.h"

struct net;

/* One published set of settings.  Readers hold the RCU read lock.  A change makes a new
 * set, so no reader sees half of a preset.
 */
struct timely_config {
	struct timely_params params;
	struct timely_host host;
	u32 line_wire_mult;		/* of host.line_rate_mbps; 0: ask the device */
	u32 default_wire_mult;		/* of host.default_line_rate_mbps */
	struct rcu_head rcu;
};

int timely_sysctl_init(struct net *net);
void timely_sysctl_exit(struct net *net);

#endif /* TIMELY_CONFIG_H */
