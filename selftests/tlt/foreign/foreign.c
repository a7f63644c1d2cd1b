// SPDX-License-Identifier: GPL-2.0
/*
 * Somebody between TCP and TLT who makes bursts his own: their destructor is this module's, which
 * counts and gives back TCP's charge.  It has to be called once for each burst that was taken.
 */
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <net/net_namespace.h>
#include <net/sock.h>

static atomic_t foreign_taken = ATOMIC_INIT(0);
static atomic_t foreign_returned = ATOMIC_INIT(0);
/* TCP's, which no module can name; the same for all bursts. */
static void (*foreign_tcps)(struct sk_buff *skb);

static int foreign_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops foreign_count = {
	.get = foreign_get,
};

module_param_cb(taken, &foreign_count, &foreign_taken, 0444);
module_param_cb(returned, &foreign_count, &foreign_returned, 0444);

static void foreign_return(struct sk_buff *skb)
{
	atomic_inc(&foreign_returned);
	READ_ONCE(foreign_tcps)(skb);
}

static unsigned int foreign_take(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	/* A packet may pass twice: its destructor is this module's then. */
	if (!skb_is_gso(skb) || !skb->destructor || skb->destructor == sock_efree ||
	    skb->destructor == foreign_return)
		return NF_ACCEPT;
	WRITE_ONCE(foreign_tcps, skb->destructor);
	skb->destructor = foreign_return;
	atomic_inc(&foreign_taken);
	return NF_ACCEPT;
}

static const struct nf_hook_ops foreign_ops = {
	.hook = foreign_take,
	.pf = NFPROTO_IPV4,
	.hooknum = NF_INET_LOCAL_OUT,
	.priority = NF_IP_PRI_FIRST,
};

static int __net_init foreign_net_init(struct net *net)
{
	return nf_register_net_hook(net, &foreign_ops);
}

static void __net_exit foreign_net_exit(struct net *net)
{
	nf_unregister_net_hook(net, &foreign_ops);
}

static struct pernet_operations foreign_net_ops = {
	.init = foreign_net_init,
	.exit = foreign_net_exit,
};

static int __init foreign_load(void)
{
	return register_pernet_subsys(&foreign_net_ops);
}

static void __exit foreign_unload(void)
{
	unregister_pernet_subsys(&foreign_net_ops);
}

module_init(foreign_load);
module_exit(foreign_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("A destructor of its own for bursts that leave");
MODULE_LICENSE("GPL");
