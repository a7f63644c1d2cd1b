/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the comparators put a rate on a socket: pace, burst, window.
 *
 * TCP's own timer paces, so the queue below has to be one without pacing, such as pfifo.  fq claims
 * the pacing with each packet, and TCP then fills it up to its limit with packets that leave at
 * times of an older rate: a lag of tens of us, with which DCQCN oscillates.
 */
#ifndef CC_PACE_H
#define CC_PACE_H

#include "compat/compat.h"

/* Ethernet header 14, FCS 4, preamble 8, gap 12: on the wire but not in a packet. */
#define CC_ETHERNET_BYTES	38

/* No window: 48 MB of full frames, which is more than any receiver's. */
#define CC_WINDOW_MAX_SEGS	(1U << 15)

/* With fewer in flight only a timeout finds a loss. */
#define CC_WINDOW_MIN_SEGS	4

/* Bytes of a full frame on the wire. */
static inline u32 cc_frame_bytes(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->mss_cache + inet_csk(sk)->icsk_af_ops->net_header_len + tp->tcp_header_len +
	       CC_ETHERNET_BYTES;
}

static inline u32 cc_burst_segs(const struct sock *sk, u32 burst_bytes)
{
	return max(burst_bytes / tcp_sk(sk)->mss_cache, 1U);
}

static inline void cc_pace_start(struct sock *sk)
{
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

static inline void cc_burst_set(struct sock *sk, u32 burst_bytes)
{
	u32 bytes = cc_burst_segs(sk, burst_bytes) * tcp_sk(sk)->mss_cache;

	if (sk_can_gso(sk) && READ_ONCE(sk->sk_gso_max_size) != bytes)
		WRITE_ONCE(sk->sk_gso_max_size, bytes);
}

static inline void cc_window_set(struct sock *sk, u64 segs)
{
	struct tcp_sock *tp = tcp_sk(sk);

	segs = clamp_t(u64, segs, CC_WINDOW_MIN_SEGS, CC_WINDOW_MAX_SEGS);
	tcp_snd_cwnd_set(tp, min_t(u32, segs, tp->snd_cwnd_clamp));
}

/* @rate_bps counts whole frames.  @window_us bounds what is in flight to so much time at that
 * rate, which is what papers write as "+w"; 0: nothing does.
 */
static inline void cc_pace_set(struct sock *sk, u64 rate_bps, u32 burst_bytes, u32 window_us)
{
	u32 frame_bytes = cc_frame_bytes(sk);
	u64 window_bytes = div_u64((rate_bps >> 3) * window_us, USEC_PER_SEC);

	WRITE_ONCE(sk->sk_pacing_rate,
		   max_t(u64, div_u64((rate_bps >> 3) * tcp_sk(sk)->mss_cache, frame_bytes), 1));
	cc_burst_set(sk, burst_bytes);
	cc_window_set(sk, window_us ? div_u64(window_bytes, frame_bytes) : CC_WINDOW_MAX_SEGS);
}

/* Loss moves neither rate nor window: TCP only sends again what was lost. */
static inline u32 cc_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static inline u32 cc_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

#endif /* CC_PACE_H */
