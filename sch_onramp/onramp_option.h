/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of the qdisc (onramp_option.c).  Model: fq, and On-Ramp (ONRAMP21).
 */
#ifndef ONRAMP_OPTION_H
#define ONRAMP_OPTION_H

#include <linux/pkt_sched.h>
#include <linux/types.h>

#include "compat/compat.h"
#include "include/uapi/turnpike.h"
#include "onramp_pause.h"

struct net_device;
struct netlink_ext_ack;
struct nlattr;
struct onramp_sched;
struct sk_buff;

/* All settings.  They change as a whole under the qdisc's lock.  Feedback reads its part without
 * that lock.  For one sample it may see old and new ones together, each of them valid.
 */
struct onramp_config {
	/* fq's */
	u32 limit;
	u32 flow_limit;
	u32 quantum;
	u32 initial_quantum;
	u32 refill_delay;		/* jiffies */
	u32 orphan_mask;
	u32 timer_slack_ns;
	u32 buckets_log;
	u64 max_rate;			/* bytes per second; ~0: none */
	u64 low_rate;			/* bytes per second */
	u64 ce_threshold_ns;
	u64 horizon_ns;
	u64 offload_ns;			/* the device takes packets so long before their time */
	s32 weights[TP_FQ_BANDS];
	u8 prio2band[TC_PRIO_MAX + 1];
	bool horizon_drop;
	bool pacing;
	/* On-Ramp's */
	bool pause_on;
	bool governor;
	u8 feedback;			/* ONRAMP_FEEDBACK_ */
	u8 gate;			/* ONRAMP_GATE_ */
	u64 feedback_timeout_ns;
	u64 line_rate;			/* bytes per second; 0: ask the device */
	struct onramp_pause_params pause;
};

void onramp_option_default(struct onramp_config *c, const struct net_device *dev);
int onramp_option_parse(struct onramp_config *c, const struct net_device *dev,
			struct nlattr *opt, struct netlink_ext_ack *extack);
int onramp_option_feedback(const struct onramp_config *c, int port_err,
			   struct netlink_ext_ack *extack);
int onramp_option_dump(const struct onramp_sched *q, struct sk_buff *skb);

#endif /* ONRAMP_OPTION_H */
