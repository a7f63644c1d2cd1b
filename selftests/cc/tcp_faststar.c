// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control "faststar": FAST* of TIMELY15's table 1 (faststar_rate.h).
 *
 * A rate moves once in an RTT, by the RTT of the newest ACK.
 */
#include <linux/module.h>

#include "cc_pace.h"
#include "faststar_rate.h"

/* A packet of 1500 bytes in 12 ms: slower, a flow would not notice that it may be faster. */
#define FASTSTAR_FLOOR_BPS	1000000

static unsigned int line_mbps = 10000;
module_param(line_mbps, uint, 0444);
MODULE_PARM_DESC(line_mbps, "largest rate of a flow, in Mbit/s (10000)");

static unsigned int alpha_mbps = 50;
module_param(alpha_mbps, uint, 0444);
MODULE_PARM_DESC(alpha_mbps, "part of its rate that a flow keeps in queues, in Mbit/s (50)");

static unsigned int gamma_milli = 500;
module_param(gamma_milli, uint, 0444);
MODULE_PARM_DESC(gamma_milli, "how far an update goes, in thousandths (500, as FAST TCP)");

static unsigned int start_mbps = 250;
module_param(start_mbps, uint, 0444);
MODULE_PARM_DESC(start_mbps, "first rate of a flow, in Mbit/s (250)");

static unsigned int burst_bytes = 16000;
module_param(burst_bytes, uint, 0444);
MODULE_PARM_DESC(burst_bytes, "payload sent at a time (16000, the paper's segment)");

static unsigned int window_us;
module_param(window_us, uint, 0444);
MODULE_PARM_DESC(window_us, "bound of the data in flight, in us at the flow's rate (0: none)");

struct faststar_flow {
	u64 rate_bps;
	u64 next_ns;		/* of an update */
	u32 base_us;		/* the least RTT so far; U32_MAX: none */
};

static void faststar_apply(struct sock *sk, const struct faststar_flow *f)
{
	cc_pace_set(sk, f->rate_bps, burst_bytes, window_us);
}

static void faststar_update(struct faststar_flow *f, u32 rtt_us, u64 now_ns)
{
	const struct faststar_params p = {
		.line_bps = line_mbps * 1000000ULL,
		.floor_bps = FASTSTAR_FLOOR_BPS,
		.alpha_bps = alpha_mbps * 1000000ULL,
		.gamma_milli = gamma_milli,
	};

	f->base_us = min(f->base_us, rtt_us);
	if (now_ns < f->next_ns)
		return;
	f->rate_bps = faststar_rate(&p, f->rate_bps, f->base_us, rtt_us);
	f->next_ns = now_ns + rtt_us * (u64)NSEC_PER_USEC;
}

static void faststar_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct faststar_flow *f = inet_csk_ca(sk);

	if (rs->rtt_us > 0)
		faststar_update(f, rs->rtt_us, tcp_sk(sk)->tcp_clock_cache);
	faststar_apply(sk, f);
}

TP_CONG_CONTROL(faststar_cong_control, faststar_ack)

TP_TSO_SEGS(faststar_tso_segs)
{
	return cc_burst_segs(sk, burst_bytes);
}

static void faststar_init(struct sock *sk)
{
	struct faststar_flow *f = inet_csk_ca(sk);

	*f = (struct faststar_flow) { .rate_bps = start_mbps * 1000000ULL, .base_us = U32_MAX };
	cc_pace_start(sk);
	faststar_apply(sk, f);
}

static struct tcp_congestion_ops faststar_ops __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "faststar",
	.owner		= THIS_MODULE,
	.init		= faststar_init,
	.cong_control	= faststar_cong_control,
	.ssthresh	= cc_ssthresh,
	.undo_cwnd	= cc_undo_cwnd,
	.TP_TSO_SEGS_MEMBER = faststar_tso_segs,
};

static int __init faststar_load(void)
{
	BUILD_BUG_ON(sizeof(struct faststar_flow) > ICSK_CA_PRIV_SIZE);

	if (!line_mbps || !start_mbps || gamma_milli > 1000) {
		pr_err("faststar: line_mbps and start_mbps are at least 1, gamma_milli at most 1000\n");
		return -EINVAL;
	}
	return tcp_register_congestion_control(&faststar_ops);
}

static void __exit faststar_unload(void)
{
	tcp_unregister_congestion_control(&faststar_ops);
}

module_init(faststar_load);
module_exit(faststar_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("FAST*, to compare with");
MODULE_LICENSE("GPL");
