// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control "hpcc": HPCC (hpcc_window.h) on the virtual rack's telemetry
 * (selftests/vrack/vr_telemetry.h).
 *
 * What HPCC's receivers echo is with the sender when an ACK comes.  The window bounds what is in
 * flight, and the pacing is the window in a base RTT.
 */
#include <linux/module.h>

#include "cc_pace.h"
#include "hpcc_window.h"

static unsigned int line_mbps = 100000;
module_param(line_mbps, uint, 0444);
MODULE_PARM_DESC(line_mbps, "rate of the NIC, in Mbit/s (100000)");

static unsigned int base_us = 13;
module_param(base_us, uint, 0444);
MODULE_PARM_DESC(base_us, "T, the largest base RTT of the network, in us (13, as HPCC's paper)");

static unsigned int eta_milli = 950;
module_param(eta_milli, uint, 0444);
MODULE_PARM_DESC(eta_milli, "utilization to keep, in thousandths (950, as HPCC's paper)");

static unsigned int max_stage = 5;
module_param(max_stage, uint, 0444);
MODULE_PARM_DESC(max_stage, "additive steps in a row before a multiplicative one (5, as HPCC's paper)");

static unsigned int ai_bytes = 80;
module_param(ai_bytes, uint, 0444);
MODULE_PARM_DESC(ai_bytes, "additive step W_AI, in bytes (80, as HPCC's paper)");

static unsigned int burst_bytes;
module_param(burst_bytes, uint, 0444);
MODULE_PARM_DESC(burst_bytes, "payload sent at a time (0: a packet)");

static struct hpcc_params hpcc_params __read_mostly;	/* fixed once loaded */

static void hpcc_apply(struct sock *sk, const struct hpcc_state *s)
{
	u64 rate_bps = div_u64((u64)s->window_bytes * 8 * NSEC_PER_SEC, hpcc_params.base_ns);

	cc_pace_set(sk, max_t(u64, rate_bps, 1), burst_bytes, base_us);
}

static void hpcc_acked(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct hpcc_state *s = inet_csk_ca(sk);
	struct vr_telemetry t;

	if (vr_telemetry_of(sk, tp->snd_una, &t))
		hpcc_ack(s, &hpcc_params, &t, tp->snd_una, tp->snd_nxt);
	hpcc_apply(sk, s);
}

TP_CONG_CONTROL(hpcc_cong_control, hpcc_acked)

TP_TSO_SEGS(hpcc_tso_segs)
{
	return cc_burst_segs(sk, burst_bytes);
}

static void hpcc_init(struct sock *sk)
{
	struct hpcc_state *s = inet_csk_ca(sk);

	hpcc_start(s, &hpcc_params, tcp_sk(sk)->snd_nxt);
	cc_pace_start(sk);
	hpcc_apply(sk, s);
}

static struct tcp_congestion_ops hpcc_ops __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "hpcc",
	.owner		= THIS_MODULE,
	.init		= hpcc_init,
	.cong_control	= hpcc_cong_control,
	.ssthresh	= cc_ssthresh,
	.undo_cwnd	= cc_undo_cwnd,
	.TP_TSO_SEGS_MEMBER = hpcc_tso_segs,
};

static int __init hpcc_load(void)
{
	BUILD_BUG_ON(sizeof(struct hpcc_state) > ICSK_CA_PRIV_SIZE);

	/* A second of T and 1.6 Tbit/s keep all products within 64 bits. */
	if (!line_mbps || line_mbps > 1600000 || !base_us || base_us > 1000000 || !eta_milli ||
	    eta_milli > 1000 || max_stage > 100) {
		pr_err("hpcc: line_mbps is 1 to 1600000, base_us 1 to 1000000, eta_milli 1 to 1000, max_stage 0 to 100\n");
		return -EINVAL;
	}
	hpcc_params = (struct hpcc_params) {
		.base_ns = base_us * NSEC_PER_USEC,
		.eta_milli = eta_milli,
		.max_stage = max_stage,
		.ai_bytes = ai_bytes,
		.line_bytes = min_t(u64, (u64)line_mbps * base_us / 8, U32_MAX),
	};
	return tcp_register_congestion_control(&hpcc_ops);
}

static void __exit hpcc_unload(void)
{
	tcp_unregister_congestion_control(&hpcc_ops);
}

module_init(hpcc_load);
module_exit(hpcc_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("HPCC, to compare with");
MODULE_LICENSE("GPL");
