// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: what a daemon or an operator says of clocks.  Model: ONRAMP21.
 * include/uapi/turnpike.h has the messages.
 */
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "orack_clock.h"
#include "orack_genl.h"
#include "sch_onramp/onramp_net.h"

/* -- from user space ------------------------------------------------------------------- */

static int orack_genl_error(struct genl_info *info, u32 least_ns, u32 *error_ns)
{
	struct nlattr *attr = info->attrs[ONRAMP_A_CLOCK_ERROR];

	if (!attr) {
		GENL_SET_ERR_MSG(info, "a bound of the clock's error is needed");
		return -EINVAL;
	}
	*error_ns = nla_get_u32(attr);
	if (*error_ns < least_ns || *error_ns > ORACK_ERROR_MAX_NS) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "the error is 1 to 1000000 ns");
		return -ERANGE;
	}
	return 0;
}

static int orack_genl_seconds(struct genl_info *info, u32 *seconds)
{
	struct nlattr *attr = info->attrs[ONRAMP_A_CLOCK_SECONDS];

	*seconds = nla_get_u32(attr);
	if (!*seconds || *seconds > ONRAMP_CLOCK_SECONDS_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "it counts for 1 to 86400 seconds");
		return -ERANGE;
	}
	return 0;
}

static bool orack_genl_is_host(const struct in6_addr *address)
{
	if (ipv6_addr_v4mapped(address)) {
		__be32 four = address->s6_addr32[3];

		return !ipv4_is_zeronet(four) && !ipv4_is_multicast(four) && !ipv4_is_lbcast(four);
	}
	return !ipv6_addr_any(address) && !ipv6_addr_is_multicast(address);
}

static int orack_genl_clock_peer(struct genl_info *info, struct in6_addr *remote)
{
	struct nlattr *attr = info->attrs[ONRAMP_A_CLOCK_PEER];

	if (!attr) {
		GENL_SET_ERR_MSG(info, "a peer's address is needed");
		return -EINVAL;
	}
	*remote = nla_get_in6_addr(attr);
	if (orack_genl_is_host(remote))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "no host has this address");
	return -EINVAL;
}

static int orack_genl_offset(struct genl_info *info, s64 *offset_ns)
{
	struct nlattr *attr = info->attrs[ONRAMP_A_CLOCK_OFFSET];

	if (!attr) {
		GENL_SET_ERR_MSG(info, "an offset of the peer's clock is needed");
		return -EINVAL;
	}
	*offset_ns = nla_get_s64(attr);
	if (*offset_ns <= ONRAMP_CLOCK_OFFSET_MAX_NS && *offset_ns >= -ONRAMP_CLOCK_OFFSET_MAX_NS)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "the offset is more than 10^18 ns, 31 years");
	return -ERANGE;
}

/* Without one clocks run alike. */
static int orack_genl_drift(struct genl_info *info, s32 *drift_ppt)
{
	struct nlattr *attr = info->attrs[ONRAMP_A_CLOCK_DRIFT];

	*drift_ppt = attr ? nla_get_s32(attr) : 0;
	if (*drift_ppt <= ONRAMP_CLOCK_DRIFT_MAX_PPT && *drift_ppt >= -ONRAMP_CLOCK_DRIFT_MAX_PPT)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "the drift is more than a millisecond a second");
	return -ERANGE;
}

int orack_genl_clock_set(struct sk_buff *skb, struct genl_info *info)
{
	struct orack_offset wanted;
	u32 seconds;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, ONRAMP_A_CLOCK_SECONDS)) {
		GENL_SET_ERR_MSG(info, "for how long it counts is needed");
		return -EINVAL;
	}
	err = orack_genl_clock_peer(info, &wanted.key.remote) ?:
	      orack_genl_offset(info, &wanted.offset_ns) ?:
	      orack_genl_drift(info, &wanted.drift_ppt) ?:
	      orack_genl_error(info, 1, &wanted.error_ns) ?:
	      orack_genl_seconds(info, &seconds);
	if (err)
		return err;
	rtnl_lock();
	err = orack_clock_set(onramp_net(genl_info_net(info)), &wanted, seconds, info->extack);
	rtnl_unlock();
	return err;
}

int orack_genl_clock_clear(struct sk_buff *skb, struct genl_info *info)
{
	struct in6_addr remote;
	int err = orack_genl_clock_peer(info, &remote);

	if (err)
		return err;
	rtnl_lock();
	err = orack_clock_clear(onramp_net(genl_info_net(info)), &remote, info->extack);
	rtnl_unlock();
	return err;
}

int orack_genl_clock_own(struct sk_buff *skb, struct genl_info *info)
{
	u32 error_ns, seconds = 0;
	int err = orack_genl_error(info, 0, &error_ns);

	if (!err && info->attrs[ONRAMP_A_CLOCK_SECONDS])
		err = orack_genl_seconds(info, &seconds);
	if (err)
		return err;
	rtnl_lock();
	orack_clock_discipline(onramp_net(genl_info_net(info)), error_ns, seconds);
	rtnl_unlock();
	return 0;
}

/* -- to user space ---------------------------------------------------------------------- */

static u32 orack_genl_left(const struct orack_offset *o)
{
	long left = (long)(o->until - jiffies);

	return left > 0 ? DIV_ROUND_UP(left, HZ) : 0;
}

static int orack_genl_dump_clock(const struct genl_family *family, struct sk_buff *msg,
				 struct netlink_callback *cb, const struct orack_offset *o)
{
	void *header = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   family, NLM_F_MULTI, ONRAMP_CMD_CLOCKS);

	if (!header)
		return -EMSGSIZE;
	if (nla_put_in6_addr(msg, ONRAMP_A_CLOCK_PEER, &o->key.remote) ||
	    nla_put_s64(msg, ONRAMP_A_CLOCK_OFFSET, orack_offset_now_ns(o), ONRAMP_A_PAD) ||
	    nla_put_s32(msg, ONRAMP_A_CLOCK_DRIFT, o->drift_ppt) ||
	    nla_put_u32(msg, ONRAMP_A_CLOCK_ERROR, o->error_ns) ||
	    nla_put_u32(msg, ONRAMP_A_CLOCK_SECONDS, orack_genl_left(o))) {
		genlmsg_cancel(msg, header);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return 0;
}

/* Offsets come and go between messages: the dump may then miss or repeat one. */
int orack_genl_clocks(const struct genl_family *family, struct sk_buff *msg,
		      struct netlink_callback *cb)
{
	struct onramp_net *on = onramp_net(sock_net(cb->skb->sk));
	struct orack_offset *o;
	long i = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(o, &on->clock.offset_list, list) {
		if (i++ < cb->args[0])
			continue;
		if (orack_genl_dump_clock(family, msg, cb, o))
			break;
		cb->args[0] = i;
	}
	rcu_read_unlock();
	return msg->len;
}
