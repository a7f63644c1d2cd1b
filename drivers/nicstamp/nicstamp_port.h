/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NICs and their clocks (TIMELY15, section 5), and the users of these (nicstamp_port.c).
 *
 *   raw stamp --> nanoseconds of the NIC's clock --> and of the system's
 */
#ifndef NICSTAMP_PORT_H
#define NICSTAMP_PORT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/seqlock.h>
#include <linux/workqueue.h>

#include "include/nicstamp.h"
#include "nicstamp_clock.h"
#include "nicstamp_follow.h"
#include "nicstamp_stat.h"

struct netlink_ext_ack;

/* Longer steps make stamps useless. */
#define NICSTAMP_STEP_MAX_NS	1000000

/* A NIC and its clock. The driver's calls hold it; readers of lists use RCU. */
struct nicstamp_port {
	/* fixed */
	struct nicstamp_info info;
	struct net_device *dev;	/* the driver, or the feed, removes the port first */
	u32 number;		/* from 1 */
	bool host;		/* nicstamp takes the stamps, by the host's clock */
	bool generic;		/* of the generic feed: the driver knows nothing of it */
	/* counter and map have one writer, the work. Writers of follow, which is a generic
	 * port's, hold nicstamp_lock, or are packets that find it wrong.
	 */
	seqlock_t lock;
	struct nicstamp_counter counter;
	struct nicstamp_map map;
	struct nicstamp_follow follow;
	u64 read_ns;		/* system's clock at the last reading; only the work uses it */
	u64 next_ns;		/* no packet gets a stamp before; lockless: one too many may */
	struct nicstamp_stats __percpu *stats;
	struct delayed_work work;
	struct list_head list;
	struct hlist_node by_dev;	/* of the generic feed; nicstamp_lock, RCU */
	u32 owner;		/* socket of the program that reads the NIC's clock for follow; 0:
				 * none; writers hold nicstamp_lock
				 */
};

/* A stamp in nanoseconds of a clock, which has a number. */
struct nicstamp_stamp {
	u64 ns;
	u64 sys_ns;		/* the same moment by the system's clock */
	u64 error_ns;		/* bound of its error; U64_MAX: sys_ns is not known */
	u32 clock;
	bool by_nic;		/* the NIC stamped, not the host */
};

extern struct mutex nicstamp_lock;	/* ports and subscribers */
extern struct list_head nicstamp_ports;	/* writers hold nicstamp_lock */
extern const struct nicstamp_info nicstamp_info_host;	/* the host's own clock */

void nicstamp_clocks_want(void);
void nicstamp_clocks_unwant(void);
void nicstamp_port_stamp(struct nicstamp_port *port, u64 raw, struct nicstamp_stamp *stamp);
struct nicstamp_port *nicstamp_port_of(const struct net_device *dev);
struct nicstamp_port *nicstamp_port_of_number(u32 number);
bool nicstamp_info_is_sound(const struct nicstamp_info *info);
struct nicstamp_port *nicstamp_port_alloc(struct net_device *dev, const struct nicstamp_info *info,
					  bool host);
void nicstamp_port_enter(struct nicstamp_port *port);
void nicstamp_port_leave(struct nicstamp_port *port);
void nicstamp_port_free(struct nicstamp_port *port);
int nicstamp_port_refuse(const struct nicstamp_port *port, int err,
			 struct netlink_ext_ack *extack);
void nicstamp_port_exit(void);

static inline void nicstamp_port_count(struct nicstamp_port *port, enum stamps_stat stat)
{
	this_cpu_inc(port->stats->count[stat]);
	nicstamp_count(stat);
}

#endif /* NICSTAMP_PORT_H */
