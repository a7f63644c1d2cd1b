// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of sch_onramp.ko.  Model: On-Ramp (ONRAMP21).
 */
#include <linux/module.h>
#include <linux/net.h>
#include <net/genetlink.h>

#include "compat/compat.h"
#include "onramp_ctl.h"
#include "onramp_hook.h"
#include "onramp_sched.h"
#include "onramp_timely.h"
#include "orack/orack_acking.h"
#include "orack/orack_clock.h"
#include "orack/orack_genl.h"
#include "orack/orack_nic.h"
#include "orack/orack_peer.h"

static const struct {
	int (*init)(void);
	void (*exit)(void);
} onramp_parts[] = {
	{ onramp_flow_init, onramp_flow_exit },
	{ onramp_ctl_init, onramp_ctl_exit },
	{ orack_peer_init, orack_peer_exit },
	{ orack_clock_init, orack_clock_exit },
	{ orack_nic_init, orack_nic_exit },
	{ onramp_hook_init, onramp_hook_exit },
	{ orack_genl_init, orack_genl_exit },
	{ onramp_line_init, onramp_line_exit },
	{ onramp_timely_init, onramp_timely_exit },
};

static void onramp_exit_parts(int count)
{
	while (count--)
		onramp_parts[count].exit();
}

static int __init onramp_load(void)
{
	int i, err;

	orack_acking_init();
	for (i = 0; i < ARRAY_SIZE(onramp_parts); i++) {
		err = onramp_parts[i].init();
		if (err)
			goto fail;
	}
	err = register_qdisc(&onramp_qdisc_ops);
	if (!err)
		return 0;
fail:
	onramp_exit_parts(i);
	return err;
}

static void __exit onramp_unload(void)
{
	unregister_qdisc(&onramp_qdisc_ops);
	onramp_exit_parts(ARRAY_SIZE(onramp_parts));
}

module_init(onramp_load);
module_exit(onramp_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("On-Ramp: fair queueing that holds packets while the path is overloaded");
MODULE_VERSION(TURNPIKE_VERSION);
MODULE_LICENSE("GPL");
TP_MODULE_ALIAS_SCH("onramp");
MODULE_ALIAS_GENL_FAMILY(ONRAMP_GENL_NAME);
