// SPDX-License-Identifier: GPL-2.0
/*
 * The netfilter hooks of TLT (TLT21), in the namespaces where it is on.  They are the last at
 * their places, behind other rules that change a packet's code point.
 *
 * Some packets come by twice on their way out: through the device of a VRF and then the one
 * below, or through an ipvlan and then its parent, of the same namespace or of another.  The
 * first time counts: then TCP's state is that of sending, no queue lies between, and the
 * socket's charge is TCP's.
 */
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>

#include "tlt_config.h"
#include "tlt_hook.h"
#include "tlt_in.h"
#include "tlt_net.h"
#include "tlt_out.h"
#include "tlt_packet.h"

/*
 * TCP's packets have no device at first; the layer that sends them again has set one.  A VRF
 * without a qdisc sets itself the first time, too, and is the hook's output device then.
 */
static bool tlt_hook_comes_again(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct net_device *dev = skb->dev;

	return dev && (dev != state->out || !netif_is_l3_master(dev));
}

/*
 * The device that rules name: for a packet of a VRF that below it, or the VRF itself if no
 * socket with a route is behind the packet (a SYN-ACK, a reset).
 */
static int tlt_hook_device(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb), *route = NULL;

	if (!dst)
		return 0;
	if (netif_is_l3_master(dst->dev) && skb->sk && sk_fullsock(skb->sk))
		route = rcu_dereference(skb->sk->sk_dst_cache);
	return route ? route->dev->ifindex : dst->dev->ifindex;
}

/* The device below the VRF by which @skb came; 0: there is none. */
static int tlt_hook_port(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	return state->pf == NFPROTO_IPV4 ? inet_sdif(skb) : inet6_sdif(skb);
}

/* The hooks where packets leave: @number becomes that of the first behind TLT's. */
static const struct nf_hook_entries *tlt_hook_behind(const struct tlt_net *tn,
						     const struct nf_hook_state *state,
						     unsigned int *number)
{
	const struct nf_hook_entries *all;
	unsigned int i;

	if (state->pf == NFPROTO_IPV4)
		all = rcu_dereference(state->net->nf.hooks_ipv4[NF_INET_LOCAL_OUT]);
	else
		all = rcu_dereference(state->net->nf.hooks_ipv6[NF_INET_LOCAL_OUT]);
	for (i = 0; all && i < all->num_hook_entries; i++) {
		if (all->hooks[i].priv == tn) {
			*number = i + 1;
			return all;
		}
	}
	return NULL;
}

/*
 * Netfilter goes on with one packet only, so both parts of a cut burst go on from here.  A hook
 * of the same priority that another module added before TLT's is behind it.
 */
static void tlt_hook_go_on(const struct tlt_net *tn, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	struct nf_hook_state behind = *state;
	const struct nf_hook_entries *hooks;
	unsigned int number;

	hooks = tlt_hook_behind(tn, state, &number);
	if (!hooks || nf_hook_slow(skb, &behind, hooks, number) == 1)
		state->okfn(state->net, state->sk, skb);
}

/* Not inlined, so that the hook saves no registers for packets of other connections. */
static noinline unsigned int tlt_hook_out_matched(struct tlt_net *tn, struct sk_buff *skb,
						  const struct nf_hook_state *state,
						  const struct tlt_config *config)
{
	struct tlt_packet p = { .out = true, .ifindex = tlt_hook_device(skb) };
	struct sk_buff *tail;

	if (tlt_hook_comes_again(skb, state) ||
	    !tlt_packet_read(skb, state->pf, skb->len, &p) ||
	    !tlt_config_matches(config, skb, skb->sk, &p))
		return NF_ACCEPT;
	tail = tlt_out(tn, skb, config, &p);
	if (!tail)
		return NF_ACCEPT;
	tlt_hook_go_on(tn, skb, state);
	tlt_hook_go_on(tn, tail, state);
	return NF_STOLEN;
}

static noinline unsigned int tlt_hook_in_matched(struct tlt_net *tn, struct sk_buff *skb,
						 const struct nf_hook_state *state,
						 const struct tlt_config *config)
{
	int ifindex = state->in ? state->in->ifindex : 0, port = tlt_hook_port(skb, state);
	struct tlt_packet p = { .ifindex = port ?: ifindex };
	unsigned int verdict = NF_ACCEPT;
	struct sock *sk;

	if (!tlt_packet_read(skb, state->pf, skb->len, &p))
		return NF_ACCEPT;
	/* Early demultiplexing has usually found the socket. */
	sk = skb->sk ?: tlt_packet_lookup(state->net, skb, &p, ifindex, port);
	if (tlt_config_matches(config, skb, sk, &p))
		verdict = tlt_in(tn, skb, sk, config, &p);
	if (unlikely(sk != skb->sk))
		sock_gen_put(sk);
	/* The packet has done its work and is not lost: no counter of drops may see it. */
	if (verdict == NF_STOLEN)
		consume_skb(skb);
	return verdict;
}

/*
 * If the ports can be read at once: does no rule name them?  Most packets of connections that
 * are not TLT's end here.  A packet that is not TCP has other bytes at that place, and later
 * checks leave it alone in any case.
 */
static bool tlt_hook_is_others(const struct tlt_config *config, const struct sk_buff *skb, u8 family)
{
	unsigned int bytes = family == NFPROTO_IPV4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);

	if (skb_headlen(skb) < bytes + sizeof(struct tcphdr) ||
	    (family == NFPROTO_IPV4 && *skb->data != 0x45))
		return false;
	return !tlt_config_has_ports(config, (const struct tcphdr *)(skb->data + bytes));
}

static unsigned int tlt_hook_out(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	struct tlt_net *tn = priv;
	const struct tlt_config *config = rcu_dereference(tn->config);

	if (!config || tlt_hook_is_others(config, skb, state->pf))
		return NF_ACCEPT;
	return tlt_hook_out_matched(tn, skb, state, config);
}

static unsigned int tlt_hook_in(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	struct tlt_net *tn = priv;
	const struct tlt_config *config = rcu_dereference(tn->config);

	if (!config || tlt_hook_is_others(config, skb, state->pf))
		return NF_ACCEPT;
	return tlt_hook_in_matched(tn, skb, state, config);
}

static const struct nf_hook_ops tlt_hooks[] = {
	{
		.hook = tlt_hook_out,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = tlt_hook_in,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook = tlt_hook_out,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	},
	{
		.hook = tlt_hook_in,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
#endif
};

/* Each namespace has hooks of its own, whose @priv names it. */
int tlt_hook_add(struct tlt_net *tn)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(tlt_hooks) > ARRAY_SIZE(tn->hooks));
	for (i = 0; i < ARRAY_SIZE(tlt_hooks); i++) {
		tn->hooks[i] = tlt_hooks[i];
		tn->hooks[i].priv = tn;
	}
	return nf_register_net_hooks(tn->net, tn->hooks, ARRAY_SIZE(tlt_hooks));
}

void tlt_hook_remove(struct tlt_net *tn)
{
	nf_unregister_net_hooks(tn->net, tn->hooks, ARRAY_SIZE(tlt_hooks));
}
