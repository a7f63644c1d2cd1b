// SPDX-License-Identifier: GPL-2.0
/*
 * The burst governor.
 *
 * A GSO packet leaves as one burst, and when N flows each send one of 64 KB into the same
 * port, N times 64 KB is what its queue holds, whatever the threshold T: 629 us with 12
 * flows at 10 Gbit/s.  TCP sizes its bursts by the pacing rate, but where RTTs are short
 * adds 64 KB again (tcp_tso_rtt_log).
 *
 * A flow's rate says how many others there are, wherever they send from: each has its
 * share C / N.  A burst of rate * T / 2 from each is then C * T / 2 together, half of what
 * T allows, and a single flow at line rate keeps the large ones that save cycles.
 *
 * The limit is the socket's own (sk_gso_max_size), which others may set too: it is only
 * made smaller here, and given back only as far as it was taken.
 */
#include <net/tcp.h>

#include "onramp.h"

/* Fewer than two segments a burst cost cycles and delay ACKs. */
#define ONRAMP_BURST_SEGS	2

static u32 onramp_burst_bytes(const struct onramp_sched *q, const struct onramp_flow *f,
			      const struct sock *sk)
{
	const struct onramp_ctl *ctl = f->ctl;
	u64 rate = min_t(u64, f->release.rate ?: READ_ONCE(sk->sk_pacing_rate), U32_MAX);
	u64 half_us = div_u64(q->config.pause.threshold_ns, 2 * NSEC_PER_USEC);
	u64 bytes = div_u64(rate * half_us, USEC_PER_SEC);

	return clamp_t(u64, bytes, ONRAMP_BURST_SEGS * ctl->mss, GSO_LEGACY_MAX_SIZE);
}

/* A packet of @sk is being queued: as a rule by the owner of the socket's lock. */
void onramp_burst_govern(struct onramp_sched *q, const struct onramp_flow *f, struct sock *sk)
{
	struct onramp_ctl *ctl = f->ctl;
	u32 now = READ_ONCE(sk->sk_gso_max_size), want, before;

	if (!ctl->mss || !now)
		return;
	/* Somebody else wrote there since: a new route, a congestion control. */
	before = ctl->gso_set == now ? ctl->gso_before : now;
	want = min(onramp_burst_bytes(q, f, sk), before);
	/* Let small changes be: each costs a line of the socket. */
	if (want > now - now / 8 && want < now + now / 8)
		return;
	if (want < now)
		q->stats.burst_cuts++;
	ctl->gso_before = before;
	ctl->gso_set = want;
	WRITE_ONCE(sk->sk_gso_max_size, want);
}
