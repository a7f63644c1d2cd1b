/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of nicstamp.ko share.
 *
 *   driver --> nicstamp_driver.c        tracepoints --> nicstamp_feed.c (drivers that know
 *                    |                                   |    nothing of nicstamp)
 *                    v                                   v
 *              nicstamp_packet.c <-----------------------+
 *                    |
 *                    +---> flow's records --> nicstamp_sample.c ------> consumer
 *                    |     (nicstamp_match.h)
 *                    +---> arrivals --> nicstamp_arrive.c ------------> consumer
 *                    |     (nicstamp_arrival.h)
 *                    +---> nicstamp_depart.c ----- departures --------> consumer
 *                    +---> nicstamp_follow.c (the NIC's receive stamps, of drivers that know
 *                    |               nothing of nicstamp) <-- program's readings
 *                    +-- raw stamp to ns, and to the system's clock: nicstamp_port.c
 *
 * Files call those below them only:
 *
 *   main, netlink
 *   driver, sample
 *   feed
 *   packet
 *   flow, arrive, depart, follow
 *   port, with the lock and who wants the clocks
 *   stat
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
#include "nicstamp_arrival.h"
#include "nicstamp_clock.h"
#include "nicstamp_follow.h"
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

/* Longer steps make stamps useless, and shorter ones are not counted. */
#define NICSTAMP_STEP_MAX_NS	1000000

/* A NIC and its clock. The driver's calls hold it; lists are read under RCU. */
struct nicstamp_port {
	/* fixed */
	struct nicstamp_info info;
	struct net_device *dev;	/* the driver, or the feed, removes the port first */
	u32 number;		/* from 1 */
	bool host;		/* the clock is the host's, and stamps are taken by nicstamp, */
	bool generic;		/* by the generic feed: the driver knows nothing of it */
	/* counter and map have one writer, the work; those of follow, which is of a generic port,
	 * hold nicstamp_lock, or are packets that find it wrong
	 */
	seqlock_t lock;
	struct nicstamp_counter counter;
	struct nicstamp_map map;
	struct nicstamp_follow follow;
	u64 read_ns;		/* system's clock at the last reading; the work's alone */
	u64 next_ns;		/* before that no packet gets a stamp; lockless: one may too many */
	struct nicstamp_stats __percpu *stats;
	struct delayed_work work;
	struct list_head list;
	struct hlist_node by_dev;	/* of the generic feed; nicstamp_lock, RCU */
	u32 owner;		/* socket of the program that reads the NIC's clock for follow; 0:
				 * nobody; nicstamp_lock writes
				 */
};

/* A stamp in nanoseconds of a clock; clocks are told apart by number. */
struct nicstamp_stamp {
	u64 ns;
	u64 sys_ns;		/* the same moment by the system's clock, */
	u64 error_ns;		/* if not U64_MAX */
	u32 clock;
	bool by_nic;		/* not by the host */
};

struct netlink_ext_ack;

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

/* -- receive stamps of stock drivers (nicstamp_follow.c) ------------------------ */

int nicstamp_follow_init(void);
void nicstamp_follow_exit(void);
int nicstamp_follow_device(struct net_device *dev, u32 owner, u32 step_ns, u32 *number,
			   struct netlink_ext_ack *extack);
int nicstamp_follow_tell(u32 number, u32 owner, const struct nicstamp_crossing *crossing,
			 struct netlink_ext_ack *extack);
void nicstamp_follow_improve(struct nicstamp_port *port, const struct sk_buff *skb, u64 now_ns,
			     struct nicstamp_stamp *stamp);

/* Does a program read the NIC's clock, so that stamps by it are of use? */
static inline bool nicstamp_follow_is_on(const struct nicstamp_port *port)
{
	return READ_ONCE(port->owner);
}

/* -- flows (nicstamp_flow.c) ------------------------------------------------ */

struct nicstamp_flow {
	/* fixed while in the tables */
	struct hlist_node by_socket;	/* RCU */
	struct hlist_node by_tuple;	/* RCU */
	const struct sock *sk;		/* a name, not to be followed */
	struct nicstamp_tuple tuple;
	bool other;			/* not of the first namespace */
	/* lock: all below; bottom halves off */
	spinlock_t lock;
	struct nicstamp_match match;
	u32 step_ns;			/* of the NIC that stamped last, */
	bool tx_first;			/* as in struct nicstamp_info, */
	bool host;			/* as in struct nicstamp_port */
	u32 missed;			/* as in struct nicstamp_sample */
	u64 samples;
	u64 rtt_ns;			/* the newest, */
	u32 error_ns;			/* no further off, */
	bool ack_by_nic;		/* as in struct nicstamp_sample, */
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

/* -- times of arrival (nicstamp_arrive.c) ------------------------------------ */

int nicstamp_arrive_init(void);
void nicstamp_arrive_exit(void);
void nicstamp_arrive_begin(const atomic_t *wanted);
void nicstamp_arrive_end(const atomic_t *wanted);
bool nicstamp_arrive_asked(void);
bool nicstamp_arrive_any(void);
void nicstamp_arrive_enter(const struct nicstamp_tuple *tuple, u32 end_seq,
			   const struct nicstamp_stamp *stamp);
bool nicstamp_arrive_get(const struct nicstamp_tuple *tuple, u32 end_seq,
			 struct nicstamp_arrived *arrived);

/* -- times of departure (nicstamp_depart.c) ---------------------------------- */

void nicstamp_depart_begin(const struct nicstamp_departures *departures);
void nicstamp_depart_end(const struct nicstamp_departures *departures);
bool nicstamp_depart_asked(void);
bool nicstamp_depart_wanted(const struct sock *sk, u32 end_seq);
bool nicstamp_depart_sent(const struct sock *sk, u32 end_seq, u32 tx_seq,
			  const struct nicstamp_stamp *stamp);

/* -- packets (nicstamp_packet.c) -------------------------------------------- */

/* RCU read side for all of these, where locks may be taken. */
enum nicstamp_verdict nicstamp_post(struct nicstamp_port *port, const struct sk_buff *skb,
				    bool slot);
bool nicstamp_ask(struct nicstamp_port *port, const struct sk_buff *skb, bool slot);
void nicstamp_sent(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw);
void nicstamp_received(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw);

/*
 * Locks there are taken with bottom halves off. Netpoll sends and completes packets with
 * interrupts off, maybe those of somebody who holds such a lock: it does without.
 */
static inline bool nicstamp_may_lock(void)
{
	return !irqs_disabled();
}

/* Is anything made of what is received? */
static inline bool nicstamp_rx_matters(void)
{
	return nicstamp_flow_any() || nicstamp_arrive_asked();
}

/* The clock is the host's: stamps are taken here and now. RCU read side. */
static inline void nicstamp_host_tx(struct nicstamp_port *port, const struct sk_buff *skb)
{
	if (nicstamp_may_lock() && nicstamp_post(port, skb, true) == NICSTAMP_OK)
		nicstamp_sent(port, skb, ktime_get_ns());
}

static inline void nicstamp_host_rx(struct nicstamp_port *port, const struct sk_buff *skb)
{
	if (nicstamp_may_lock() && (nicstamp_flow_any() || nicstamp_follow_is_on(port)))
		nicstamp_received(port, skb, ktime_get_ns());
}

/* -- devices of the generic feed (nicstamp_feed.c) --------------------------- */

int nicstamp_feed_init(void);
void nicstamp_feed_exit(void);
int nicstamp_feed_update(void);
u32 nicstamp_feed_probe_count(void);
struct nicstamp_port *nicstamp_feed_take_out(const struct net_device *dev);
int nicstamp_feed_use(struct net_device *dev, struct netlink_ext_ack *extack);
int nicstamp_feed_drop(struct net_device *dev, struct netlink_ext_ack *extack);

/* -- consumers (nicstamp_sample.c), netlink (nicstamp_genl.c), main ---------- */

void nicstamp_unsubscribe_all(void);
int nicstamp_genl_init(void);
void nicstamp_genl_exit(void);

#endif /* NICSTAMP_INTERNAL_H */
