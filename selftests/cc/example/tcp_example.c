// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion control from outside the tree, as Documentation/own-cc.rst builds and runs it: Reno
 * that keeps seven eighths of its window at a loss.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int keep_milli = 875;
module_param(keep_milli, uint, 0444);
MODULE_PARM_DESC(keep_milli, "part of the window that a loss leaves, in thousandths (875)");

static u32 example_ssthresh(struct sock *sk)
{
	return max_t(u32, (u64)tcp_snd_cwnd(tcp_sk(sk)) * keep_milli / 1000, 2);
}

static struct tcp_congestion_ops example_ops __read_mostly = {
	.name		= "example",
	.owner		= THIS_MODULE,
	.ssthresh	= example_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init example_load(void)
{
	return tcp_register_congestion_control(&example_ops);
}

static void __exit example_unload(void)
{
	tcp_unregister_congestion_control(&example_ops);
}

module_init(example_load);
module_exit(example_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("An example of a congestion control to test");
MODULE_LICENSE("GPL");
