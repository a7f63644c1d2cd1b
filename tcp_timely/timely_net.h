/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tcp_timely (TIMELY15, ECNDELAY16) has for a network namespace.
 */
#ifndef TIMELY_NET_H
#define TIMELY_NET_H

#include <linux/mutex.h>
#include <linux/sysctl.h>
#include <net/netns/generic.h>

#define TIMELY_VARIANTS		3

struct timely_config;
struct timely_stats;
struct timely_table;

struct timely_net {
	struct timely_config __rcu *config[TIMELY_VARIANTS];
	struct mutex lock;		/* writers of config */
	struct timely_stats __percpu *stats;
	struct ctl_table_header *header[TIMELY_VARIANTS];
	struct timely_table *table[TIMELY_VARIANTS];
};

extern unsigned int timely_net_id;

static inline struct timely_net *timely_net(const struct net *net)
{
	return net_generic(net, timely_net_id);
}

#endif /* TIMELY_NET_H */
