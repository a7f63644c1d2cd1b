// SPDX-License-Identifier: GPL-2.0
/*
 * The netfilter hooks, in the namespaces where TLT is on.  They are the last at
 * their places: what other rules make of a packet's code point comes before.
 */
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>

#include "tlt.h"

static unsigned int tlt_hook_out(struct sk_buff *skb, const struct nf_hook_state *state, u8 family)
{
	const struct tlt_config *config = rcu_dereference(tlt_net(state->net)->config);
	int ifindex = skb_dst(skb) ? skb_dst(skb)->dev->ifindex : 0;
	struct tlt_packet p;

	if (!config || !tlt_packet_read(skb, family, &p) ||
	    !tlt_config_matches(config, skb, &p, ifindex, true))
		return NF_ACCEPT;
	return tlt_out(skb, state, config, &p);
}

static unsigned int tlt_hook_in(struct sk_buff *skb, const struct nf_hook_state *state, u8 family)
{
	const struct tlt_config *config = rcu_dereference(tlt_net(state->net)->config);
	int ifindex = state->in ? state->in->ifindex : 0;
	struct tlt_packet p;

	if (!config || !tlt_packet_read(skb, family, &p) ||
	    !tlt_config_matches(config, skb, &p, ifindex, false))
		return NF_ACCEPT;
	return tlt_in(skb, state, config, &p);
}

static unsigned int tlt_hook_out_ipv4(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	return tlt_hook_out(skb, state, AF_INET);
}

static unsigned int tlt_hook_in_ipv4(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	return tlt_hook_in(skb, state, AF_INET);
}

#if IS_ENABLED(CONFIG_IPV6)
static unsigned int tlt_hook_out_ipv6(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	return tlt_hook_out(skb, state, AF_INET6);
}

static unsigned int tlt_hook_in_ipv6(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	return tlt_hook_in(skb, state, AF_INET6);
}
#endif

static const struct nf_hook_ops tlt_hooks[] = {
	{
		.hook = tlt_hook_out_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = tlt_hook_in_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook = tlt_hook_out_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	},
	{
		.hook = tlt_hook_in_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
#endif
};

int tlt_hook_add(struct net *net)
{
	return nf_register_net_hooks(net, tlt_hooks, ARRAY_SIZE(tlt_hooks));
}

void tlt_hook_remove(struct net *net)
{
	nf_unregister_net_hooks(net, tlt_hooks, ARRAY_SIZE(tlt_hooks));
}
