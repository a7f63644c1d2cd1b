// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of tcp_timely.ko (TIMELY15, ECNDELAY16).
 */
#include <linux/module.h>

#include "timely_cc.h"
#include "timely_config.h"
#include "timely_dev.h"
#include "timely_flow.h"
#include "timely_net.h"
#include "timely_nic.h"
#include "timely_signal.h"
#include "timely_stat.h"

static int __net_init timely_net_init(struct net *net)
{
	int err = timely_stat_init(net);

	if (err)
		return err;
	err = timely_sysctl_init(net);
	if (err)
		timely_stat_exit(net);
	return err;
}

/* An RCU grace period passes between the two: counters go after their users. */
static struct pernet_operations timely_net_ops = {
	.init = timely_net_init,
	.pre_exit = timely_sysctl_exit,
	.exit = timely_stat_exit,
	.id = &timely_net_id,
	.size = sizeof(struct timely_net),
};

static int __init timely_load(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct timely_flow) > ICSK_CA_PRIV_SIZE);

	err = register_pernet_subsys(&timely_net_ops);
	if (err)
		return err;
	err = timely_forward_table_init();
	if (err)
		goto fail_net;
	err = timely_nic_init();
	if (err)
		goto fail_forward;
	err = timely_cc_init();
	if (err)
		goto fail_nic;
	/* The last step: it could not be undone while the loader waits and holds the RTNL. */
	timely_dev_init();
	return 0;

fail_nic:
	timely_nic_exit();
fail_forward:
	timely_forward_table_exit();
fail_net:
	unregister_pernet_subsys(&timely_net_ops);
	return err;
}

static void __exit timely_unload(void)
{
	timely_cc_exit();
	timely_nic_exit();
	timely_forward_table_exit();
	timely_dev_exit();
	unregister_pernet_subsys(&timely_net_ops);
}

module_init(timely_load);
module_exit(timely_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("TIMELY, Patched TIMELY and TIMELY-PI congestion control");
MODULE_VERSION(TURNPIKE_VERSION);
MODULE_LICENSE("GPL");
MODULE_ALIAS("tcp_timely_patched");
MODULE_ALIAS("tcp_timely_pi");
