// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the flows of one namespace that pauses may hold.  Model: On-Ramp (ONRAMP21).
 * include/uapi/turnpike.h has the messages.
 *
 *      table, by rhashtable_walk --> look: figures of one moment, under the flow's lock
 *                                      --> message, without it
 *
 * A flow waits while its figures are copied, but not for netlink.  The walk goes on where the
 * message before found no room.  It may miss a flow that comes or goes meanwhile.  When the table
 * is resized the walk begins anew, and says so.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "orack_genl.h"
#include "orack_peer.h"
#include "sch_onramp/onramp_ctl.h"
#include "sch_onramp/onramp_sched.h"

/* The walk holds the RCU read lock; after so many flows it lets others run. */
#define ORACK_FLOWS_AT_ONCE	256

/* A dump, from its first message to its last. */
struct orack_genl_walk {
	struct rhashtable_iter iter;
	const struct net *net;
	struct in6_addr remote;
	bool some;			/* those to remote only */
};

/* A look at a flow under its lock. */
struct orack_look {
	int ifindex;			/* of the qdisc that sent last; 0: gone, and the next with it */
	u32 handle, parent;
	u32 queued;			/* packets */
	u64 rate;			/* bytes per second */
	u8 source;			/* enum onramp_source */
	bool coarse, noisy;
	u32 beta;
	u32 burst_bytes;
	u64 left_ns, paused_ns;
	u64 delay_ns;			/* newest */
	u64 age_ns;			/* of that */
	struct onramp_flow_stats stats;
};

/* -- looking ----------------------------------------------------------------------------- */

/* How much longer a pause holds the flow: what onramp_ctl_until() says, without acting on it. */
static u64 orack_look_left_ns(const struct onramp_ctl *ctl, u64 now_ns)
{
	struct onramp_bound bound = ctl->bound;
	u64 until_ns = ctl->pause.until_ns;
	const struct onramp_config *config;

	if (!ctl->sched || until_ns <= now_ns)
		return 0;
	config = &ctl->sched->config;
	until_ns = min(until_ns, ctl->feedback_ns + config->feedback_timeout_ns);
	until_ns = onramp_bound_hold(&bound, now_ns, until_ns, config->pause.max_ns);
	return until_ns > now_ns ? until_ns - now_ns : 0;
}

static u64 orack_look_paused_ns(const struct onramp_ctl *ctl, u64 now_ns)
{
	struct onramp_pause pause = ctl->pause;

	onramp_pause_count(&pause, now_ns);
	return pause.paused_ns;
}

/* The qdisc's lock is not held: what that guards is as good as of now, each figure for itself. */
static void orack_look_queue(const struct onramp_ctl *ctl, struct orack_look *look)
{
	const struct onramp_flow *f = ctl->flow;
	const struct Qdisc *sch;

	if (!f || !ctl->sched)
		return;
	sch = ctl->sched->sch;
	look->ifindex = qdisc_dev(sch)->ifindex;
	look->handle = sch->handle;
	look->parent = sch->parent;
	look->queued = READ_ONCE(f->qlen);
	look->rate = READ_ONCE(f->release.rate);
}

static void orack_look(struct onramp_ctl *ctl, struct orack_look *look)
{
	u64 now_ns;

	memset(look, 0, sizeof(*look));
	spin_lock_bh(&ctl->lock);
	now_ns = ktime_get_ns();
	orack_look_queue(ctl, look);
	look->source = ctl->source;
	look->coarse = ctl->coarse;
	look->noisy = ctl->noise.on;
	look->beta = ctl->pause.beta;
	look->burst_bytes = ctl->gso_set;
	look->left_ns = orack_look_left_ns(ctl, now_ns);
	look->paused_ns = orack_look_paused_ns(ctl, now_ns);
	look->delay_ns = ctl->pause.black_delay_ns;
	look->stats = ctl->stats;
	spin_unlock_bh(&ctl->lock);
	look->age_ns = now_ns - look->stats.sampled_ns;
}

/* -- messages ---------------------------------------------------------------------------- */

static int orack_put_u64(struct sk_buff *msg, int type, u64 value)
{
	return nla_put_u64_64bit(msg, type, value, ONRAMP_FLOW_PAD);
}

static int orack_put_key(struct sk_buff *msg, const struct onramp_key *key)
{
	return nla_put_in6_addr(msg, ONRAMP_FLOW_LOCAL, &key->saddr) ||
	       nla_put_in6_addr(msg, ONRAMP_FLOW_REMOTE, &key->daddr) ||
	       nla_put_u16(msg, ONRAMP_FLOW_LOCAL_PORT, ntohs(key->sport)) ||
	       nla_put_u16(msg, ONRAMP_FLOW_REMOTE_PORT, ntohs(key->dport));
}

/* All flows to a peer have its grade. */
static int orack_put_grade(struct sk_buff *msg, const struct onramp_key *key)
{
	enum orack_grade grade;
	struct orack_peer *peer;
	struct orack_pair pair;
	s64 base_ns;

	orack_pair_of(&pair, key);
	peer = orack_peer_find(&pair);
	if (!peer)
		return 0;
	spin_lock_bh(&peer->lock);
	grade = peer->acking.absolute.grade;
	base_ns = peer->acking.absolute.path_ns;
	spin_unlock_bh(&peer->lock);
	if (nla_put_u8(msg, ONRAMP_FLOW_GRADE, grade))
		return -EMSGSIZE;
	if (!orack_grade_is_absolute(grade))
		return 0;
	return nla_put_s64(msg, ONRAMP_FLOW_BASE_OWD, base_ns, ONRAMP_FLOW_PAD);
}

static int orack_put_source(struct sk_buff *msg, const struct onramp_key *key,
			    const struct orack_look *look)
{
	if (nla_put_u8(msg, ONRAMP_FLOW_SOURCE, look->source) ||
	    nla_put_u8(msg, ONRAMP_FLOW_COARSE, look->coarse))
		return -EMSGSIZE;
	return look->source == ONRAMP_SOURCE_ORACK ? orack_put_grade(msg, key) : 0;
}

static int orack_put_queue(struct sk_buff *msg, const struct orack_look *look)
{
	if (!look->ifindex)
		return 0;
	return nla_put_u32(msg, ONRAMP_FLOW_IFINDEX, look->ifindex) ||
	       nla_put_u32(msg, ONRAMP_FLOW_HANDLE, look->handle) ||
	       nla_put_u32(msg, ONRAMP_FLOW_PARENT, look->parent) ||
	       nla_put_u32(msg, ONRAMP_FLOW_QUEUED, look->queued) ||
	       orack_put_u64(msg, ONRAMP_FLOW_RATE, look->rate);
}

static int orack_put_pause(struct sk_buff *msg, const struct orack_look *look)
{
	u32 beta_ppm = tp_mul_shr(look->beta, 1000000, ONRAMP_BETA_SHIFT);

	return orack_put_u64(msg, ONRAMP_FLOW_LEFT, look->left_ns) ||
	       orack_put_u64(msg, ONRAMP_FLOW_PAUSES, look->stats.pauses) ||
	       orack_put_u64(msg, ONRAMP_FLOW_PAUSED, look->paused_ns) ||
	       orack_put_u64(msg, ONRAMP_FLOW_HELD, look->stats.held_packets) ||
	       orack_put_u64(msg, ONRAMP_FLOW_HELD_TIME, look->stats.held_ns) ||
	       nla_put_u32(msg, ONRAMP_FLOW_BETA, beta_ppm) ||
	       nla_put_u32(msg, ONRAMP_FLOW_BURST, look->burst_bytes);
}

static noinline_for_stack int orack_put_delay(struct sk_buff *msg, const struct orack_look *look)
{
	struct onramp_percentiles p;

	if (orack_put_u64(msg, ONRAMP_FLOW_SAMPLES, look->stats.samples) ||
	    nla_put_u8(msg, ONRAMP_FLOW_NOISY, look->noisy))
		return -EMSGSIZE;
	if (!look->stats.samples)
		return 0;
	onramp_recent_percentiles(&look->stats.delay, &p);
	return orack_put_u64(msg, ONRAMP_FLOW_AGE, look->age_ns) ||
	       orack_put_u64(msg, ONRAMP_FLOW_DELAY, look->delay_ns) ||
	       orack_put_u64(msg, ONRAMP_FLOW_DELAY_P50, p.p50_ns) ||
	       orack_put_u64(msg, ONRAMP_FLOW_DELAY_P90, p.p90_ns) ||
	       orack_put_u64(msg, ONRAMP_FLOW_DELAY_P99, p.p99_ns);
}

static int orack_put_flow(struct sk_buff *msg, struct onramp_ctl *ctl)
{
	struct nlattr *nest = nla_nest_start(msg, ONRAMP_A_FLOW);
	struct orack_look look;

	if (!nest)
		return -EMSGSIZE;
	orack_look(ctl, &look);
	if (orack_put_key(msg, &ctl->key) || orack_put_source(msg, &ctl->key, &look) ||
	    orack_put_queue(msg, &look) || orack_put_pause(msg, &look) ||
	    orack_put_delay(msg, &look))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* -- the dump ------------------------------------------------------------------------------ */

static int orack_genl_dump_flow(const struct genl_family *family, struct sk_buff *msg,
				struct netlink_callback *cb, struct onramp_ctl *ctl)
{
	void *header = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   family, NLM_F_MULTI, ONRAMP_CMD_FLOWS);

	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (orack_put_flow(msg, ctl)) {
		genlmsg_cancel(msg, header);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return 0;
}

static bool orack_genl_wants(const struct orack_genl_walk *walk, const struct onramp_ctl *ctl)
{
	return net_eq(read_pnet(&ctl->key.net), walk->net) &&
	       (!walk->some || ipv6_addr_equal(&ctl->key.daddr, &walk->remote));
}

int orack_genl_flows_start(struct netlink_callback *cb)
{
	const struct nlattr *remote = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, ONRAMP_A_REMOTE);
	struct orack_genl_walk *walk = kzalloc(sizeof(*walk), GFP_KERNEL_ACCOUNT);

	if (!walk)
		return -ENOMEM;
	walk->net = sock_net(cb->skb->sk);
	if (remote) {
		walk->remote = nla_get_in6_addr(remote);
		walk->some = true;
	}
	rhashtable_walk_enter(onramp_ctl_table(), &walk->iter);
	cb->args[0] = (long)walk;
	cb->seq = 1;
	return 0;
}

int orack_genl_flows_done(struct netlink_callback *cb)
{
	struct orack_genl_walk *walk = (struct orack_genl_walk *)cb->args[0];

	rhashtable_walk_exit(&walk->iter);
	kfree(walk);
	return 0;
}

/* Dumps the flows from where the walk stands, at the latest what found no room.  True: there are
 * more, and room for them.
 */
static bool orack_genl_some_flows(const struct genl_family *family, struct sk_buff *msg,
				  struct netlink_callback *cb, struct orack_genl_walk *walk)
{
	struct onramp_ctl *ctl;
	u32 count = 0;
	bool full = false;

	if (rhashtable_walk_start_check(&walk->iter))
		cb->seq++;
	ctl = rhashtable_walk_peek(&walk->iter);
	while (ctl) {
		if (IS_ERR(ctl))
			cb->seq++;
		else if (count++ == ORACK_FLOWS_AT_ONCE)
			break;
		else if (orack_genl_wants(walk, ctl))
			full = orack_genl_dump_flow(family, msg, cb, ctl);
		if (full)
			break;
		ctl = rhashtable_walk_next(&walk->iter);
	}
	rhashtable_walk_stop(&walk->iter);
	return ctl && !full;
}

int orack_genl_flows(const struct genl_family *family, struct sk_buff *msg,
		     struct netlink_callback *cb)
{
	struct orack_genl_walk *walk = (struct orack_genl_walk *)cb->args[0];

	while (orack_genl_some_flows(family, msg, cb, walk))
		cond_resched();
	return msg->len;
}
