/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output devices: their line rate is the C of TIMELY15 (timely_dev.c).
 */
#ifndef TIMELY_DEV_H
#define TIMELY_DEV_H

#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/refcount.h>

#include "timely_completion.h"
#include "timely_math.h"

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

#endif /* TIMELY_DEV_H */
