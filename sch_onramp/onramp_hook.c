// SPDX-License-Identifier: GPL-2.0
/*
 * What arrives in a namespace where a qdisc pauses.  The hook looks once at TCP for a socket, for
 * both directions of feedback.  Model: On-Ramp (ONRAMP21).
 *
 *      ACK  --> onramp_tcpts.c    what we sent arrived, and its timestamp says when
 *      data --> orack_acker.c     to be receipted
 */
#include <linux/ip.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "onramp_hook.h"
#include "onramp_net.h"
#include "onramp_packet.h"
#include "onramp_path.h"
#include "onramp_tcpts.h"
#include "orack/orack_acker.h"
#include "orack/orack_acking.h"
#include "orack/orack_clock.h"
#include "orack/orack_key.h"
#include "orack/orack_leave.h"
#include "orack/orack_round.h"
#include "orack/orack_socket.h"

/* -- hooks -------------------------------------------------------------------------- */

/* No flow waits for feedback, and no host for receipts. */
static bool onramp_hook_is_idle(const struct onramp_net *on)
{
	return !onramp_ctl_any(on) && !atomic_read(&on->hearing.count);
}

/* NULL: there is no whole header.  TCP would pull it next. */
static const struct tcphdr *onramp_hook_tcp(struct sk_buff *skb)
{
	int offset = skb_transport_offset(skb);

	if (!pskb_may_pull(skb, offset + sizeof(struct tcphdr)) ||
	    tcp_hdr(skb)->doff * 4 < sizeof(struct tcphdr) ||
	    !pskb_may_pull(skb, offset + tcp_hdr(skb)->doff * 4))
		return NULL;
	return tcp_hdr(skb);
}

/* Bottom halves are off. */
static void onramp_hook_feed(struct onramp_net *on, const struct sk_buff *skb,
			     const struct tcphdr *th, const struct onramp_arrival *a)
{
	/* Spare a host that only receives the lookup. */
	if (th->ack && onramp_ctl_any(on))
		onramp_tcpts_arrived(th, a);
	if (a->payload && atomic_read(&on->hearing.count))
		orack_acker_arrived(on, skb, a);
}

/* After a queue to user space (NF_QUEUE), packets come in the context of the process that gives
 * the verdicts, with bottom halves on.  A softirq on top of it would wait for our locks for ever.
 */
static void onramp_hook_arrived(struct onramp_net *on, struct sk_buff *skb,
				struct onramp_arrival *a)
{
	const struct tcphdr *th = onramp_hook_tcp(skb);
	bool process = !softirq_count();

	if (!th || th->syn || th->rst)
		return;
	write_pnet(&a->key.net, on->net);
	a->key.sport = th->dest;
	a->key.dport = th->source;
	a->seq = ntohl(th->seq);
	a->payload = skb->len - skb_transport_offset(skb) - th->doff * 4;
	if (unlikely(process))
		local_bh_disable();
	onramp_hook_feed(on, skb, th, a);
	if (unlikely(process))
		local_bh_enable();
}

/* noinline: hooks run for every packet, and this stays out of their stack frames. */
static noinline void onramp_hook_tcp_ipv4(struct onramp_net *on, struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	struct onramp_arrival a = { .tos = ip->tos & ~INET_ECN_MASK };

	ipv6_addr_set_v4mapped(ip->daddr, &a.key.saddr);
	ipv6_addr_set_v4mapped(ip->saddr, &a.key.daddr);
	onramp_hook_arrived(on, skb, &a);
}

static unsigned int onramp_hook_ipv4(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->protocol == IPPROTO_TCP && !ip_is_fragment(ip) && !onramp_hook_is_idle(priv))
		onramp_hook_tcp_ipv4(priv, skb);
	return NF_ACCEPT;
}

#if IS_ENABLED(CONFIG_IPV6)
static noinline void onramp_hook_tcp_ipv6(struct onramp_net *on, struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct onramp_arrival a = {
		.tos = ipv6_get_dsfield(ip) & ~INET_ECN_MASK,
		.key.saddr = ip->daddr,
		.key.daddr = ip->saddr,
	};

	onramp_hook_arrived(on, skb, &a);
}

static unsigned int onramp_hook_ipv6(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	/* What GRO merged beyond 64 KB has a hop-by-hop header, whose end IP tells. */
	if (skb_network_header(skb)[IP6CB(skb)->nhoff] == IPPROTO_TCP && !onramp_hook_is_idle(priv))
		onramp_hook_tcp_ipv6(priv, skb);
	return NF_ACCEPT;
}
#endif

/* The hooks run before filters, which may hide a packet from sockets but not from the clock.
 * Each namespace has its own copy with itself as priv.
 */
static const struct nf_hook_ops onramp_hooks[ONRAMP_HOOKS] = {
	{
		.hook = onramp_hook_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_FIRST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook = onramp_hook_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_FIRST,
	},
#endif
};

/* -- a namespace's life ---------------------------------------------------------------- */

static int onramp_hook_first(struct onramp_net *on)
{
	int err = onramp_net_count(on) ?: onramp_path_open(on), i;

	if (err)
		return err;
	err = orack_acker_open(on);
	if (err)
		return err;
	for (i = 0; i < ONRAMP_HOOKS; i++) {
		on->hook.ops[i] = onramp_hooks[i];
		on->hook.ops[i].priv = on;
	}
	err = nf_register_net_hooks(on->net, on->hook.ops, ONRAMP_HOOKS);
	if (!err)
		return 0;
	orack_acker_close(on);
	return err;
}

/* A qdisc that pauses came to the namespace: listen for its feedback.  Under RTNL.  Without the
 * port of OR-ACKs one source of feedback is missing, and no more.
 */
int onramp_hook_get(struct onramp_net *on)
{
	int err;

	ASSERT_RTNL();
	if (!on->hook.users) {
		orack_leave_end(on);
		err = onramp_hook_first(on);
		if (err)
			return err;
	}
	/* The socket that had the port may be gone by now. */
	if (!on->hook.users || on->hook.open_err)
		on->hook.open_err = orack_open(on);
	on->hook.users++;
	return 0;
}

void onramp_hook_put(struct onramp_net *on)
{
	if (--on->hook.users)
		return;
	nf_unregister_net_hooks(on->net, on->hook.ops, ONRAMP_HOOKS);
	orack_deafen(on);
	/* A hook or a datagram in progress may still open a batch or make a peer. */
	synchronize_net();
	orack_acker_close(on);
	orack_leave(on);
}

/* Moves OR-ACKs to another port.  Under RTNL. */
int onramp_hook_set_port(struct onramp_net *on, u16 port)
{
	u16 before = on->socket.port;
	int err;

	if (port == before)
		return 0;
	WRITE_ONCE(on->socket.port, port);
	if (!on->hook.users)
		return 0;
	orack_close(on);
	err = orack_open(on);
	if (err) {
		WRITE_ONCE(on->socket.port, before);
		on->hook.open_err = orack_open(on);
		return err;
	}
	on->hook.open_err = 0;
	orack_peer_ask_again(on);
	return 0;
}

static int __net_init onramp_net_init(struct net *net)
{
	struct onramp_net *on = onramp_net(net);

	on->net = net;
	on->socket.port = ONRAMP_UAPI_PORT;
	orack_clock_open(on);
	orack_price_open(on);
	orack_round_open(on);
	orack_leave_open(on);
	return 0;
}

/* Its devices are gone, and with them the qdiscs. */
static void __net_exit onramp_net_exit(struct net *net)
{
	struct onramp_net *on = onramp_net(net);

	WARN_ON_ONCE(on->hook.users);
	orack_leave_wait(on);
	rtnl_lock();
	orack_key_drop_all(on);
	orack_clock_drop_all(on);
	orack_peer_drop_asked(on);
	rtnl_unlock();
	onramp_path_close(on);
	free_percpu(on->counts);
}

static struct pernet_operations onramp_net_ops = {
	.init = onramp_net_init,
	.exit = onramp_net_exit,
	.id = &onramp_net_id,
	.size = sizeof(struct onramp_net),
};

int onramp_hook_init(void)
{
	return register_pernet_subsys(&onramp_net_ops);
}

void onramp_hook_exit(void)
{
	unregister_pernet_subsys(&onramp_net_ops);
	/* The last qdisc took the hooks away; a packet may still be in one. */
	synchronize_rcu();
}
