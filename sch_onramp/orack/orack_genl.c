// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: port and keys of OR-ACKs, counters and peers of a namespace.
 * orack_genl_clock.c has the clocks, orack_genl_flow.c the flows, include/uapi/turnpike.h the
 * messages.  Model: On-Ramp (ONRAMP21).
 */
#include <linux/percpu.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>

#include "orack_genl.h"
#include "orack_key.h"
#include "orack_peer.h"
#include "sch_onramp/onramp_hook.h"
#include "sch_onramp/onramp_net.h"

static struct genl_family orack_genl_family;

static const struct nla_policy orack_policy[ONRAMP_A_MAX + 1] = {
	[ONRAMP_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[ONRAMP_A_KEY_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[ONRAMP_A_KEY] = NLA_POLICY_EXACT_LEN(ORACK_SECRET_BYTES),
	[ONRAMP_A_CLOCK_PEER] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ONRAMP_A_CLOCK_OFFSET] = { .type = NLA_S64 },
	[ONRAMP_A_CLOCK_ERROR] = { .type = NLA_U32 },
	[ONRAMP_A_CLOCK_SECONDS] = { .type = NLA_U32 },
	[ONRAMP_A_CLOCK_DRIFT] = { .type = NLA_S32 },
	[ONRAMP_A_REMOTE] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[ONRAMP_A_ASK] = {
		.type = NLA_BINARY, .len = ONRAMP_ASKS_MAX * sizeof(struct onramp_ask),
	},
};

/* -- from user space ------------------------------------------------------------------- */

static int orack_genl_prefixes(struct genl_info *info, struct orack_prefixes *of)
{
	const struct nlattr *attr = info->attrs[ONRAMP_A_ASK];
	const struct onramp_ask *ask = nla_data(attr);
	u32 i;

	if (nla_len(attr) % sizeof(*ask)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "a prefix is 16 bytes and a number of bits");
		return -EINVAL;
	}
	of->count = nla_len(attr) / sizeof(*ask);
	for (i = 0; i < of->count; i++) {
		if (ask[i].bits > ORACK_PREFIX_BITS_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "a prefix has 128 bits at most");
			return -ERANGE;
		}
		memcpy(of->prefix[i].address, ask[i].address, sizeof(ask[i].address));
		of->prefix[i].bits = ask[i].bits;
	}
	return 0;
}

/* Under RTNL. */
static int orack_genl_set_both(struct onramp_net *on, struct genl_info *info,
			       const struct orack_prefixes *of)
{
	struct nlattr *port = info->attrs[ONRAMP_A_PORT];
	int err = port ? onramp_hook_set_port(on, nla_get_u16(port)) : 0;

	if (err == -EADDRINUSE)
		NL_SET_ERR_MSG_ATTR(info->extack, port, "another socket has this UDP port");
	if (err || !info->attrs[ONRAMP_A_ASK])
		return err;
	return orack_peer_set_asked(on, of);
}

static int orack_genl_set(struct sk_buff *skb, struct genl_info *info)
{
	struct orack_prefixes of;
	int err = 0;

	BUILD_BUG_ON(ONRAMP_ASKS_MAX != ORACK_PREFIXES_MAX);
	if (!info->attrs[ONRAMP_A_PORT] && !info->attrs[ONRAMP_A_ASK]) {
		GENL_SET_ERR_MSG(info, "a port or prefixes are needed");
		return -EINVAL;
	}
	if (info->attrs[ONRAMP_A_ASK])
		err = orack_genl_prefixes(info, &of);
	if (err)
		return err;
	rtnl_lock();
	err = orack_genl_set_both(onramp_net(genl_info_net(info)), info, &of);
	rtnl_unlock();
	return err;
}

static int orack_genl_key(struct sk_buff *skb, struct genl_info *info)
{
	struct onramp_net *on = onramp_net(genl_info_net(info));
	int err = -EINVAL;
	u8 id;

	if (GENL_REQ_ATTR_CHECK(info, ONRAMP_A_KEY_ID)) {
		GENL_SET_ERR_MSG(info, "a number of a key is needed, 1 to 255");
		goto out;
	}
	if (info->genlhdr->cmd == ONRAMP_CMD_KEY_ADD && GENL_REQ_ATTR_CHECK(info, ONRAMP_A_KEY)) {
		GENL_SET_ERR_MSG(info, "a key of 16 bytes is needed");
		goto out;
	}
	id = nla_get_u8(info->attrs[ONRAMP_A_KEY_ID]);
	rtnl_lock();
	if (info->genlhdr->cmd == ONRAMP_CMD_KEY_ADD)
		err = orack_key_add(on, id, nla_data(info->attrs[ONRAMP_A_KEY]), info->extack);
	else if (info->genlhdr->cmd == ONRAMP_CMD_KEY_USE)
		err = orack_key_use(on, id, info->extack);
	else
		err = orack_key_del(on, id, info->extack);
	/* A peer that took our announcements for forged may take the next. */
	if (!err)
		orack_peer_ask_again(on);
	rtnl_unlock();
out:
	/* The kernel frees the message, but does not wipe it. */
	if (info->attrs[ONRAMP_A_KEY])
		memzero_explicit(nla_data(info->attrs[ONRAMP_A_KEY]), ORACK_SECRET_BYTES);
	return err;
}

/* -- to user space ---------------------------------------------------------------------- */

static int orack_genl_reply(struct genl_info *info, u8 command,
			    int (*fill)(struct sk_buff *msg, struct onramp_net *on))
{
	struct sk_buff *msg = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *header;

	if (!msg)
		return -ENOMEM;
	header = genlmsg_put_reply(msg, info, &orack_genl_family, 0, command);
	if (!header || fill(msg, onramp_net(genl_info_net(info)))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return genlmsg_reply(msg, info);
}

/* The key that signs comes first. */
static int orack_genl_put_keys(struct sk_buff *msg, const struct orack_keys *keys)
{
	u8 id[ORACK_KEYS_MAX];
	u32 i;

	if (!keys)
		return 0;
	for (i = 0; i < keys->count; i++)
		id[i] = keys->id[(keys->use + i) % keys->count];
	return nla_put(msg, ONRAMP_A_KEY_ID, keys->count, id);
}

static int orack_genl_put_asked(struct sk_buff *msg, const struct orack_asked *asked)
{
	struct onramp_ask *ask;
	struct nlattr *attr;
	u32 i;

	if (!asked)
		return 0;
	attr = nla_reserve(msg, ONRAMP_A_ASK, asked->of.count * sizeof(*ask));
	if (!attr)
		return -EMSGSIZE;
	ask = nla_data(attr);
	for (i = 0; i < asked->of.count; i++) {
		memcpy(ask[i].address, asked->of.prefix[i].address, sizeof(ask[i].address));
		ask[i].bits = asked->of.prefix[i].bits;
	}
	return 0;
}

static int orack_genl_fill_config(struct sk_buff *msg, struct onramp_net *on)
{
	int err;

	rcu_read_lock();
	err = nla_put_u16(msg, ONRAMP_A_PORT, READ_ONCE(on->socket.port)) ||
	      nla_put_u8(msg, ONRAMP_A_ACTIVE, !!rcu_access_pointer(on->socket.sk)) ||
	      nla_put_u32(msg, ONRAMP_A_CLOCK_ERROR, orack_clock_error(on)) ||
	      orack_genl_put_asked(msg, rcu_dereference(on->acking.asked)) ||
	      orack_genl_put_keys(msg, rcu_dereference(on->keys));
	rcu_read_unlock();
	return err;
}

static int orack_genl_get(struct sk_buff *skb, struct genl_info *info)
{
	return orack_genl_reply(info, ONRAMP_CMD_GET, orack_genl_fill_config);
}

/* Sums the counts of all processors, which may go on meanwhile. */
static u64 orack_genl_sum(struct orack_counts __percpu *counts, int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counts, cpu)->of[stat]);
	return sum;
}

static int orack_genl_fill_stats(struct sk_buff *msg, struct onramp_net *on)
{
	struct orack_counts __percpu *counts = READ_ONCE(on->counts);
	struct nlattr *nest = nla_nest_start(msg, ONRAMP_A_STATS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ONRAMP_STATS; i++) {
		if (nla_put_u64_64bit(msg, i + 1, counts ? orack_genl_sum(counts, i) : 0, 0))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int orack_genl_stats(struct sk_buff *skb, struct genl_info *info)
{
	return orack_genl_reply(info, ONRAMP_CMD_STATS, orack_genl_fill_stats);
}

/* peer->lock is held. */
static int orack_genl_put_absolute(struct sk_buff *msg, const struct orack_absolute *a)
{
	if (nla_put_u8(msg, ONRAMP_PEER_GRADE, a->grade) ||
	    nla_put_u32(msg, ONRAMP_PEER_ABSURD, a->absurd))
		return -EMSGSIZE;
	if (!orack_grade_is_absolute(a->grade))
		return 0;
	return nla_put_u32(msg, ONRAMP_PEER_ERROR, a->offset.error_ns) ||
	       nla_put_s64(msg, ONRAMP_PEER_OWD, a->there_ns, ONRAMP_PEER_PAD) ||
	       nla_put_s64(msg, ONRAMP_PEER_BASE_OWD, a->path_ns, ONRAMP_PEER_PAD);
}

static noinline_for_stack int orack_genl_put_delay(struct sk_buff *msg, const struct orack_delay *d)
{
	struct onramp_percentiles p;

	onramp_recent_percentiles(&d->recent, &p);
	if (!p.known)
		return 0;
	return nla_put_u8(msg, ONRAMP_PEER_DELAY_KIND, d->absolute) ||
	       nla_put_u64_64bit(msg, ONRAMP_PEER_DELAY_P50, p.p50_ns, ONRAMP_PEER_PAD) ||
	       nla_put_u64_64bit(msg, ONRAMP_PEER_DELAY_P90, p.p90_ns, ONRAMP_PEER_PAD) ||
	       nla_put_u64_64bit(msg, ONRAMP_PEER_DELAY_P99, p.p99_ns, ONRAMP_PEER_PAD);
}

/* Reports nothing of a direction without receipts. */
static int orack_genl_put_receipts(struct sk_buff *msg, const struct orack_peer *peer, bool hears)
{
	const struct orack_relative *clock = &peer->acking.relative;
	const struct orack_hearing *r = &peer->hearing;

	if (clock->known &&
	    (nla_put_u8(msg, ONRAMP_PEER_NIC, orack_clock_is_nic(clock->id)) ||
	     nla_put_u8(msg, ONRAMP_PEER_FEW, peer->acking.request.sparse)))
		return -EMSGSIZE;
	return hears && (nla_put_u8(msg, ONRAMP_PEER_NIC_OURS, READ_ONCE(r->stamper.nic)) ||
			 nla_put_u8(msg, ONRAMP_PEER_FEW_OURS, r->sparse));
}

/* peer->lock is held. */
static int orack_genl_put_peer(struct sk_buff *msg, const struct orack_peer *peer)
{
	const struct orack_acking *a = &peer->acking;
	const struct orack_relative *clock = &a->relative;
	bool hears = peer->hearing.hears && time_before_eq(jiffies, peer->hearing.hears_until);

	return nla_put(msg, ONRAMP_PEER_LOCAL, sizeof(struct in6_addr), &peer->pair.local) ||
	       nla_put(msg, ONRAMP_PEER_REMOTE, sizeof(struct in6_addr), &peer->pair.remote) ||
	       nla_put_u8(msg, ONRAMP_PEER_ACKS, a->acks) ||
	       nla_put_u8(msg, ONRAMP_PEER_HEARS, hears) ||
	       orack_genl_put_absolute(msg, &a->absolute) ||
	       orack_genl_put_receipts(msg, peer, hears) ||
	       nla_put_u32(msg, ONRAMP_PEER_CLOCK,
			   clock->known ? orack_clock_of(clock->id) : 0) ||
	       nla_put_s32(msg, ONRAMP_PEER_DRIFT, clock->known ? clock->base.drift_ppb : 0) ||
	       nla_put_u32(msg, ONRAMP_PEER_STEPS, clock->steps) ||
	       nla_put_u64_64bit(msg, ONRAMP_PEER_RECEIPTS, a->receipts, ONRAMP_PEER_PAD) ||
	       nla_put_u64_64bit(msg, ONRAMP_PEER_SAMPLES, a->samples, ONRAMP_PEER_PAD) ||
	       nla_put_u64_64bit(msg, ONRAMP_PEER_REFUSED, a->refused, ONRAMP_PEER_PAD);
}

static int orack_genl_dump_peer(struct sk_buff *msg, struct netlink_callback *cb,
				struct orack_peer *peer)
{
	struct orack_delay delay;
	void *header = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &orack_genl_family, NLM_F_MULTI, ONRAMP_CMD_PEERS);
	struct nlattr *nest;
	int err;

	if (!header)
		return -EMSGSIZE;
	nest = nla_nest_start(msg, ONRAMP_A_PEER);
	if (!nest)
		goto cancel;
	spin_lock_bh(&peer->lock);
	err = orack_genl_put_peer(msg, peer);
	delay = peer->acking.delay;
	spin_unlock_bh(&peer->lock);
	err = err ?: orack_genl_put_delay(msg, &delay);
	if (err)
		goto cancel;
	nla_nest_end(msg, nest);
	genlmsg_end(msg, header);
	return 0;

cancel:
	genlmsg_cancel(msg, header);
	return -EMSGSIZE;
}

/* Peers come and go between messages: the dump may then miss or repeat one. */
static int orack_genl_peers(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct onramp_net *on = onramp_net(sock_net(cb->skb->sk));
	struct orack_peer *peer;
	long i = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &on->peers.list, list) {
		if (i++ < cb->args[0])
			continue;
		if (orack_genl_dump_peer(msg, cb, peer))
			break;
		cb->args[0] = i;
	}
	rcu_read_unlock();
	return msg->len;
}

/* These messages of other files are of this family, too. */
static int orack_genl_dump_clocks(struct sk_buff *msg, struct netlink_callback *cb)
{
	return orack_genl_clocks(&orack_genl_family, msg, cb);
}

static int orack_genl_dump_flows(struct sk_buff *msg, struct netlink_callback *cb)
{
	return orack_genl_flows(&orack_genl_family, msg, cb);
}

static const struct genl_ops orack_genl_ops[] = {
	{ .cmd = ONRAMP_CMD_GET, .doit = orack_genl_get },
	{ .cmd = ONRAMP_CMD_SET, .flags = GENL_UNS_ADMIN_PERM, .doit = orack_genl_set },
	{ .cmd = ONRAMP_CMD_KEY_ADD, .flags = GENL_UNS_ADMIN_PERM, .doit = orack_genl_key },
	{ .cmd = ONRAMP_CMD_KEY_USE, .flags = GENL_UNS_ADMIN_PERM, .doit = orack_genl_key },
	{ .cmd = ONRAMP_CMD_KEY_DEL, .flags = GENL_UNS_ADMIN_PERM, .doit = orack_genl_key },
	{ .cmd = ONRAMP_CMD_STATS, .doit = orack_genl_stats },
	{ .cmd = ONRAMP_CMD_PEERS, .flags = GENL_UNS_ADMIN_PERM, .dumpit = orack_genl_peers },
	{ .cmd = ONRAMP_CMD_CLOCK_SET, .flags = GENL_UNS_ADMIN_PERM, .doit = orack_genl_clock_set },
	{ .cmd = ONRAMP_CMD_CLOCK_CLEAR, .flags = GENL_UNS_ADMIN_PERM,
	  .doit = orack_genl_clock_clear },
	{ .cmd = ONRAMP_CMD_CLOCK_OWN, .flags = GENL_UNS_ADMIN_PERM, .doit = orack_genl_clock_own },
	{ .cmd = ONRAMP_CMD_CLOCKS, .flags = GENL_UNS_ADMIN_PERM,
	  .dumpit = orack_genl_dump_clocks },
	{
		.cmd = ONRAMP_CMD_FLOWS,
		.flags = GENL_UNS_ADMIN_PERM,
		.start = orack_genl_flows_start,
		.dumpit = orack_genl_dump_flows,
		.done = orack_genl_flows_done,
	},
};

static struct genl_family orack_genl_family __ro_after_init = {
	.name = ONRAMP_GENL_NAME,
	.version = ONRAMP_GENL_VERSION,
	.maxattr = ONRAMP_A_MAX,
	.policy = orack_policy,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = orack_genl_ops,
	.n_ops = ARRAY_SIZE(orack_genl_ops),
};

int orack_genl_init(void)
{
	return genl_register_family(&orack_genl_family);
}

void orack_genl_exit(void)
{
	genl_unregister_family(&orack_genl_family);
}
