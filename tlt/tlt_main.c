// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of tlt.ko (TLT21), and the start and end of network namespaces.
 */
#include <linux/genetlink.h>
#include <linux/module.h>
#include <linux/net.h>
#include <net/genetlink.h>

#include "tlt_attach.h"
#include "tlt_deferred.h"
#include "tlt_flow.h"
#include "tlt_genl.h"
#include "tlt_net.h"
#include "tlt_stat.h"

static int __net_init tlt_net_init(struct net *net)
{
	struct tlt_net *tn = tlt_net(net);
	int err;

	tn->net = net;
	mutex_init(&tn->mutex);
	err = tlt_stat_init(tn);
	if (err)
		return err;
	err = tlt_flow_net_init(tn);
	if (err)
		tlt_stat_exit(tn);
	return err;
}

/* An RCU grace period passes between the two, so flows end after the hooks' last call. */
static void __net_exit tlt_net_pre_exit(struct net *net)
{
	tlt_detach(net);
}

static void __net_exit tlt_net_exit(struct net *net)
{
	struct tlt_net *tn = tlt_net(net);

	tlt_deferred_wait(tn);
	tlt_flow_net_exit(tn);
	tlt_stat_exit(tn);
}

static struct pernet_operations tlt_net_ops = {
	.init = tlt_net_init,
	.pre_exit = tlt_net_pre_exit,
	.exit = tlt_net_exit,
	.id = &tlt_net_id,
	.size = sizeof(struct tlt_net),
};

static int __init tlt_load(void)
{
	int err;

	err = tlt_deferred_init();
	if (err)
		return err;
	err = register_pernet_subsys(&tlt_net_ops);
	if (err)
		goto fail_deferred;
	err = tlt_genl_init();
	if (err)
		goto fail_net;
	return 0;

fail_net:
	unregister_pernet_subsys(&tlt_net_ops);
fail_deferred:
	tlt_deferred_exit();
	return err;
}

static void __exit tlt_unload(void)
{
	tlt_genl_exit();
	unregister_pernet_subsys(&tlt_net_ops);
	tlt_deferred_exit();
	rcu_barrier();
}

module_init(tlt_load);
module_exit(tlt_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("TLT: losses that never become timeouts");
MODULE_VERSION(TURNPIKE_VERSION);
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY(TLT_GENL_NAME);
