// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink of TLT (TLT21): sets a namespace's configuration as a whole, and shows it, its
 * counters and its flows.  include/uapi/turnpike.h has the messages.
 */
#include <linux/bitmap.h>
#include <linux/inetdevice.h>
#include <net/genetlink.h>

#include "tlt_attach.h"
#include "tlt_config.h"
#include "tlt_flow.h"
#include "tlt_genl.h"
#include "tlt_net.h"
#include "tlt_owner.h"
#include "tlt_select.h"
#include "tlt_stat.h"

static struct genl_family tlt_genl_family;

/* TLT21, 5.2, has N = 96 for the largest fan-out; beyond this periodic marking means nothing. */
#define TLT_PERIOD_MAX 32767

static const struct nla_policy tlt_rule_policy[TLT_RULE_MAX + 1] = {
	[TLT_RULE_IFINDEX] = NLA_POLICY_MIN(NLA_S32, 1),
	[TLT_RULE_PORT_LOW] = NLA_POLICY_MIN(NLA_U16, 1),
	[TLT_RULE_PORT_HIGH] = NLA_POLICY_MIN(NLA_U16, 1),
	[TLT_RULE_ADDRESS] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) },
	[TLT_RULE_PREFIX] = NLA_POLICY_MAX(NLA_U8, 128),
	[TLT_RULE_UID_LOW] = { .type = NLA_U32 },
	[TLT_RULE_UID_HIGH] = { .type = NLA_U32 },
	[TLT_RULE_CGROUP] = { .type = NLA_NUL_STRING, .len = TLT_CGROUP_PATH_MAX - 1 },
};

static const struct nla_policy tlt_policy[TLT_A_MAX + 1] = {
	[TLT_A_MAP] = NLA_POLICY_EXACT_LEN(TLT_KINDS),
	[TLT_A_PERIOD] = NLA_POLICY_MAX(NLA_U32, TLT_PERIOD_MAX),
	[TLT_A_CLOCK] = NLA_POLICY_MAX(NLA_U8, TLT_CLOCK_MODES - 1),
	[TLT_A_SENDER] = NLA_POLICY_MAX(NLA_U8, TLT_SENDER_MODES - 1),
	[TLT_A_FOREIGN] = NLA_POLICY_MAX(NLA_U8, TLT_FOREIGNS - 1),
	[TLT_A_RULES] = { .type = NLA_NESTED },
};

/* -- from user space ------------------------------------------------------- */

static int tlt_genl_map(struct tlt_config *config, struct genl_info *info)
{
	DECLARE_BITMAP(seen, TLT_DSCPS) = { };
	const u8 *map;
	int kind;

	if (GENL_REQ_ATTR_CHECK(info, TLT_A_MAP)) {
		GENL_SET_ERR_MSG(info, "a map of code points is needed");
		return -EINVAL;
	}
	map = nla_data(info->attrs[TLT_A_MAP]);
	memset(config->kind, TLT_NONE, sizeof(config->kind));
	for (kind = 0; kind < TLT_KINDS; kind++) {
		if (!map[kind] || map[kind] >= TLT_DSCPS) {
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[TLT_A_MAP],
					    "a code point is not between 1 and 63");
			return -ERANGE;
		}
		if (test_and_set_bit(map[kind], seen)) {
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[TLT_A_MAP],
					    "two kinds have the same code point");
			return -EINVAL;
		}
		config->dscp[kind] = map[kind];
		config->kind[map[kind]] = kind;
	}
	return 0;
}

static void tlt_rule_mask(struct tlt_rule *rule)
{
	if (rule->family == AF_INET)
		rule->mask.s6_addr32[0] = inet_make_mask(rule->prefix);
	else
		ipv6_addr_prefix(&rule->mask, &(struct in6_addr){ .s6_addr32 = {
				 htonl(~0), htonl(~0), htonl(~0), htonl(~0) } }, rule->prefix);
}

static int tlt_rule_read_address(struct tlt_rule *rule, struct nlattr **attrs,
				 struct netlink_ext_ack *extack)
{
	int bytes = nla_len(attrs[TLT_RULE_ADDRESS]);
	unsigned int bits = bytes * 8;
	int i;

	if (bytes != sizeof(struct in_addr) && bytes != sizeof(struct in6_addr)) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[TLT_RULE_ADDRESS],
				    "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	rule->family = bytes == sizeof(struct in_addr) ? AF_INET : AF_INET6;
	rule->prefix = attrs[TLT_RULE_PREFIX] ? nla_get_u8(attrs[TLT_RULE_PREFIX]) : bits;
	if (rule->prefix > bits) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[TLT_RULE_PREFIX],
				    "the prefix is longer than the address");
		return -ERANGE;
	}
	memcpy(&rule->address, nla_data(attrs[TLT_RULE_ADDRESS]), bytes);
	tlt_rule_mask(rule);
	for (i = 0; i < 4; i++)
		rule->address.s6_addr32[i] &= rule->mask.s6_addr32[i];
	return 0;
}

static int tlt_rule_read_ports(struct tlt_rule *rule, struct nlattr **attrs,
			       struct netlink_ext_ack *extack)
{
	if (!attrs[TLT_RULE_PORT_LOW]) {
		rule->port_span = U16_MAX;
		if (!attrs[TLT_RULE_PORT_HIGH])
			return 0;
		NL_SET_ERR_MSG_ATTR(extack, attrs[TLT_RULE_PORT_HIGH],
				    "a range of ports needs its low end");
		return -EINVAL;
	}
	rule->port_low = nla_get_u16(attrs[TLT_RULE_PORT_LOW]);
	rule->port_high = attrs[TLT_RULE_PORT_HIGH] ?
			  nla_get_u16(attrs[TLT_RULE_PORT_HIGH]) : rule->port_low;
	rule->port_span = rule->port_high - rule->port_low;
	if (rule->port_low <= rule->port_high)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attrs[TLT_RULE_PORT_HIGH],
			    "the range of ports ends before it begins");
	return -ERANGE;
}

static int tlt_rule_read_device(struct net *net, struct tlt_rule *rule, struct nlattr **attrs,
				struct netlink_ext_ack *extack)
{
	bool there;

	if (!attrs[TLT_RULE_IFINDEX])
		return 0;
	rule->ifindex = nla_get_s32(attrs[TLT_RULE_IFINDEX]);
	rcu_read_lock();
	there = dev_get_by_index_rcu(net, rule->ifindex);
	rcu_read_unlock();
	if (there)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attrs[TLT_RULE_IFINDEX], "no such device");
	return -ENODEV;
}

/* Numbers of users are those of the user namespace that owns the network namespace. */
static int tlt_rule_check_users(const struct net *net, const struct tlt_owner *owner,
				struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct nlattr *high = attrs[TLT_RULE_UID_HIGH] ?: attrs[TLT_RULE_UID_LOW];

	if (current_user_ns() != net->user_ns) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[TLT_RULE_UID_LOW],
				    "users cannot be named from another user namespace");
		return -EPERM;
	}
	if (owner->uid_low > owner->uid_high) {
		NL_SET_ERR_MSG_ATTR(extack, high, "the range of users ends before it begins");
		return -ERANGE;
	}
	/* This number stands for no user at all. */
	if (owner->uid_high == U32_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, high, "the last user is 4294967294");
		return -ERANGE;
	}
	return 0;
}

static int tlt_rule_read_users(const struct net *net, struct tlt_owner *owner,
			       struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct nlattr *low = attrs[TLT_RULE_UID_LOW], *high = attrs[TLT_RULE_UID_HIGH];

	if (!low && !high)
		return 0;
	if (!low) {
		NL_SET_ERR_MSG_ATTR(extack, high, "a range of users needs its low end");
		return -EINVAL;
	}
	owner->by_uid = true;
	owner->uid_low = nla_get_u32(low);
	owner->uid_high = high ? nla_get_u32(high) : owner->uid_low;
	return tlt_rule_check_users(net, owner, attrs, extack);
}

static int tlt_rule_read_owner(const struct net *net, struct tlt_rule *rule,
			       struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	int err = tlt_rule_read_users(net, &rule->owner, attrs, extack);

	if (err || !attrs[TLT_RULE_CGROUP])
		return err;
	return tlt_owner_find_cgroup(&rule->owner, attrs[TLT_RULE_CGROUP], extack);
}

static int tlt_rule_read(struct net *net, struct tlt_rule *rule, const struct nlattr *nest,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[TLT_RULE_MAX + 1];
	int err;

	err = nla_parse_nested(attrs, TLT_RULE_MAX, nest, tlt_rule_policy, extack);
	if (err)
		return err;
	err = tlt_rule_read_device(net, rule, attrs, extack);
	if (!err)
		err = tlt_rule_read_ports(rule, attrs, extack);
	if (!err)
		err = tlt_rule_read_owner(net, rule, attrs, extack);
	if (err || !attrs[TLT_RULE_ADDRESS])
		goto without_address;
	return tlt_rule_read_address(rule, attrs, extack);

without_address:
	if (!err && attrs[TLT_RULE_PREFIX]) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[TLT_RULE_PREFIX],
				    "a prefix needs its address");
		err = -EINVAL;
	}
	return err;
}

static int tlt_genl_count_rules(const struct genl_info *info)
{
	const struct nlattr *attr, *rules = info->attrs[TLT_A_RULES];
	int count = 0, left;

	if (!rules)
		return 0;
	nla_for_each_nested(attr, rules, left) {
		if (nla_type(attr) != TLT_A_RULE) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "not a rule");
			return -EINVAL;
		}
		count++;
	}
	if (count && count <= TLT_RULES_MAX)
		return count;
	NL_SET_ERR_MSG_ATTR(info->extack, rules, "there must be 1 to 16 rules");
	return -ERANGE;
}

static int tlt_genl_read(struct tlt_config *config, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	const struct nlattr *attr;
	int i = 0, left, err;

	err = tlt_genl_map(config, info);
	if (err)
		return err;
	/* The largest topology of TLT21 (5.2 and 7.1). */
	config->period = attrs[TLT_A_PERIOD] ? nla_get_u32(attrs[TLT_A_PERIOD]) : 96;
	config->clock = attrs[TLT_A_CLOCK] ? nla_get_u8(attrs[TLT_A_CLOCK]) : TLT_CLOCK_ADAPTIVE;
	config->sender = attrs[TLT_A_SENDER] ? nla_get_u8(attrs[TLT_A_SENDER]) : TLT_SENDER_AUTO;
	config->foreign = attrs[TLT_A_FOREIGN] ? nla_get_u8(attrs[TLT_A_FOREIGN]) :
			  TLT_FOREIGN_OVERRIDE;
	if (!config->rules_count)
		return 0;
	nla_for_each_nested(attr, attrs[TLT_A_RULES], left) {
		err = tlt_rule_read(genl_info_net(info), &config->rules[i++], attr, info->extack);
		if (err)
			return err;
	}
	return 0;
}

static int tlt_genl_set(struct sk_buff *skb, struct genl_info *info)
{
	struct tlt_config *config;
	int count, err;

	count = tlt_genl_count_rules(info);
	if (count < 0)
		return count;
	config = tlt_config_alloc(count);
	if (!config)
		return -ENOMEM;
	err = tlt_genl_read(config, info);
	if (!err)
		err = tlt_attach(genl_info_net(info), config);
	if (err)
		tlt_config_free(config);
	return err;
}

static int tlt_genl_off(struct sk_buff *skb, struct genl_info *info)
{
	tlt_detach(genl_info_net(info));
	return 0;
}

/* -- to user space --------------------------------------------------------- */

static int tlt_genl_reply(struct genl_info *info, u8 command, size_t room,
			  int (*fill)(struct sk_buff *msg, struct net *net))
{
	struct sk_buff *msg = nlmsg_new(room, GFP_KERNEL);
	void *header;

	if (!msg)
		return -ENOMEM;
	header = genlmsg_put_reply(msg, info, &tlt_genl_family, 0, command);
	if (!header || fill(msg, genl_info_net(info))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return genlmsg_reply(msg, info);
}

static int tlt_genl_put_address(struct sk_buff *msg, int type, u8 family,
				const struct in6_addr *address)
{
	return nla_put(msg, type, family == AF_INET ? sizeof(struct in_addr) : sizeof(*address),
		       address);
}

static int tlt_genl_put_owner(struct sk_buff *msg, const struct tlt_owner *owner)
{
	if (owner->by_uid && (nla_put_u32(msg, TLT_RULE_UID_LOW, owner->uid_low) ||
			      nla_put_u32(msg, TLT_RULE_UID_HIGH, owner->uid_high)))
		return -EMSGSIZE;
	return owner->cgroup ? nla_put_string(msg, TLT_RULE_CGROUP, owner->path) : 0;
}

static int tlt_genl_put_rule(struct sk_buff *msg, const struct tlt_rule *rule)
{
	struct nlattr *nest = nla_nest_start(msg, TLT_A_RULE);

	if (!nest)
		return -EMSGSIZE;
	if (rule->ifindex && nla_put_s32(msg, TLT_RULE_IFINDEX, rule->ifindex))
		return -EMSGSIZE;
	if (rule->port_low && (nla_put_u16(msg, TLT_RULE_PORT_LOW, rule->port_low) ||
			       nla_put_u16(msg, TLT_RULE_PORT_HIGH, rule->port_high)))
		return -EMSGSIZE;
	if (rule->family && (tlt_genl_put_address(msg, TLT_RULE_ADDRESS, rule->family,
						  &rule->address) ||
			     nla_put_u8(msg, TLT_RULE_PREFIX, rule->prefix)))
		return -EMSGSIZE;
	if (tlt_genl_put_owner(msg, &rule->owner))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int tlt_genl_put_rules(struct sk_buff *msg, const struct tlt_config *config)
{
	struct nlattr *nest;
	u32 i;

	if (!config->rules_count)
		return 0;
	nest = nla_nest_start(msg, TLT_A_RULES);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < config->rules_count; i++) {
		if (tlt_genl_put_rule(msg, &config->rules[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int tlt_genl_put_config(struct sk_buff *msg, const struct tlt_config *config)
{
	if (nla_put_u8(msg, TLT_A_ENABLED, !!config))
		return -EMSGSIZE;
	if (!config)
		return 0;
	if (nla_put(msg, TLT_A_MAP, TLT_KINDS, config->dscp) ||
	    nla_put_u32(msg, TLT_A_PERIOD, config->period) ||
	    nla_put_u8(msg, TLT_A_CLOCK, config->clock) ||
	    nla_put_u8(msg, TLT_A_SENDER, config->sender) ||
	    nla_put_u8(msg, TLT_A_FOREIGN, config->foreign))
		return -EMSGSIZE;
	return tlt_genl_put_rules(msg, config);
}

static int tlt_genl_fill_config(struct sk_buff *msg, struct net *net)
{
	int err;

	rcu_read_lock();
	err = tlt_genl_put_config(msg, rcu_dereference(tlt_net(net)->config));
	rcu_read_unlock();
	return err;
}

static int tlt_genl_get(struct sk_buff *skb, struct genl_info *info)
{
	/* All but the paths of cgroups takes a kilobyte. */
	return tlt_genl_reply(info, TLT_CMD_GET, NLMSG_GOODSIZE + TLT_RULES_MAX * TLT_CGROUP_PATH_MAX,
			      tlt_genl_fill_config);
}

static int tlt_genl_fill_stats(struct sk_buff *msg, struct net *net)
{
	struct nlattr *nest = nla_nest_start(msg, TLT_A_STATS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < TLT_STATS; i++) {
		if (nla_put_u64_64bit(msg, i + 1, tlt_stat_sum(tlt_net(net), i), 0))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int tlt_genl_stats(struct sk_buff *skb, struct genl_info *info)
{
	return tlt_genl_reply(info, TLT_CMD_STATS, NLMSG_GOODSIZE, tlt_genl_fill_stats);
}

static int tlt_genl_put_flow_name(struct sk_buff *msg, const struct tlt_flow *flow)
{
	return tlt_genl_put_address(msg, TLT_FLOW_LOCAL, flow->family, &flow->local) ||
	       tlt_genl_put_address(msg, TLT_FLOW_REMOTE, flow->family, &flow->remote) ||
	       nla_put_u16(msg, TLT_FLOW_LOCAL_PORT, ntohs(flow->local_port)) ||
	       nla_put_u16(msg, TLT_FLOW_REMOTE_PORT, ntohs(flow->remote_port));
}

/* Leaves out counters of 0: each attribute of a million flows is 12 megabytes. */
static int tlt_genl_put_count(struct sk_buff *msg, int stat, u64 count)
{
	return count ? nla_put_u64_64bit(msg, stat + 1, count, 0) : 0;
}

static int tlt_genl_put_flow_sent(struct sk_buff *msg, const struct tlt_flow *flow)
{
	int kind, err = 0;

	for (kind = 0; kind < TLT_KINDS && !err; kind++) {
		const struct tlt_sent *sent = &flow->sent[kind];

		err = tlt_genl_put_count(msg, TLT_STAT_PACKETS + kind, READ_ONCE(sent->packets)) ?:
		      tlt_genl_put_count(msg, TLT_STAT_BYTES + kind, READ_ONCE(sent->bytes));
	}
	return err;
}

static int tlt_genl_put_flow_stats(struct sk_buff *msg, const struct tlt_flow *flow)
{
	const struct {
		int stat;
		u64 count;
	} counts[] = {
		{ TLT_STAT_INJECTED_BYTE, READ_ONCE(flow->stat_injected_byte) },
		{ TLT_STAT_INJECTED_SEGMENT, READ_ONCE(flow->stat_injected_segment) },
		{ TLT_STAT_INJECTED_BYTES, READ_ONCE(flow->stat_injected_bytes) },
		{ TLT_STAT_INJECT_REFUSED, READ_ONCE(flow->stat_refused) },
		{ TLT_STAT_ECHOES_DROPPED, READ_ONCE(flow->stat_echoes_dropped) },
		{ TLT_STAT_CUTS, READ_ONCE(flow->stat_cuts) },
		{ TLT_STAT_CUT_BYTES, READ_ONCE(flow->stat_cut_bytes) },
		{ TLT_STAT_RTOS, READ_ONCE(flow->stat_rtos) },
		{ TLT_STAT_CLOCKS_DROPPED, READ_ONCE(flow->stat_clocks_dropped) },
	};
	struct nlattr *nest = nla_nest_start(msg, TLT_FLOW_STATS);
	unsigned int i;

	if (!nest || tlt_genl_put_flow_sent(msg, flow))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (tlt_genl_put_count(msg, counts[i].stat, counts[i].count))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int tlt_genl_put_flow_first(struct sk_buff *msg, const struct tlt_flow *flow)
{
	return nla_put_u32(msg, TLT_FLOW_IMPORTANT, READ_ONCE(flow->sent[TLT_DATA].packets)) ||
	       nla_put_u32(msg, TLT_FLOW_ECHOES, READ_ONCE(flow->stat_echoes)) ||
	       nla_put_u32(msg, TLT_FLOW_INJECTED, READ_ONCE(flow->stat_injected_byte) +
						   READ_ONCE(flow->stat_injected_segment)) ||
	       nla_put_u32(msg, TLT_FLOW_RTOS, READ_ONCE(flow->stat_rtos));
}

/* Each figure is consistent in itself, but they are not all of one moment. */
static int tlt_genl_put_flow(struct sk_buff *msg, struct tlt_flow *flow)
{
	u32 idle = jiffies_to_msecs(tcp_jiffies32 - READ_ONCE(flow->used));
	struct nlattr *nest = nla_nest_start(msg, TLT_A_FLOW);
	u8 peer;

	if (!nest)
		return -EMSGSIZE;
	tlt_flow_lock(flow);
	peer = tlt_sender_peer(&flow->sender);
	tlt_flow_unlock(flow);
	if (tlt_genl_put_flow_name(msg, flow) || nla_put_u8(msg, TLT_FLOW_PEER, peer) ||
	    tlt_genl_put_flow_first(msg, flow) || nla_put_u32(msg, TLT_FLOW_IDLE_MS, idle) ||
	    tlt_genl_put_flow_stats(msg, flow))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int tlt_genl_dump_flow(struct sk_buff *msg, struct netlink_callback *cb,
			      struct tlt_flow *flow)
{
	void *header = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &tlt_genl_family, NLM_F_MULTI, TLT_CMD_FLOWS);

	if (!header)
		return -EMSGSIZE;
	if (tlt_genl_put_flow(msg, flow)) {
		genlmsg_cancel(msg, header);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return 0;
}

static int tlt_genl_flows_start(struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = kzalloc(sizeof(*iter), GFP_KERNEL_ACCOUNT);

	if (!iter)
		return -ENOMEM;
	rhashtable_walk_enter(&tlt_net(sock_net(cb->skb->sk))->flows, iter);
	cb->args[0] = (long)iter;
	return 0;
}

static int tlt_genl_flows_done(struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = (struct rhashtable_iter *)cb->args[0];

	rhashtable_walk_exit(iter);
	kfree(iter);
	return 0;
}

/* A flow without room in this message is the first of the next. */
static int tlt_genl_flows(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = (struct rhashtable_iter *)cb->args[0];
	struct tlt_flow *flow;

	rhashtable_walk_start(iter);
	flow = rhashtable_walk_peek(iter);
	while (flow) {
		if (!IS_ERR(flow) && tlt_genl_dump_flow(msg, cb, flow))
			break;
		flow = rhashtable_walk_next(iter);
	}
	rhashtable_walk_stop(iter);
	return msg->len;
}

static const struct genl_ops tlt_genl_ops[] = {
	{ .cmd = TLT_CMD_SET, .flags = GENL_UNS_ADMIN_PERM, .doit = tlt_genl_set },
	{ .cmd = TLT_CMD_OFF, .flags = GENL_UNS_ADMIN_PERM, .doit = tlt_genl_off },
	{ .cmd = TLT_CMD_GET, .doit = tlt_genl_get },
	{ .cmd = TLT_CMD_STATS, .doit = tlt_genl_stats },
	{
		.cmd = TLT_CMD_FLOWS,
		.flags = GENL_UNS_ADMIN_PERM,
		.start = tlt_genl_flows_start,
		.dumpit = tlt_genl_flows,
		.done = tlt_genl_flows_done,
	},
};

static struct genl_family tlt_genl_family __ro_after_init = {
	.name = TLT_GENL_NAME,
	.version = TLT_GENL_VERSION,
	.maxattr = TLT_A_MAX,
	.policy = tlt_policy,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = tlt_genl_ops,
	.n_ops = ARRAY_SIZE(tlt_genl_ops),
};

int __init tlt_genl_init(void)
{
	return genl_register_family(&tlt_genl_family);
}

void tlt_genl_exit(void)
{
	genl_unregister_family(&tlt_genl_family);
}
