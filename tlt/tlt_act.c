// SPDX-License-Identifier: GPL-2.0
/*
 * The action "tlt" of tc, for filters of clsact: where it is attached it does what the
 * hooks of netfilter do elsewhere, if the namespace's configuration says "attach tc".
 *
 *	egress	a packet of this host's at the device its route names, from the MAC header on
 *	ingress	a packet for this host, from the IP header on, which nobody has looked at yet
 *
 * A packet passes here once for each device above another (a VLAN's, a bond's) and for
 * each filter: the first time counts, which a mark in its control block remembers.
 */
#include "tlt.h"

#ifdef CONFIG_NET_CLS_ACT

#include <linux/etherdevice.h>
#include <linux/if_bridge.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/tc_act/tc_gact.h>
#include <net/act_api.h>
#include <net/addrconf.h>
#include <net/l3mdev.h>
#include <net/pkt_cls.h>
#include <net/route.h>

#include "tlt_quick.h"

/*
 * Mainline numbers its kinds of actions, up to 255 (__TCA_ID_MAX), and none of others.  The
 * number leaves the kernel nowhere; it must only differ from all others: "TLT".
 */
#define TLT_ACT_ID	0x544c54

struct tlt_act {
	struct tc_action common;
	struct tlt_net *tn;		/* of the namespace it is in; constant */
};

static struct tc_action_ops tlt_act_ops;

/* -- which packets --------------------------------------------------------- */

/* What this processor sends from within the action, which passes it once more. */
static DEFINE_PER_CPU(const struct sk_buff *, tlt_act_sending);

/* Addresses that stand for "was here", on the way out and on the way in. */
static const char tlt_act_went, tlt_act_came;

/* What the action may use of a packet's control block until its queue does. */
static const void **tlt_act_mark(const struct sk_buff *skb)
{
	BUILD_BUG_ON(offsetof(struct qdisc_skb_cb, data) % sizeof(void *));
	return (const void **)qdisc_skb_cb(skb)->data;
}

/* Of this host's making and at the device that its route names: as for netfilter's rules. */
static bool tlt_act_leaves(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	return dst && dst->dev == skb->dev && !skb->skb_iif && !netif_is_l3_master(skb->dev);
}

/* Not for a device above this one. */
static bool tlt_act_arrives(const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;

	return skb->pkt_type == PACKET_HOST &&
	       !(skb_vlan_tag_present(skb) && skb_vlan_tag_get_id(skb)) &&
	       !netif_is_lag_port(dev) && !netif_is_bridge_port(dev) && !netif_is_ovs_port(dev);
}

/* Asked only for packets that no connection has. */
static bool tlt_act_is_local(const struct sk_buff *skb, u8 family)
{
	struct net *net = dev_net(skb->dev);

	if (family == AF_INET)
		return inet_addr_type_dev_table(net, skb->dev, ip_hdr(skb)->daddr) == RTN_LOCAL;
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(net, &ipv6_hdr(skb)->daddr, NULL, 0);
#else
	return false;
#endif
}

/* 0: no IP. */
static u8 tlt_act_family(const struct sk_buff *skb)
{
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		return AF_INET;
	case htons(ETH_P_IPV6):
		return AF_INET6;
	default:
		return 0;
	}
}

static unsigned int tlt_act_ip_bytes(u8 family)
{
	return family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

/* -- out ------------------------------------------------------------------- */

static void tlt_act_send(struct sk_buff *skb)
{
	__this_cpu_write(tlt_act_sending, skb);
	dev_queue_xmit(skb);
	__this_cpu_write(tlt_act_sending, NULL);
}

static void tlt_act_own(struct sk_buff *skb, struct sk_buff *former)
{
	swap(skb->sk, former->sk);
	swap(skb->destructor, former->destructor);
}

/*
 * The rest goes first, and tc goes on with @skb, which cannot be exchanged for another
 * (6.1 knows no TC_ACT_CONSUMED here): so it becomes the tail, and a new one the rest.
 */
static void tlt_act_in_two(struct tlt_net *tn, struct sk_buff *skb, struct sk_buff *tail)
{
	struct sk_buff *rest = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);

	if (!rest) {
		/* Out of order, but all of it. */
		tlt_count(tn, TLT_STAT_CUT_FAILED);
		qdisc_skb_cb(skb)->pkt_len -= tail->len;
		tp_qdisc_set_segs(skb, skb_shinfo(skb)->gso_segs);
		tlt_act_send(tail);
		return;
	}
	tlt_act_own(rest, skb);
	skb_morph(skb, tail);
	tlt_act_own(skb, tail);
	consume_skb(tail);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	tp_qdisc_set_segs(skb, 1);
	tlt_act_send(rest);
}

/* As tlt_hook_out(); @skb begins at its IP header. */
static struct sk_buff *tlt_act_out_ip(struct tlt_net *tn, const struct tlt_config *config,
				      struct sk_buff *skb, u8 family)
{
	struct tlt_packet p = { .out = true, .ifindex = skb->dev->ifindex };
	const struct tcphdr *th;

	if (!pskb_may_pull(skb, tlt_act_ip_bytes(family)) || !tlt_quick_is_tcp(skb, family))
		return NULL;
	th = tlt_quick_header(skb, family);
	if (tlt_quick_is_next(skb, family) && tlt_quick_out(tn, config, skb, th, family))
		return NULL;
	if (!tlt_packet_read(skb, family, skb->len, &p) ||
	    !tlt_config_matches(config, skb, skb->sk, &p))
		return NULL;
	p.generation = tlt_config_token(config, skb->sk);
	return tlt_out(tn, skb, config, &p);
}

static void tlt_act_out(struct tlt_net *tn, const struct tlt_config *config,
			struct sk_buff *skb, u8 family)
{
	int mac_bytes = skb_network_offset(skb);
	struct sk_buff *tail;

	if (!tlt_act_leaves(skb) || mac_bytes < 0 || mac_bytes > skb_headlen(skb))
		return;
	__skb_pull(skb, mac_bytes);
	tail = tlt_act_out_ip(tn, config, skb, family);
	__skb_push(skb, mac_bytes);
	if (tail) {
		memcpy(__skb_push(tail, mac_bytes), skb->data, mac_bytes);
		tlt_act_in_two(tn, skb, tail);
	}
	*tlt_act_mark(skb) = &tlt_act_went;
}

/* -- in -------------------------------------------------------------------- */

static struct sock *tlt_act_lookup(struct sk_buff *skb, const struct tlt_packet *p)
{
	int master = l3mdev_master_ifindex_rcu(skb->dev), ifindex = skb->dev->ifindex;

	/* Of another namespace is what it may have with it: the sender's. */
	return tlt_packet_lookup(dev_net(skb->dev), skb, p, master ?: ifindex,
				 master ? ifindex : 0);
}

static unsigned int tlt_act_in_sock(struct tlt_net *tn, const struct tlt_config *config,
				    struct sk_buff *skb, struct sock *sk, struct tlt_packet *p)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);
	struct tlt_flow *flow;

	if (!sk && !tlt_act_is_local(skb, p->family))
		return NF_ACCEPT;
	*tlt_act_mark(skb) = &tlt_act_came;
	if (tlt_quick_in(tn, config, skb, sk, th, p->family)) {
		flow = tlt_flow_recent(tn, sk);
		if (flow)
			tlt_flow_passes(flow, sk, th);
		return NF_ACCEPT;
	}
	if (!tlt_config_matches(config, skb, sk, p))
		return NF_ACCEPT;
	p->generation = tlt_config_token(config, sk);
	return tlt_in(tn, skb, sk, config, p);
}

static unsigned int tlt_act_in(struct tlt_net *tn, const struct tlt_config *config,
			       struct sk_buff *skb, u8 family)
{
	struct tlt_packet p = { .early = true, .ifindex = skb->dev->ifindex };
	unsigned int verdict, bytes;
	struct sock *sk;

	if (!tlt_act_arrives(skb) || skb_network_offset(skb) ||
	    !tlt_packet_arrived(skb, family, &bytes) ||
	    !tlt_packet_read(skb, family, bytes, &p) ||
	    !tlt_config_has_ports(config, tlt_tcp_header(skb, &p)))
		return NF_ACCEPT;
	sk = tlt_act_lookup(skb, &p);
	verdict = tlt_act_in_sock(tn, config, skb, sk, &p);
	if (sk)
		sock_gen_put(sk);
	return verdict;
}

/* -- for tc ---------------------------------------------------------------- */

/* Bottom halves are off, which is an RCU read side; what is called asks for the plain one. */
static noinline unsigned int tlt_act_long(struct tlt_net *tn, const struct tlt_config *config,
					  struct sk_buff *skb)
{
	bool in = skb_at_tc_ingress(skb);
	const void *mark = in ? &tlt_act_came : &tlt_act_went;
	unsigned int verdict = NF_ACCEPT;
	u8 family = tlt_act_family(skb);

	if (!family || *tlt_act_mark(skb) == mark)
		return NF_ACCEPT;
	rcu_read_lock();
	if (in)
		verdict = tlt_act_in(tn, config, skb, family);
	else
		tlt_act_out(tn, config, skb, family);
	rcu_read_unlock();
	return verdict;
}

/* As in the hooks: the ports tell of most packets that they are not TLT's. */
static bool tlt_act_passes(const struct tlt_config *config, const struct sk_buff *skb)
{
	const u8 *first = skb_network_header(skb);
	int bytes = skb_tail_pointer(skb) - first;

	if (skb->protocol == htons(ETH_P_IP))
		return tlt_quick_passes(config, first, bytes, AF_INET);
	if (skb->protocol == htons(ETH_P_IPV6))
		return tlt_quick_passes(config, first, bytes, AF_INET6);
	return false;
}

static unsigned int tlt_act_packet(struct tlt_net *tn, struct sk_buff *skb)
{
	const struct tlt_config *config = rcu_dereference_bh(tn->config);

	if (!READ_ONCE(tn->by_tc) || !config || tlt_act_passes(config, skb))
		return NF_ACCEPT;
	return tlt_act_long(tn, config, skb);
}

/* Bottom halves are off. */
static int tlt_act_run(struct sk_buff *skb, const struct tc_action *a, struct tcf_result *res)
{
	struct tlt_act *act = container_of(a, struct tlt_act, common);

	if (this_cpu_read(tlt_act_sending) == skb)
		goto pass;
	tcf_lastuse_update(&act->common.tcfa_tm);
	tcf_action_update_bstats(&act->common, skb);
	if (tlt_act_packet(act->tn, skb) != NF_ACCEPT) {
		tcf_action_inc_drop_qstats(&act->common);
		return TC_ACT_SHOT;
	}
pass:
	return READ_ONCE(a->tcfa_action);
}

static const struct nla_policy tlt_act_policy[TCA_TLT_MAX + 1] = {
	[TCA_TLT_PARMS] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_gact)),
};

/*
 * Elsewhere a queue's lock is held, and a burst is not sent in two.  A filter of a shared
 * block does not know whose it is.
 */
static int tlt_act_check_place(const struct tcf_proto *tp, struct netlink_ext_ack *extack)
{
	const struct Qdisc *q = tp->chain->block->q;

	if (q && (!strcmp(q->ops->id, "clsact") || !strcmp(q->ops->id, "ingress")))
		return 0;
	if (q)
		NL_SET_ERR_MSG(extack, "tlt works in filters of clsact or ingress only");
	else
		NL_SET_ERR_MSG(extack, "tlt does not work in a shared block");
	return -EOPNOTSUPP;
}

static void tlt_act_advise(struct net *net, struct netlink_ext_ack *extack)
{
	if (!READ_ONCE(tlt_net(net)->by_tc))
		NL_SET_ERR_MSG(extack,
			       "tlt passes all packets until 'turnpike tlt set --attach tc'");
}

static int tlt_act_set_control(struct tc_action *a, const struct tc_gact *options,
			       struct tcf_proto *tp, struct netlink_ext_ack *extack)
{
	struct tcf_chain *chain = NULL;
	int err = tcf_action_check_ctrlact(options->action, tp, &chain, extack);

	if (err < 0)
		return err;
	spin_lock_bh(&a->tcfa_lock);
	chain = tcf_action_set_ctrlact(a, options->action, chain);
	spin_unlock_bh(&a->tcfa_lock);
	if (chain)
		tcf_chain_put_by_act(chain);
	return 0;
}

static int tlt_act_make(struct net *net, const struct tc_gact *options, struct nlattr *est,
			struct tc_action **a, u32 flags)
{
	struct tc_action_net *actions = net_generic(net, tlt_act_ops.net_id);
	bool bind = flags & TCA_ACT_FLAGS_BIND;
	u32 index = options->index;
	int err;

	err = tcf_idr_check_alloc(actions, &index, a, bind);
	if (err)
		return err < 0 ? err : 0;
	err = tcf_idr_create_from_flags(actions, index, est, a, &tlt_act_ops, bind, flags);
	if (err) {
		tcf_idr_cleanup(actions, index);
		return err;
	}
	container_of(*a, struct tlt_act, common)->tn = tlt_net(net);
	return ACT_P_CREATED;
}

static int tlt_act_new(struct net *net, struct nlattr *nla, struct nlattr *est,
		       struct tc_action **a, struct tcf_proto *tp, u32 flags,
		       struct netlink_ext_ack *extack)
{
	bool bind = flags & TCA_ACT_FLAGS_BIND;
	struct nlattr *attrs[TCA_TLT_MAX + 1];
	const struct tc_gact *options;
	int made, err;

	if (!nla)
		return -EINVAL;
	err = nla_parse_nested(attrs, TCA_TLT_MAX, nla, tlt_act_policy, extack);
	if (!err && !attrs[TCA_TLT_PARMS])
		err = -EINVAL;
	if (!err && tp)
		err = tlt_act_check_place(tp, extack);
	if (err)
		return err;
	options = nla_data(attrs[TCA_TLT_PARMS]);
	made = tlt_act_make(net, options, est, a, flags);
	if (made < 0)
		return made;
	if (!made && bind)
		return 0;
	err = !made && !(flags & TCA_ACT_FLAGS_REPLACE) ? -EEXIST :
	      tlt_act_set_control(*a, options, tp, extack);
	if (err) {
		tcf_idr_release(*a, bind);
		return err;
	}
	tlt_act_advise(net, extack);
	return made;
}

static int tlt_act_dump(struct sk_buff *msg, struct tc_action *a, int bind, int ref)
{
	struct tlt_net *tn = tlt_net(a->idrinfo->net);
	unsigned char *begin = skb_tail_pointer(msg);
	struct tc_gact options = {
		.index = a->tcfa_index,
		.action = READ_ONCE(a->tcfa_action),
		.refcnt = refcount_read(&a->tcfa_refcnt) - ref,
		.bindcnt = atomic_read(&a->tcfa_bindcnt) - bind,
	};
	struct tcf_t times;

	tcf_tm_dump(&times, &a->tcfa_tm);
	if (!nla_put(msg, TCA_TLT_PARMS, sizeof(options), &options) &&
	    !nla_put_u8(msg, TCA_TLT_WORKS, READ_ONCE(tn->by_tc)) &&
	    !nla_put_64bit(msg, TCA_TLT_TM, sizeof(times), &times, TCA_TLT_PAD))
		return msg->len;
	nlmsg_trim(msg, begin);
	return -1;
}

static struct tc_action_ops tlt_act_ops = {
	.kind = "tlt",
	.id = TLT_ACT_ID,
	.owner = THIS_MODULE,
	.act = tlt_act_run,
	.dump = tlt_act_dump,
	.init = tlt_act_new,
	.size = sizeof(struct tlt_act),
};

static int __net_init tlt_act_net_init(struct net *net)
{
	return tc_action_net_init(net, net_generic(net, tlt_act_ops.net_id), &tlt_act_ops);
}

static void __net_exit tlt_act_net_exit(struct list_head *nets)
{
	tc_action_net_exit(nets, tlt_act_ops.net_id);
}

static struct pernet_operations tlt_act_net_ops = {
	.init = tlt_act_net_init,
	.exit_batch = tlt_act_net_exit,
	.id = &tlt_act_ops.net_id,
	.size = sizeof(struct tc_action_net),
};

int tlt_act_init(void)
{
	return tcf_register_action(&tlt_act_ops, &tlt_act_net_ops);
}

/* An action keeps the module: there is none. */
void tlt_act_exit(void)
{
	tcf_unregister_action(&tlt_act_ops, &tlt_act_net_ops);
}

TP_MODULE_ALIAS_ACT("tlt");

#else

int tlt_act_init(void)
{
	return 0;
}

void tlt_act_exit(void)
{
}

#endif
