// SPDX-License-Identifier: GPL-2.0
/*
 * A driver that starts and stops from two places at once, as one whose reset holds no RTNL:
 * both add and remove the same port of nicstamp's, over and over.  Loading ends when they are
 * through, and then nothing of it may be left.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <net/net_namespace.h>

#include "include/nicstamp.h"

static unsigned int rounds = 300;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often each of the two does so");

static struct nicstamp_port __rcu *ports_port;
static struct completion ports_done[2];

static u64 ports_read(void *driver)
{
	return ktime_get_ns();
}

static const struct nicstamp_info ports_info = {
	.read = ports_read,
	.bits = 64,
	.mult = 1,
	.step_ns = 1,
};

static int ports_work(void *done)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		nicstamp_port_add(&ports_port, init_net.loopback_dev, &ports_info);
		nicstamp_port_del(&ports_port);
	}
	/* The module may go at once. */
	kthread_complete_and_exit(done, 0);
}

static int __init ports_load(void)
{
	struct task_struct *task;
	int i, started = 0, err = 0;

	for (i = 0; i < ARRAY_SIZE(ports_done) && !err; i++) {
		init_completion(&ports_done[i]);
		task = kthread_run(ports_work, &ports_done[i], "ports/%d", i);
		if (IS_ERR(task))
			err = PTR_ERR(task);
		else
			started++;
	}
	while (started--)
		wait_for_completion(&ports_done[started]);
	nicstamp_port_del(&ports_port);
	return err;
}

static void __exit ports_unload(void)
{
}

module_init(ports_load);
module_exit(ports_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("Adds and removes a port of nicstamp's from two places at once");
MODULE_LICENSE("GPL");
