// SPDX-License-Identifier: GPL-2.0
/*
 * The netfilter hooks, in the namespaces where TLT is on.  They are the last at
 * their places: what other rules make of a packet's code point comes before.
 */
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>

#include "tlt.h"
#include "tlt_quick.h"

static noinline unsigned int tlt_hook_out_long(struct tlt_net *tn, struct sk_buff *skb,
					       const struct nf_hook_state *state,
					       const struct tlt_config *config)
{
	struct tlt_packet p;

	if (!tlt_packet_read(skb, state->pf, &p) || !tlt_config_matches(config, skb, state, &p))
		return NF_ACCEPT;
	p.generation = config->by_flow ? config->generation : 0;
	return tlt_out(tn, skb, state, config, &p);
}

static noinline unsigned int tlt_hook_in_long(struct tlt_net *tn, struct sk_buff *skb,
					      const struct nf_hook_state *state,
					      const struct tlt_config *config)
{
	struct tlt_packet p;

	if (!tlt_packet_read(skb, state->pf, &p) || !tlt_config_matches(config, skb, state, &p))
		return NF_ACCEPT;
	p.generation = config->by_flow ? config->generation : 0;
	return tlt_in(tn, skb, state, config, &p);
}

/*
 * A look at the ports tells of most packets that no rule matches: nothing else is then
 * done, which is most of what can be saved for connections that are not TLT's.
 */
static __always_inline unsigned int tlt_hook_out(struct tlt_net *tn, struct sk_buff *skb,
						 const struct nf_hook_state *state, u8 family)
{
	const struct tlt_config *config = rcu_dereference(tn->config);
	const struct tcphdr *th = tlt_quick_header(skb, family);

	if (!config || !tlt_quick_is_tcp(skb, family))
		return NF_ACCEPT;
	if (tlt_quick_is_next(skb, family) &&
	    (!tlt_config_has_ports(config, th) ||
	     tlt_quick_out(tn, config, skb, th, family)))
		return NF_ACCEPT;
	return tlt_hook_out_long(tn, skb, state, config);
}

static __always_inline unsigned int tlt_hook_in(struct tlt_net *tn, struct sk_buff *skb,
						const struct nf_hook_state *state, u8 family)
{
	const struct tlt_config *config = rcu_dereference(tn->config);
	const struct tcphdr *th = tlt_quick_header(skb, family);

	if (!config || !tlt_quick_is_tcp(skb, family))
		return NF_ACCEPT;
	if (tlt_quick_is_next(skb, family) &&
	    (!tlt_config_has_ports(config, th) ||
	     tlt_quick_in(tn, config, skb, th, family)))
		return NF_ACCEPT;
	return tlt_hook_in_long(tn, skb, state, config);
}

static unsigned int tlt_hook_out_ipv4(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	return tlt_hook_out(priv, skb, state, AF_INET);
}

static unsigned int tlt_hook_in_ipv4(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	return tlt_hook_in(priv, skb, state, AF_INET);
}

#if IS_ENABLED(CONFIG_IPV6)
static unsigned int tlt_hook_out_ipv6(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	return tlt_hook_out(priv, skb, state, AF_INET6);
}

static unsigned int tlt_hook_in_ipv6(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	return tlt_hook_in(priv, skb, state, AF_INET6);
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

/* Each namespace has its own: a hook is told which one it runs in. */
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
