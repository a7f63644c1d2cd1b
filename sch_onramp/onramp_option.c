// SPDX-License-Identifier: GPL-2.0
/*
 * Options: netlink attributes to and from struct onramp_config.  Model: fq, and ONRAMP21.
 *
 * The module checks all of a request before any of it counts.
 */
#include <linux/log2.h>
#include <net/netlink.h>

#include "onramp_line.h"
#include "onramp_option.h"
#include "onramp_sched.h"

/* fq's own bounds, but for the least quantum: below 256 a packet only takes more rounds. */
#define ONRAMP_QUANTUM_MIN	256
#define ONRAMP_QUANTUM_MAX	(1 << 20)
#define ONRAMP_BUCKETS_LOG_MAX	18

/* Packets in a queue answer as it drains.  So silence for longer than half the deepest queue
 * means broken feedback, and not a long queue.
 */
#define ONRAMP_TIMEOUT_NS	(25 * NSEC_PER_MSEC)

/* 2 Mbit/s in bytes: a byte at less takes more ns than ONRAMP_LINE_SHIFT leaves of 32 bits. */
#define ONRAMP_LINE_RATE_MIN	250000

/* A new qdisc, with the defaults of fq and of ONRAMP21, sections 3.2 and 5. */
void onramp_option_default(struct onramp_config *c, const struct net_device *dev)
{
	u32 mtu = clamp_t(u32, psched_mtu(dev), 1, ONRAMP_QUANTUM_MAX);
	int i;

	memset(c, 0, sizeof(*c));
	c->limit = 10000;
	c->flow_limit = 100;
	c->quantum = clamp_t(u32, 2 * mtu, ONRAMP_QUANTUM_MIN, ONRAMP_QUANTUM_MAX);
	c->initial_quantum = min_t(u32, 10 * mtu, ONRAMP_QUANTUM_MAX);
	c->refill_delay = msecs_to_jiffies(40);
	c->orphan_mask = 1024 - 1;
	c->timer_slack_ns = 10 * NSEC_PER_USEC;
	c->buckets_log = ilog2(1024);
	c->max_rate = ~0ULL;
	c->low_rate = 550000 / 8;
	c->ce_threshold_ns = (u64)NSEC_PER_USEC * ~0U;
	c->horizon_ns = 10ULL * NSEC_PER_SEC;
	c->horizon_drop = true;
	c->pacing = true;
	for (i = 0; i < TP_FQ_BANDS; i++)
		c->weights[i] = tp_fq_weight(i);
	for (i = 0; i <= TC_PRIO_MAX; i++)
		c->prio2band[i] = tp_fq_prio2band(i);
	c->pause_on = true;
	c->governor = true;
	c->feedback = ONRAMP_FEEDBACK_AUTO;
	c->gate = ONRAMP_GATE_AUTO;
	c->feedback_timeout_ns = ONRAMP_TIMEOUT_NS;
	onramp_pause_params_init(&c->pause);
}

static struct netlink_range_validation onramp_range_quantum = {
	.min = ONRAMP_QUANTUM_MIN, .max = ONRAMP_QUANTUM_MAX,
};

static struct netlink_range_validation onramp_range_initial = {
	.max = INT_MAX,
};

static struct netlink_range_validation onramp_range_threshold = {
	.min = 1, .max = ONRAMP_THRESHOLD_MAX_NS,
};

static struct netlink_range_validation onramp_range_time = {
	.min = 1, .max = ONRAMP_PAUSE_LIMIT_NS / NSEC_PER_USEC,
};

static const struct nla_policy onramp_policy[TCA_ONRAMP_MAX + 1] = {
	[TCA_ONRAMP_UNSPEC]		= { .strict_start_type = TCA_ONRAMP_UNSPEC + 1 },
	[TCA_ONRAMP_VERSION]		= { .type = NLA_REJECT },
	[TCA_ONRAMP_LIMIT]		= { .type = NLA_U32 },
	[TCA_ONRAMP_FLOW_LIMIT]		= { .type = NLA_U32 },
	[TCA_ONRAMP_QUANTUM]		= NLA_POLICY_FULL_RANGE(NLA_U32, &onramp_range_quantum),
	[TCA_ONRAMP_INITIAL_QUANTUM]	= NLA_POLICY_FULL_RANGE(NLA_U32, &onramp_range_initial),
	[TCA_ONRAMP_PACING]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_ONRAMP_MAXRATE]		= { .type = NLA_U64 },
	[TCA_ONRAMP_BUCKETS_LOG]	= NLA_POLICY_RANGE(NLA_U32, 1, ONRAMP_BUCKETS_LOG_MAX),
	[TCA_ONRAMP_REFILL_DELAY]	= { .type = NLA_U32 },
	[TCA_ONRAMP_ORPHAN_MASK]	= { .type = NLA_U32 },
	[TCA_ONRAMP_LOW_RATE]		= { .type = NLA_U64 },
	[TCA_ONRAMP_CE_THRESHOLD]	= { .type = NLA_U32 },
	[TCA_ONRAMP_TIMER_SLACK]	= { .type = NLA_U32 },
	[TCA_ONRAMP_HORIZON]		= { .type = NLA_U32 },
	[TCA_ONRAMP_HORIZON_DROP]	= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_ONRAMP_PRIOMAP]		= NLA_POLICY_EXACT_LEN(TC_PRIO_MAX + 1),
	[TCA_ONRAMP_WEIGHTS]		= NLA_POLICY_EXACT_LEN(ONRAMP_UAPI_BANDS * sizeof(s32)),
	[TCA_ONRAMP_PAUSE]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_ONRAMP_MODE]		= NLA_POLICY_MAX(NLA_U8, ONRAMP_UAPI_PAPER),
	[TCA_ONRAMP_THRESHOLD]		= NLA_POLICY_FULL_RANGE(NLA_U32, &onramp_range_threshold),
	[TCA_ONRAMP_GAIN_SHIFT]		= NLA_POLICY_MAX(NLA_U8, ONRAMP_GAIN_SHIFT_MAX),
	[TCA_ONRAMP_PAUSE_MAX]		= NLA_POLICY_FULL_RANGE(NLA_U32, &onramp_range_time),
	[TCA_ONRAMP_FEEDBACK]		= NLA_POLICY_MAX(NLA_U8, ONRAMP_FEEDBACK_ORACK),
	[TCA_ONRAMP_FEEDBACK_TIMEOUT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &onramp_range_time),
	[TCA_ONRAMP_GOVERNOR]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_ONRAMP_GATE]		= NLA_POLICY_MAX(NLA_U8, ONRAMP_GATE_OFF),
	[TCA_ONRAMP_LINE_RATE]		= { .type = NLA_U64 },
	[TCA_ONRAMP_OFFLOAD_HORIZON]	= { .type = NLA_U32 },
};

static void onramp_option_fq(struct onramp_config *c, struct nlattr *tb[])
{
	if (tb[TCA_ONRAMP_LIMIT])
		c->limit = nla_get_u32(tb[TCA_ONRAMP_LIMIT]);
	if (tb[TCA_ONRAMP_FLOW_LIMIT])
		c->flow_limit = nla_get_u32(tb[TCA_ONRAMP_FLOW_LIMIT]);
	if (tb[TCA_ONRAMP_QUANTUM])
		c->quantum = nla_get_u32(tb[TCA_ONRAMP_QUANTUM]);
	if (tb[TCA_ONRAMP_INITIAL_QUANTUM])
		c->initial_quantum = nla_get_u32(tb[TCA_ONRAMP_INITIAL_QUANTUM]);
	if (tb[TCA_ONRAMP_PACING])
		c->pacing = nla_get_u8(tb[TCA_ONRAMP_PACING]);
	if (tb[TCA_ONRAMP_MAXRATE])
		c->max_rate = nla_get_u64(tb[TCA_ONRAMP_MAXRATE]);
	if (tb[TCA_ONRAMP_BUCKETS_LOG])
		c->buckets_log = nla_get_u32(tb[TCA_ONRAMP_BUCKETS_LOG]);
	if (tb[TCA_ONRAMP_REFILL_DELAY])
		c->refill_delay = usecs_to_jiffies(nla_get_u32(tb[TCA_ONRAMP_REFILL_DELAY]));
	if (tb[TCA_ONRAMP_ORPHAN_MASK])
		c->orphan_mask = nla_get_u32(tb[TCA_ONRAMP_ORPHAN_MASK]);
	if (tb[TCA_ONRAMP_LOW_RATE])
		c->low_rate = nla_get_u64(tb[TCA_ONRAMP_LOW_RATE]);
	if (tb[TCA_ONRAMP_CE_THRESHOLD])
		c->ce_threshold_ns = (u64)NSEC_PER_USEC *
				     nla_get_u32(tb[TCA_ONRAMP_CE_THRESHOLD]);
	if (tb[TCA_ONRAMP_TIMER_SLACK])
		c->timer_slack_ns = nla_get_u32(tb[TCA_ONRAMP_TIMER_SLACK]);
	if (tb[TCA_ONRAMP_HORIZON])
		c->horizon_ns = (u64)NSEC_PER_USEC * nla_get_u32(tb[TCA_ONRAMP_HORIZON]);
	if (tb[TCA_ONRAMP_HORIZON_DROP])
		c->horizon_drop = nla_get_u8(tb[TCA_ONRAMP_HORIZON_DROP]);
}

static void onramp_option_own(struct onramp_config *c, struct nlattr *tb[])
{
	/* The rule's modes have the numbers of the attribute. */
	BUILD_BUG_ON((int)ONRAMP_MODE_STRAWMAN != (int)ONRAMP_UAPI_STRAWMAN);
	BUILD_BUG_ON((int)ONRAMP_MODE_FINAL != (int)ONRAMP_UAPI_FINAL);
	BUILD_BUG_ON((int)ONRAMP_MODE_PAPER != (int)ONRAMP_UAPI_PAPER);
	if (tb[TCA_ONRAMP_PAUSE])
		c->pause_on = nla_get_u8(tb[TCA_ONRAMP_PAUSE]);
	if (tb[TCA_ONRAMP_MODE])
		c->pause.mode = nla_get_u8(tb[TCA_ONRAMP_MODE]);
	if (tb[TCA_ONRAMP_THRESHOLD])
		c->pause.threshold_ns = nla_get_u32(tb[TCA_ONRAMP_THRESHOLD]);
	if (tb[TCA_ONRAMP_GAIN_SHIFT])
		c->pause.gain_shift = nla_get_u8(tb[TCA_ONRAMP_GAIN_SHIFT]);
	if (tb[TCA_ONRAMP_PAUSE_MAX])
		c->pause.max_ns = (u64)NSEC_PER_USEC * nla_get_u32(tb[TCA_ONRAMP_PAUSE_MAX]);
	if (tb[TCA_ONRAMP_FEEDBACK])
		c->feedback = nla_get_u8(tb[TCA_ONRAMP_FEEDBACK]);
	if (tb[TCA_ONRAMP_FEEDBACK_TIMEOUT])
		c->feedback_timeout_ns = (u64)NSEC_PER_USEC *
					 nla_get_u32(tb[TCA_ONRAMP_FEEDBACK_TIMEOUT]);
	if (tb[TCA_ONRAMP_GOVERNOR])
		c->governor = nla_get_u8(tb[TCA_ONRAMP_GOVERNOR]);
	if (tb[TCA_ONRAMP_GATE])
		c->gate = nla_get_u8(tb[TCA_ONRAMP_GATE]);
	if (tb[TCA_ONRAMP_LINE_RATE])
		c->line_rate = nla_get_u64(tb[TCA_ONRAMP_LINE_RATE]);
}

/* As in fq: at most what the device paces for.  Ignored where no device of this kernel paces. */
static int onramp_option_offload(struct onramp_config *c, const struct net_device *dev,
				 struct nlattr *tb[], struct netlink_ext_ack *extack)
{
	u64 offload_ns;

	if (!tb[TCA_ONRAMP_OFFLOAD_HORIZON])
		return 0;
	offload_ns = (u64)NSEC_PER_USEC * nla_get_u32(tb[TCA_ONRAMP_OFFLOAD_HORIZON]);
	if (!TP_PACING_OFFLOAD) {
		if (offload_ns)
			NL_SET_ERR_MSG_MOD(extack, "offload_horizon is ignored: no device of this kernel paces");
		return 0;
	}
	if (offload_ns > tp_pacing_offload_ns(dev)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ONRAMP_OFFLOAD_HORIZON],
				    "offload_horizon is more than the device paces for");
		return -EINVAL;
	}
	c->offload_ns = offload_ns;
	return 0;
}

static int onramp_option_bands(struct onramp_config *c, struct nlattr *tb[],
			       struct netlink_ext_ack *extack)
{
	const s32 *weights = tb[TCA_ONRAMP_WEIGHTS] ? nla_data(tb[TCA_ONRAMP_WEIGHTS]) : NULL;
	const u8 *map = tb[TCA_ONRAMP_PRIOMAP] ? nla_data(tb[TCA_ONRAMP_PRIOMAP]) : NULL;
	int i;

	if (!weights && !map)
		return 0;
	if (TP_FQ_BANDS == 1) {
		NL_SET_ERR_MSG_MOD(extack, "priomap and weights need a kernel whose fq has bands");
		return -EOPNOTSUPP;
	}
	for (i = 0; map && i <= TC_PRIO_MAX; i++) {
		if (map[i] >= TP_FQ_BANDS) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ONRAMP_PRIOMAP],
					    "priomap names a band above 2");
			return -EINVAL;
		}
		c->prio2band[i] = map[i];
	}
	for (i = 0; weights && i < TP_FQ_BANDS; i++) {
		if (weights[i] < TP_FQ_MIN_WEIGHT) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ONRAMP_WEIGHTS],
					    "a weight is below the least, 16384");
			return -EINVAL;
		}
		c->weights[i] = weights[i];
	}
	return 0;
}

/* Checks that no policy can make. */
static int onramp_option_check(const struct onramp_config *c, struct netlink_ext_ack *extack)
{
	if (c->feedback == ONRAMP_FEEDBACK_TCPTS && !TP_TCP_USEC_TS) {
		NL_SET_ERR_MSG_MOD(extack, "feedback tcpts needs microsecond TCP timestamps (Linux 6.7)");
		return -EOPNOTSUPP;
	}
	if (c->pause.max_ns < c->pause.threshold_ns) {
		NL_SET_ERR_MSG_MOD(extack, "pause_max is below the threshold");
		return -EINVAL;
	}
	if (c->line_rate && c->line_rate < ONRAMP_LINE_RATE_MIN) {
		NL_SET_ERR_MSG_MOD(extack, "line_rate is below 2mbit");
		return -EINVAL;
	}
	if (c->max_rate == 0) {
		NL_SET_ERR_MSG_MOD(extack, "maxrate must not be 0");
		return -EINVAL;
	}
	return 0;
}

/* @port_err: why the port of OR-ACKs is not open; 0: it is.  The source that the operator asked
 * for must be there; auto takes what there is.
 */
int onramp_option_feedback(const struct onramp_config *c, int port_err,
			   struct netlink_ext_ack *extack)
{
	if (!port_err || !c->pause_on || c->feedback == ONRAMP_FEEDBACK_TCPTS)
		return 0;
	if (c->feedback == ONRAMP_FEEDBACK_ORACK) {
		NL_SET_ERR_MSG_MOD(extack, "feedback orack: its UDP port is in use (turnpike onramp set --port)");
		return port_err;
	}
	NL_SET_ERR_MSG_MOD(extack, "no OR-ACKs: their UDP port is in use (turnpike onramp set --port)");
	return 0;
}

/* On success @c has what @opt says; on failure its content is undefined. */
int onramp_option_parse(struct onramp_config *c, const struct net_device *dev,
			struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ONRAMP_MAX + 1];
	int err;

	err = nla_parse_nested(tb, TCA_ONRAMP_MAX, opt, onramp_policy, extack);
	if (err)
		return err;
	onramp_option_fq(c, tb);
	onramp_option_own(c, tb);
	return onramp_option_bands(c, tb, extack) ?: onramp_option_offload(c, dev, tb, extack) ?:
	       onramp_option_check(c, extack);
}

static u32 onramp_option_us(u64 ns)
{
	return div_u64(ns, NSEC_PER_USEC);
}

static int onramp_option_dump_fq(const struct onramp_config *c, struct sk_buff *skb)
{
	return nla_put_u32(skb, TCA_ONRAMP_LIMIT, c->limit) ||
	       nla_put_u32(skb, TCA_ONRAMP_FLOW_LIMIT, c->flow_limit) ||
	       nla_put_u32(skb, TCA_ONRAMP_QUANTUM, c->quantum) ||
	       nla_put_u32(skb, TCA_ONRAMP_INITIAL_QUANTUM, c->initial_quantum) ||
	       nla_put_u8(skb, TCA_ONRAMP_PACING, c->pacing) ||
	       nla_put_u64_64bit(skb, TCA_ONRAMP_MAXRATE, c->max_rate, TCA_ONRAMP_PAD) ||
	       nla_put_u32(skb, TCA_ONRAMP_BUCKETS_LOG, c->buckets_log) ||
	       nla_put_u32(skb, TCA_ONRAMP_REFILL_DELAY, jiffies_to_usecs(c->refill_delay)) ||
	       nla_put_u32(skb, TCA_ONRAMP_ORPHAN_MASK, c->orphan_mask) ||
	       nla_put_u64_64bit(skb, TCA_ONRAMP_LOW_RATE, c->low_rate, TCA_ONRAMP_PAD) ||
	       nla_put_u32(skb, TCA_ONRAMP_CE_THRESHOLD, onramp_option_us(c->ce_threshold_ns)) ||
	       nla_put_u32(skb, TCA_ONRAMP_TIMER_SLACK, c->timer_slack_ns) ||
	       nla_put_u32(skb, TCA_ONRAMP_HORIZON, onramp_option_us(c->horizon_ns)) ||
	       nla_put_u8(skb, TCA_ONRAMP_HORIZON_DROP, c->horizon_drop);
}

static int onramp_option_dump_offload(const struct onramp_config *c, struct sk_buff *skb)
{
	return TP_PACING_OFFLOAD ? nla_put_u32(skb, TCA_ONRAMP_OFFLOAD_HORIZON,
					       onramp_option_us(c->offload_ns)) : 0;
}

static int onramp_option_dump_own(const struct onramp_config *c, struct sk_buff *skb)
{
	return nla_put_u8(skb, TCA_ONRAMP_PAUSE, c->pause_on) ||
	       nla_put_u8(skb, TCA_ONRAMP_MODE, c->pause.mode) ||
	       nla_put_u32(skb, TCA_ONRAMP_THRESHOLD, c->pause.threshold_ns) ||
	       nla_put_u8(skb, TCA_ONRAMP_GAIN_SHIFT, c->pause.gain_shift) ||
	       nla_put_u32(skb, TCA_ONRAMP_PAUSE_MAX, onramp_option_us(c->pause.max_ns)) ||
	       nla_put_u8(skb, TCA_ONRAMP_FEEDBACK, c->feedback) ||
	       nla_put_u32(skb, TCA_ONRAMP_FEEDBACK_TIMEOUT,
			   onramp_option_us(c->feedback_timeout_ns)) ||
	       nla_put_u8(skb, TCA_ONRAMP_GOVERNOR, c->governor) ||
	       nla_put_u8(skb, TCA_ONRAMP_GATE, c->gate) ||
	       nla_put_u64_64bit(skb, TCA_ONRAMP_LINE_RATE, c->line_rate, TCA_ONRAMP_PAD);
}

static int onramp_option_dump_bands(const struct onramp_config *c, struct sk_buff *skb)
{
	if (TP_FQ_BANDS == 1)
		return 0;
	return nla_put(skb, TCA_ONRAMP_PRIOMAP, sizeof(c->prio2band), c->prio2band) ||
	       nla_put(skb, TCA_ONRAMP_WEIGHTS, sizeof(c->weights), c->weights);
}

/* Under the qdisc's lock or the RTNL: either keeps the settings as they are. */
int onramp_option_dump(const struct onramp_sched *q, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_ONRAMP_VERSION, ONRAMP_ABI_VERSION) ||
	    onramp_option_dump_fq(&q->config, skb) ||
	    onramp_option_dump_offload(&q->config, skb) ||
	    onramp_option_dump_bands(&q->config, skb) ||
	    onramp_option_dump_own(&q->config, skb)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}
