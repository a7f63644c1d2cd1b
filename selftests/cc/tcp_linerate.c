// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control "linerate": none, a fixed window at line rate, for fabrics in which PFC
 * alone keeps queues (TIMELY15's table 1, "PFC").
 */
#include <linux/module.h>

#include "cc_pace.h"

static unsigned int window_bytes = 64000;
module_param(window_bytes, uint, 0444);
MODULE_PARM_DESC(window_bytes, "payload in flight (64000, a message of the paper's RPCs)");

static unsigned int burst_bytes = 16000;
module_param(burst_bytes, uint, 0444);
MODULE_PARM_DESC(burst_bytes, "payload sent at a time (16000, the paper's segment)");

static void linerate_apply(struct sock *sk)
{
	WRITE_ONCE(sk->sk_pacing_rate, ~0UL);
	cc_burst_set(sk, burst_bytes);
	cc_window_set(sk, window_bytes / tcp_sk(sk)->mss_cache);
}

static void linerate_ack(struct sock *sk, const struct rate_sample *rs)
{
	linerate_apply(sk);
}

TP_CONG_CONTROL(linerate_cong_control, linerate_ack)

TP_TSO_SEGS(linerate_tso_segs)
{
	return cc_burst_segs(sk, burst_bytes);
}

static void linerate_init(struct sock *sk)
{
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	linerate_apply(sk);
}

static struct tcp_congestion_ops linerate_ops __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "linerate",
	.owner		= THIS_MODULE,
	.init		= linerate_init,
	.cong_control	= linerate_cong_control,
	.ssthresh	= cc_ssthresh,
	.undo_cwnd	= cc_undo_cwnd,
	.TP_TSO_SEGS_MEMBER = linerate_tso_segs,
};

static int __init linerate_load(void)
{
	return tcp_register_congestion_control(&linerate_ops);
}

static void __exit linerate_unload(void)
{
	tcp_unregister_congestion_control(&linerate_ops);
}

module_init(linerate_load);
module_exit(linerate_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("A fixed window at line rate, to compare with");
MODULE_LICENSE("GPL");
