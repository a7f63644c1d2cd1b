/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire behind the qdisc (onramp_line.c).  Not in ONRAMP21.
 */
#ifndef ONRAMP_LINE_H
#define ONRAMP_LINE_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/types.h>

struct netlink_ext_ack;
struct onramp_sched;
struct sk_buff;

enum onramp_bql {
	ONRAMP_BQL_UNKNOWN,
	ONRAMP_BQL_YES,
	ONRAMP_BQL_NO,
};

/* The device's wire.  The qdisc's lock guards all but what the notifier writes. */
struct onramp_line {
	u64 rate;			/* bytes per second, 0: not known; RTNL writes */
	u32 mult;			/* ns per byte << ONRAMP_LINE_SHIFT; RTNL writes */
	bool real;			/* the device is hardware; set once */
	bool gated;			/* the gate is in use */
	u8 bql;				/* enum onramp_bql */
	u8 looks;			/* packets without a sign of BQL so far */
	u64 free_ns;			/* the line is busy until then */
	struct list_head stale;		/* with others whose rate the worker is to ask for; RTNL */
	struct hlist_node node;		/* with those of the same device; RTNL */
};

#define ONRAMP_LINE_SHIFT	20

int onramp_line_init(void);
void onramp_line_exit(void);
void onramp_line_add(struct onramp_sched *q);
void onramp_line_del(struct onramp_sched *q);
void onramp_line_refresh(struct onramp_sched *q);
void onramp_line_advise(const struct onramp_sched *q, struct netlink_ext_ack *extack);
void onramp_line_look(struct onramp_sched *q, const struct sk_buff *skb);
void onramp_line_sent(struct onramp_sched *q, const struct sk_buff *skb, u64 now_ns);

static inline u64 onramp_line_ns(const struct onramp_line *line, u32 bytes)
{
	return ((u64)READ_ONCE(line->mult) * bytes) >> ONRAMP_LINE_SHIFT;
}

#endif /* ONRAMP_LINE_H */
