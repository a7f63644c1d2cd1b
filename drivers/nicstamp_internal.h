/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of nicstamp.ko share.
 *
 *   driver --> nicstamp_packet.c --> flow's records --> nicstamp_sample.c --> consumer
 *                    |               (nicstamp_match.h)
 *                    +-- raw stamp to ns, and to the system's clock: nicstamp_port.c
 */
#ifndef NICSTAMP_INTERNAL_H
#define NICSTAMP_INTERNAL_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "include/nicstamp.h"
#include "include/nicstamp_sample.h"
#include "include/uapi/turnpike.h"
#include "nicstamp_clock.h"
#include "nicstamp_match.h"

/* -- counters (nicstamp_stat.c) -------------------------------------------- */

struct nicstamp_stats {
	u64 count[STAMPS_STATS];
};

extern struct nicstamp_stats __percpu *nicstamp_stats;

static inline void nicstamp_count(enum stamps_stat stat)
{
	this_cpu_inc(nicstamp_stats->count[stat]);
}

int nicstamp_stat_init(void);
void nicstamp_stat_exit(void);
u64 nicstamp_stat_sum(const struct nicstamp_stats __percpu *stats, int stat);

/* -- ports (nicstamp_port.c) ----------------------------------------------- */

/* A NIC and its clock. The driver's calls hold it; lists are read under RCU. */
struct nicstamp_port {
	/* fixed */
	struct nicstamp_info info;
	struct net_device *dev;	/* the driver removes the port first */
	u32 number;		/* from 1 */
	bool host;		/* the clock is the host's, and stamps are taken by nicstamp */
	/* counter and map: one writer, the work */
	seqlock_t lock;
	struct nicstamp_counter counter;
	struct nicstamp_map map;
	u64 read_ns;		/* system's clock at the last reading; the work's alone */
	struct nicstamp_stats __percpu *stats;
	struct delayed_work work;
	struct list_head list;
};

/* A stamp in nanoseconds of a clock; clocks are told apart by number. */
struct nicstamp_stamp {
	u64 ns;
	u64 sys_ns;		/* the same moment by the system's clock, */
	u64 error_ns;		/* if not U64_MAX */
	u32 clock;
};

extern struct list_head nicstamp_ports;	/* writers hold nicstamp_lock */

void nicstamp_port_stamp(struct nicstamp_port *port, u64 raw, struct nicstamp_stamp *stamp);
void nicstamp_port_wake_all(void);

static inline void nicstamp_port_count(struct nicstamp_port *port, enum stamps_stat stat)
{
	this_cpu_inc(port->stats->count[stat]);
	nicstamp_count(stat);
}

/* -- flows (nicstamp_flow.c) ------------------------------------------------ */

/* IPv4 addresses are mapped ones. */
struct nicstamp_tuple {
	struct in6_addr local;
	struct in6_addr remote;
	__be16 local_port;
	__be16 remote_port;
};

struct nicstamp_flow {
	/* fixed while in the tables */
	struct hlist_node by_socket;	/* RCU */
	struct hlist_node by_tuple;	/* RCU */
	const struct sock *sk;		/* a name, not to be followed */
	struct nicstamp_tuple tuple;
	/* lock: all below; bottom halves off */
	spinlock_t lock;
	struct nicstamp_match match;
	u32 step_ns;			/* of the NIC that stamped last, */
	bool tx_first;			/* as in struct nicstamp_info, */
	bool host;			/* as in struct nicstamp_port */
	u32 missed;			/* as in struct nicstamp_sample */
	u64 samples;
	u64 rtt_ns;			/* the newest, */
	u64 tcp_rtt_ns;			/* and TCP's of the same ACK */
	u64 rtt_min_ns;
	struct rcu_head rcu;
};

int nicstamp_flow_init(void);
void nicstamp_flow_exit(void);
struct nicstamp_flow *nicstamp_flow_of_socket(const struct sock *sk);
struct nicstamp_flow *nicstamp_flow_of_tuple(const struct nicstamp_tuple *tuple);
void nicstamp_flow_follow(const struct sock *sk);
void nicstamp_flow_forget(const struct sock *sk);
bool nicstamp_flow_any(void);
u32 nicstamp_flow_buckets(void);
struct hlist_head *nicstamp_flow_bucket(u32 i);

/* -- consumers (nicstamp_sample.c), netlink (nicstamp_genl.c), main ---------- */

extern struct mutex nicstamp_lock;	/* ports and subscribers */

void nicstamp_unsubscribe_all(void);
int nicstamp_genl_init(void);
void nicstamp_genl_exit(void);

#endif /* NICSTAMP_INTERNAL_H */
