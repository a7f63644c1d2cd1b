// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink of nicstamp (TIMELY15): shows ports, flows and counters, gives devices to the
 * generic feed, and takes readings of their clocks. include/uapi/turnpike.h has the messages.
 */
#include <linux/if.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/genetlink.h>

#include "nicstamp_feed.h"
#include "nicstamp_flow.h"
#include "nicstamp_followed.h"
#include "nicstamp_main.h"
#include "nicstamp_port.h"

static struct genl_family nicstamp_genl_family;

static int nicstamp_genl_put_stats(struct sk_buff *msg, int type,
				   const struct nicstamp_stats __percpu *stats, int count)
{
	struct nlattr *nest = nla_nest_start(msg, type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < count; i++) {
		if (nla_put_u64_64bit(msg, i + 1, nicstamp_stat_sum(stats, i), 0))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int nicstamp_genl_stats(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *header;

	if (!msg)
		return -ENOMEM;
	header = genlmsg_put_reply(msg, info, &nicstamp_genl_family, 0, STAMPS_CMD_STATS);
	if (!header ||
	    nicstamp_genl_put_stats(msg, STAMPS_A_STATS, nicstamp_stats, STAMPS_STATS) ||
	    nla_put_u32(msg, STAMPS_A_PROBES, nicstamp_feed_probe_count())) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return genlmsg_reply(msg, info);
}

/* -- ports -------------------------------------------------------------------- */

static s32 nicstamp_rate_ppb(const struct nicstamp_map *m)
{
	u64 size = m->rate_q < 0 ? 0 - (u64)m->rate_q : (u64)m->rate_q;
	s32 ppb = tp_mul_shr(size, NSEC_PER_SEC, NICSTAMP_RATE_SHIFT);

	return m->rate_q < 0 ? -ppb : ppb;
}

/* Leaves rate and error out while they are not known, or known no more. */
static int nicstamp_genl_put_map(struct sk_buff *msg, struct nicstamp_port *port)
{
	u64 now_ns = ktime_get_ns(), sys_ns, error_ns;
	struct nicstamp_map map;
	unsigned int seq;

	do {
		seq = read_seqbegin(&port->lock);
		map = nicstamp_follow_is_on(port) ? port->follow.map : port->map;
	} while (read_seqretry(&port->lock, seq));
	if (!map.readings || now_ns < map.sys_ns ||
	    !nicstamp_map_to_sys(&map, map.dev_ns + (now_ns - map.sys_ns), &sys_ns, &error_ns))
		return 0;
	if (map.readings > 1 &&
	    nla_put_s32(msg, STAMPS_PORT_RATE_PPB, nicstamp_rate_ppb(&map)))
		return -EMSGSIZE;
	return nla_put_u64_64bit(msg, STAMPS_PORT_ERROR_NS, error_ns, STAMPS_PORT_PAD);
}

static int nicstamp_genl_put_port(struct sk_buff *msg, struct nicstamp_port *port)
{
	const struct nicstamp_info *info = &port->info;
	struct nlattr *nest = nla_nest_start(msg, STAMPS_A_PORT);
	u32 netns;

	/* the device may move to another namespace just now, and this one may end */
	rcu_read_lock();
	netns = dev_net(port->dev)->ns.inum;
	rcu_read_unlock();
	if (!nest || nla_put_string(msg, STAMPS_PORT_NAME, port->dev->name) ||
	    nla_put_u32(msg, STAMPS_PORT_IFINDEX, port->dev->ifindex) ||
	    nla_put_u32(msg, STAMPS_PORT_NETNS, netns) ||
	    nla_put_u32(msg, STAMPS_PORT_BITS, info->bits) ||
	    nla_put_u32(msg, STAMPS_PORT_STEP_NS, info->step_ns) ||
	    (info->tx_first && nla_put_flag(msg, STAMPS_PORT_TX_FIRST)) ||
	    (port->host && nla_put_flag(msg, STAMPS_PORT_HOST)) ||
	    (port->generic && nla_put_flag(msg, STAMPS_PORT_GENERIC)) ||
	    (nicstamp_follow_is_on(port) && nla_put_flag(msg, STAMPS_PORT_FOLLOWED)) ||
	    nicstamp_genl_put_map(msg, port) ||
	    nicstamp_genl_put_stats(msg, STAMPS_PORT_STATS, port->stats,
				    STAMPS_PORT_STATS_COUNT))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* -- flows -------------------------------------------------------------------- */

static int nicstamp_genl_put_times(struct sk_buff *msg, struct nicstamp_flow *flow)
{
	u64 samples, rtt_ns, rtt_min_ns, tcp_rtt_ns;
	bool tx_host, rx_host;
	u32 error_ns;

	spin_lock_bh(&flow->lock);
	samples = flow->samples;
	rtt_ns = flow->rtt_ns;
	rtt_min_ns = flow->rtt_min_ns;
	tcp_rtt_ns = flow->tcp_rtt_ns;
	error_ns = flow->error_ns;
	tx_host = flow->host;
	rx_host = flow->host && !flow->ack_by_nic;
	spin_unlock_bh(&flow->lock);
	return nla_put_u64_64bit(msg, STAMPS_FLOW_SAMPLES, samples, STAMPS_FLOW_PAD) ||
	       nla_put_u64_64bit(msg, STAMPS_FLOW_RTT_NS, rtt_ns, STAMPS_FLOW_PAD) ||
	       nla_put_u64_64bit(msg, STAMPS_FLOW_RTT_MIN_NS, rtt_min_ns, STAMPS_FLOW_PAD) ||
	       nla_put_u64_64bit(msg, STAMPS_FLOW_TCP_RTT_NS, tcp_rtt_ns, STAMPS_FLOW_PAD) ||
	       nla_put_u32(msg, STAMPS_FLOW_ERROR_NS, error_ns) ||
	       (tx_host && nla_put_flag(msg, STAMPS_FLOW_TX_HOST)) ||
	       (rx_host && nla_put_flag(msg, STAMPS_FLOW_RX_HOST));
}

static int nicstamp_genl_put_flow(struct sk_buff *msg, struct nicstamp_flow *flow)
{
	const struct nicstamp_tuple *tuple = &flow->tuple;
	struct nlattr *nest = nla_nest_start(msg, STAMPS_A_FLOW);

	if (!nest || nla_put_in6_addr(msg, STAMPS_FLOW_LOCAL, &tuple->local) ||
	    nla_put_in6_addr(msg, STAMPS_FLOW_REMOTE, &tuple->remote) ||
	    nla_put_u16(msg, STAMPS_FLOW_LOCAL_PORT, ntohs(tuple->local_port)) ||
	    nla_put_u16(msg, STAMPS_FLOW_REMOTE_PORT, ntohs(tuple->remote_port)) ||
	    nicstamp_genl_put_times(msg, flow))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* -- dumps -------------------------------------------------------------------- */

static void *nicstamp_genl_begin(struct sk_buff *msg, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &nicstamp_genl_family, NLM_F_MULTI, cmd);
}

static int nicstamp_genl_finish(struct sk_buff *msg, void *header, int err)
{
	if (err)
		genlmsg_cancel(msg, header);
	else
		genlmsg_end(msg, header);
	return err;
}

static int nicstamp_genl_dump_port(struct sk_buff *msg, struct netlink_callback *cb,
				   struct nicstamp_port *port)
{
	void *header = nicstamp_genl_begin(msg, cb, STAMPS_CMD_PORTS);

	return header ? nicstamp_genl_finish(msg, header, nicstamp_genl_put_port(msg, port)) :
			-EMSGSIZE;
}

/* args[0]: the number of the last port for which there was room. */
static int nicstamp_genl_ports(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct nicstamp_port *port;

	mutex_lock(&nicstamp_lock);
	list_for_each_entry(port, &nicstamp_ports, list) {
		if (port->number <= cb->args[0])
			continue;
		if (nicstamp_genl_dump_port(msg, cb, port))
			break;
		cb->args[0] = port->number;
	}
	mutex_unlock(&nicstamp_lock);
	return msg->len;
}

static int nicstamp_genl_dump_flow(struct sk_buff *msg, struct netlink_callback *cb,
				   struct nicstamp_flow *flow)
{
	void *header = nicstamp_genl_begin(msg, cb, STAMPS_CMD_FLOWS);

	return header ? nicstamp_genl_finish(msg, header, nicstamp_genl_put_flow(msg, flow)) :
			-EMSGSIZE;
}

/* args[0]: the bucket to go on with, args[1]: how many of its flows are done. */
static int nicstamp_genl_flows(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct nicstamp_flow *flow;
	long told;

	rcu_read_lock();
	for (; cb->args[0] < nicstamp_flow_buckets(); cb->args[0]++, cb->args[1] = 0) {
		told = 0;
		hlist_for_each_entry_rcu(flow, nicstamp_flow_bucket(cb->args[0]), by_socket) {
			if (told++ < cb->args[1])
				continue;
			if (nicstamp_genl_dump_flow(msg, cb, flow))
				goto full;
			cb->args[1] = told;
		}
	}
full:
	rcu_read_unlock();
	return msg->len;
}

/* -- the generic feed --------------------------------------------------------- */

/* The namespace of the named device; held. */
static struct net *nicstamp_genl_net(struct genl_info *info)
{
	const struct nlattr *fd = info->attrs[STAMPS_A_NETNS_FD];
	struct net *net;

	if (!fd)
		return get_net(genl_info_net(info));
	net = get_net_ns_by_fd(nla_get_u32(fd));
	if (IS_ERR(net))
		NL_SET_ERR_MSG_ATTR(info->extack, fd, "no such network namespace");
	return net;
}

static int nicstamp_genl_on_device(struct genl_info *info,
				   int (*act)(struct net_device *dev, struct genl_info *info))
{
	const struct nlattr *name = info->attrs[STAMPS_A_DEV];
	struct net_device *dev;
	struct net *net;
	int err = -ENODEV;

	if (!name) {
		GENL_SET_ERR_MSG(info, "a device is needed");
		return -EINVAL;
	}
	net = nicstamp_genl_net(info);
	if (IS_ERR(net))
		return PTR_ERR(net);
	rtnl_lock();
	dev = __dev_get_by_name(net, nla_data(name));
	if (dev)
		err = act(dev, info);
	else
		NL_SET_ERR_MSG_ATTR(info->extack, name, "no such device");
	rtnl_unlock();
	put_net(net);
	return err;
}

static int nicstamp_genl_use_device(struct net_device *dev, struct genl_info *info)
{
	return nicstamp_feed_use(dev, info->extack);
}

static int nicstamp_genl_use(struct sk_buff *skb, struct genl_info *info)
{
	return nicstamp_genl_on_device(info, nicstamp_genl_use_device);
}

static int nicstamp_genl_drop_device(struct net_device *dev, struct genl_info *info)
{
	return nicstamp_feed_drop(dev, info->extack);
}

static int nicstamp_genl_drop(struct sk_buff *skb, struct genl_info *info)
{
	return nicstamp_genl_on_device(info, nicstamp_genl_drop_device);
}

/* -- receive stamps of stock drivers -------------------------------------------- */

static int nicstamp_genl_answer_number(struct genl_info *info, u32 number)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *header;

	if (!msg)
		return -ENOMEM;
	header = genlmsg_put_reply(msg, info, &nicstamp_genl_family, 0, STAMPS_CMD_FOLLOW);
	if (!header || nla_put_u32(msg, STAMPS_A_NUMBER, number)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return genlmsg_reply(msg, info);
}

/* Follows the device until the socket is closed, even if the answer fails. */
static int nicstamp_genl_follow_device(struct net_device *dev, struct genl_info *info)
{
	u32 step_ns = nla_get_u32(info->attrs[STAMPS_A_STEP_NS]), number;
	int err = nicstamp_follow_device(dev, info->snd_portid, step_ns, &number, info->extack);

	return err ?: nicstamp_genl_answer_number(info, number);
}

static int nicstamp_genl_follow(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *step = info->attrs[STAMPS_A_STEP_NS];

	if (!step) {
		GENL_SET_ERR_MSG(info, "the resolution of the clock is needed");
		return -EINVAL;
	}
	if (!nla_get_u32(step) || nla_get_u32(step) > NICSTAMP_STEP_MAX_NS) {
		NL_SET_ERR_MSG_ATTR(info->extack, step, "the resolution is 1 to 1000000 ns");
		return -ERANGE;
	}
	return nicstamp_genl_on_device(info, nicstamp_genl_follow_device);
}

static int nicstamp_genl_reading(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct nicstamp_crossing crossing;

	if (!a[STAMPS_A_NUMBER] || !a[STAMPS_A_BEFORE_NS] || !a[STAMPS_A_NIC_NS] ||
	    !a[STAMPS_A_AFTER_NS]) {
		GENL_SET_ERR_MSG(info, "a reading is a number and three times");
		return -EINVAL;
	}
	crossing.before_ns = nla_get_u64(a[STAMPS_A_BEFORE_NS]);
	crossing.nic_ns = nla_get_u64(a[STAMPS_A_NIC_NS]);
	crossing.after_ns = nla_get_u64(a[STAMPS_A_AFTER_NS]);
	return nicstamp_follow_tell(nla_get_u32(a[STAMPS_A_NUMBER]), info->snd_portid, &crossing,
				    info->extack);
}

static const struct nla_policy nicstamp_genl_policy[STAMPS_A_MAX + 1] = {
	[STAMPS_A_DEV] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[STAMPS_A_NETNS_FD] = { .type = NLA_U32 },
	[STAMPS_A_STEP_NS] = { .type = NLA_U32 },
	[STAMPS_A_NUMBER] = { .type = NLA_U32 },
	[STAMPS_A_BEFORE_NS] = { .type = NLA_U64 },
	[STAMPS_A_NIC_NS] = { .type = NLA_U64 },
	[STAMPS_A_AFTER_NS] = { .type = NLA_U64 },
};

static const struct genl_ops nicstamp_genl_ops[] = {
	{ .cmd = STAMPS_CMD_STATS, .doit = nicstamp_genl_stats },
	{ .cmd = STAMPS_CMD_PORTS, .dumpit = nicstamp_genl_ports },
	{ .cmd = STAMPS_CMD_FLOWS, .flags = GENL_ADMIN_PERM, .dumpit = nicstamp_genl_flows },
	{ .cmd = STAMPS_CMD_USE, .flags = GENL_ADMIN_PERM, .doit = nicstamp_genl_use },
	{ .cmd = STAMPS_CMD_DROP, .flags = GENL_ADMIN_PERM, .doit = nicstamp_genl_drop },
	{ .cmd = STAMPS_CMD_FOLLOW, .flags = GENL_ADMIN_PERM, .doit = nicstamp_genl_follow },
	{ .cmd = STAMPS_CMD_READING, .flags = GENL_ADMIN_PERM, .doit = nicstamp_genl_reading },
};

static struct genl_family nicstamp_genl_family __ro_after_init = {
	.name = STAMPS_GENL_NAME,
	.version = STAMPS_GENL_VERSION,
	.maxattr = STAMPS_A_MAX,
	.policy = nicstamp_genl_policy,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = nicstamp_genl_ops,
	.n_ops = ARRAY_SIZE(nicstamp_genl_ops),
};

int __init nicstamp_genl_init(void)
{
	return genl_register_family(&nicstamp_genl_family);
}

void nicstamp_genl_exit(void)
{
	genl_unregister_family(&nicstamp_genl_family);
}
