// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control "dcqcn": DCQCN (dcqcn_rate.h) over TCP's ECN.
 *
 * The NIC's rate limiter is TCP's pacing with bursts of one packet.  The switch marks, the
 * receiver's ACKs tell of each mark (cc_ecn_echo.h), and the sender takes them for the CNPs of
 * RDMA.  ACKs move timers, too: a flow that sends gets one for every two packets.
 */
#include <linux/module.h>

#include "cc_ecn_echo.h"
#include "cc_pace.h"
#include "dcqcn_rate.h"

/* DCQCN has no floor of its own.  Slower, a flow gets no ACK in any of its periods. */
#define DCQCN_FLOOR_BPS		10000000

/* Defaults are those of ECNDELAY16 table 1, which are those of DCQCN's paper for 40 Gbit/s. */
static unsigned int line_mbps = 40000;
module_param(line_mbps, uint, 0444);
MODULE_PARM_DESC(line_mbps, "rate of the NIC, in Mbit/s (40000)");

static unsigned int ai_mbps = 40;
module_param(ai_mbps, uint, 0444);
MODULE_PARM_DESC(ai_mbps, "additive increase R_AI, in Mbit/s (40)");

static unsigned int hai_mbps = 200;
module_param(hai_mbps, uint, 0444);
MODULE_PARM_DESC(hai_mbps, "hyper increase R_HAI, in Mbit/s (200)");

static unsigned int cnp_us = 50;
module_param(cnp_us, uint, 0444);
MODULE_PARM_DESC(cnp_us, "least time between decreases, in us (50)");

static unsigned int alpha_us = 55;
module_param(alpha_us, uint, 0444);
MODULE_PARM_DESC(alpha_us, "time between steps of alpha, in us (55)");

static unsigned int timer_us = 55;
module_param(timer_us, uint, 0444);
MODULE_PARM_DESC(timer_us, "time between increases T, in us (55)");

static unsigned int count_kb = 10000;
module_param(count_kb, uint, 0444);
MODULE_PARM_DESC(count_kb, "data between increases B, in KB (10000)");

static unsigned int burst_bytes;
module_param(burst_bytes, uint, 0444);
MODULE_PARM_DESC(burst_bytes, "payload sent at a time (0: a packet)");

static unsigned int window_us;
module_param(window_us, uint, 0444);
MODULE_PARM_DESC(window_us, "bound of the data in flight, in us at the flow's rate (0: none)");

struct dcqcn_flow {
	struct dcqcn_state rate;
	struct cc_ecn_echo echo;
	u32 seen_ce;		/* packets whose marks came back, so far */
};

static struct dcqcn_params dcqcn_params __read_mostly;	/* fixed once loaded */

static void dcqcn_apply(struct sock *sk, const struct dcqcn_flow *f)
{
	cc_pace_set(sk, f->rate.current_bps, burst_bytes, window_us);
}

static void dcqcn_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct dcqcn_flow *f = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 bytes = rs->acked_sacked * cc_frame_bytes(sk);

	dcqcn_advance(&f->rate, &dcqcn_params, bytes, tp->tcp_clock_cache);
	if (tp->delivered_ce != f->seen_ce)
		dcqcn_marked(&f->rate, &dcqcn_params, tp->tcp_clock_cache);
	f->seen_ce = tp->delivered_ce;
	dcqcn_apply(sk, f);
}

TP_CONG_CONTROL(dcqcn_cong_control, dcqcn_ack)

TP_TSO_SEGS(dcqcn_tso_segs)
{
	return cc_burst_segs(sk, burst_bytes);
}

static void dcqcn_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct dcqcn_flow *f = inet_csk_ca(sk);

	cc_ecn_echo_event(sk, &f->echo, event);
}

static void dcqcn_init(struct sock *sk)
{
	struct dcqcn_flow *f = inet_csk_ca(sk);

	dcqcn_start(&f->rate, &dcqcn_params, tcp_clock_ns());
	cc_ecn_echo_start(&f->echo, sk);
	f->seen_ce = tcp_sk(sk)->delivered_ce;
	cc_pace_start(sk);
	dcqcn_apply(sk, f);
}

static struct tcp_congestion_ops dcqcn_ops __read_mostly = {
	.flags		= TCP_CONG_NEEDS_ECN | TCP_CONG_NON_RESTRICTED,
	.name		= "dcqcn",
	.owner		= THIS_MODULE,
	.init		= dcqcn_init,
	.cong_control	= dcqcn_cong_control,
	.cwnd_event	= dcqcn_cwnd_event,
	.ssthresh	= cc_ssthresh,
	.undo_cwnd	= cc_undo_cwnd,
	.TP_TSO_SEGS_MEMBER = dcqcn_tso_segs,
};

static int __init dcqcn_load(void)
{
	BUILD_BUG_ON(sizeof(struct dcqcn_flow) > ICSK_CA_PRIV_SIZE);

	if (!line_mbps || !alpha_us || !timer_us || !count_kb) {
		pr_err("dcqcn: line_mbps, alpha_us, timer_us and count_kb are at least 1\n");
		return -EINVAL;
	}
	dcqcn_params = (struct dcqcn_params) {
		.line_bps = line_mbps * 1000000ULL,
		.floor_bps = DCQCN_FLOOR_BPS,
		.ai_bps = ai_mbps * 1000000ULL,
		.hai_bps = hai_mbps * 1000000ULL,
		.cnp_ns = cnp_us * (u64)NSEC_PER_USEC,
		.alpha_ns = alpha_us * (u64)NSEC_PER_USEC,
		.timer_ns = timer_us * (u64)NSEC_PER_USEC,
		.count_bytes = count_kb * 1000ULL,
	};
	return tcp_register_congestion_control(&dcqcn_ops);
}

static void __exit dcqcn_unload(void)
{
	tcp_unregister_congestion_control(&dcqcn_ops);
}

module_init(dcqcn_load);
module_exit(dcqcn_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("DCQCN, to compare with");
MODULE_LICENSE("GPL");
