/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of tcp_timely.ko share (TIMELY15, ECNDELAY16).
 */
#ifndef TIMELY_H
#define TIMELY_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "timely_completion.h"
#include "timely_forward.h"
#include "timely_hops.h"
#include "timely_host.h"
#include "timely_rate.h"
#include "timely_stamp.h"

#define TIMELY_VARIANTS		3

/* -- settings (timely_sysctl.c) ------------------------------------------- */

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

/* -- counters (timely_stat.c) --------------------------------------------- */

/* Branches, verdicts and sources have counters of their own, at these offsets. */
enum timely_stat {
	TIMELY_STAT_FLOWS,		/* flows started */
	TIMELY_STAT_IDLE_RESTARTS,	/* rate decayed over an idle time */
	TIMELY_STAT_LOSSES,		/* recovery episodes */
	TIMELY_STAT_CWRS,		/* ECN marks and drops in the host: the same decrease */
	TIMELY_STAT_RTOS,
	TIMELY_STAT_UNDOS,
	TIMELY_STAT_NO_FORWARD,		/* signal=forward, but the sample is an RTT */
	TIMELY_STAT_NO_HOPS,		/* a signal of hops, but the sample is an RTT */
	TIMELY_STAT_SPEED_READS,	/* reads of the speed of the namespace's devices */
	TIMELY_STAT_BRANCH,
	TIMELY_STAT_VERDICT = TIMELY_STAT_BRANCH + TIMELY_BRANCH_COUNT,
	TIMELY_STAT_SOURCE = TIMELY_STAT_VERDICT + TIMELY_VERDICTS,
	TIMELY_STATS = TIMELY_STAT_SOURCE + TIMELY_SOURCES,
};

struct timely_stats {
	unsigned long count[TIMELY_STATS];
};

/* -- per network namespace ------------------------------------------------ */

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

static inline void timely_stat_inc(const struct net *net, int stat)
{
	this_cpu_inc(timely_net(net)->stats->count[stat]);
}

int timely_sysctl_init(struct net *net);
void timely_sysctl_exit(struct net *net);
int timely_stat_init(struct net *net);
void timely_stat_exit(struct net *net);

/* -- output devices (timely_dev.c) ---------------------------------------- */

/* What flows know of their output device.  It outlives the device while flows
 * hold it.
 */
struct timely_dev {
	/* read by every event */
	const struct net_device *dev;	/* to compare; valid in the table only */
	u64 line_rate_bps;		/* 0: the device does not say */
	u32 wire_mult;			/* of the link that carries a flow; 0: as above */
	u32 coalesce_ns;		/* a received frame waits so long for an interrupt */
	u32 rx_bytes_per_ms;		/* received lately */
	bool sure;			/* line_rate_bps is that of a real link */
	/* written as flows come and go */
	int __percpu *active;		/* flows with data in flight */
	/* seldom used */
	bool watched;			/* flows sent lately; written under timely_dev_lock */
	bool gone;			/* out of the table: on no list any more; timely_dev_lock */
	struct list_head stale;		/* in the list of speeds to read; timely_dev_lock */
	struct list_head watch;		/* in the list of counters to read; timely_dev_lock */
	u64 rx_bytes;			/* the counter at the last read; RTNL */
	ktime_t rx_time;		/* time of that; 0: never; RTNL */
	refcount_t refs;
	unsigned long asked;		/* jiffies of the last request to read the speed */
	struct hlist_node node;
	struct rcu_head rcu;
};

void timely_dev_init(void);
void timely_dev_exit(void);
struct timely_dev *timely_dev_get(const struct net_device *dev);
void timely_dev_put(struct timely_dev *d);
unsigned int timely_dev_flows(const struct timely_dev *d);
void timely_dev_ask(struct timely_dev *d);
void timely_dev_watch_rx(struct timely_dev *d);

static inline void timely_dev_count(struct timely_dev *d, int more)
{
	this_cpu_add(*d->active, more);
}

/* Scaled nanoseconds per byte (see timely_completion.h) at this line rate. */
static inline u32 timely_wire_mult(u64 rate_bps)
{
	u64 mult = timely_div(8000000000ULL << TIMELY_WIRE_SHIFT, max(rate_bps, 1ULL));

	return clamp(mult, 1ULL, (u64)U32_MAX);
}

/* -- congestion control (timely_cc.c) ------------------------------------- */

int timely_cc_init(void);
void timely_cc_exit(void);

/* -- a flow --------------------------------------------------------------- */

#define TIMELY_FLOW_READY	1	/* init was done */
#define TIMELY_FLOW_ACTIVE	2	/* counted in dev->active */
#define TIMELY_FLOW_STARTED	4	/* has its first rate */
#define TIMELY_FLOW_OWN_PACING	8	/* TCP's timer paces, even above fq */
#define TIMELY_FLOW_RECOVERING	16	/* the window is that of loss recovery */
#define TIMELY_FLOW_OPENING	32	/* the window has not reached its bound yet */
#define TIMELY_FLOW_SIGNAL	64	/* this ACK has the signal asked for, other than the RTT */

/* The private part of a socket; the socket lock guards all of it.  timely_get_info
 * reads it without, and may show values of two moments.
 */
struct timely_flow {
	struct timely_state rate;
	struct timely_burst burst;
	struct timely_dev *dev;		/* NULL: no route yet */
	u32 prior_cwnd;			/* before the loss episode */
	u16 burst_segs;
	u8 flags;
	u8 hops_patience;		/* events that may lack their hops */
};

static inline struct timely_flow *timely_flow(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* -- NIC stamps (timely_nic.c) -------------------------------------------- */

int timely_nic_init(void);
void timely_nic_exit(void);
void timely_nic_event(struct sock *sk, const struct timely_config *c, const struct timely_ack *a,
		      struct timely_event *ev);
void timely_nic_forget(struct sock *sk);

/* -- the way back (timely_forward.c) -------------------------------------- */

int timely_forward_table_init(void);
void timely_forward_table_exit(void);
bool timely_forward_ack(const struct sock *sk, const struct rate_sample *rs,
			struct timely_ack *a);
void timely_forward_forget(const struct sock *sk);

/* -- queues of hops (timely_hops.c) --------------------------------------- */

bool timely_hops_ack(const struct sock *sk, const struct rate_sample *rs, u32 signal,
		     struct timely_ack *a);

#endif /* TIMELY_H */
