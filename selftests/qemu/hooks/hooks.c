// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks that do nothing, in all namespaces and at TLT's places: what a flow pays
 * for them is netfilter's cost, and what it pays for TLT's beyond that is TLT's.
 */
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <net/net_namespace.h>

static unsigned int hooks_pass(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	return NF_ACCEPT;
}

static const struct nf_hook_ops hooks_ops[] = {
	{
		.hook = hooks_pass,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = hooks_pass,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
};

static int __net_init hooks_net_init(struct net *net)
{
	return nf_register_net_hooks(net, hooks_ops, ARRAY_SIZE(hooks_ops));
}

static void __net_exit hooks_net_exit(struct net *net)
{
	nf_unregister_net_hooks(net, hooks_ops, ARRAY_SIZE(hooks_ops));
}

static struct pernet_operations hooks_net_ops = {
	.init = hooks_net_init,
	.exit = hooks_net_exit,
};

static int __init hooks_load(void)
{
	return register_pernet_subsys(&hooks_net_ops);
}

static void __exit hooks_unload(void)
{
	unregister_pernet_subsys(&hooks_net_ops);
}

module_init(hooks_load);
module_exit(hooks_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("Netfilter hooks that do nothing");
MODULE_LICENSE("GPL");
