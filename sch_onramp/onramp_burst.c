// SPDX-License-Identifier: GPL-2.0
/*
 * The burst governor: onramp_burst.h says how large a burst may be.  Not in ONRAMP21.
 *
 * The governor sets the socket's own limit (sk_gso_max_size), which others may set too.  It only
 * makes the limit smaller, and gives back no more than it took.
 */
#include <net/tcp.h>

#include "onramp_burst.h"
#include "onramp_ctl.h"
#include "onramp_sched.h"

static u32 onramp_burst_want(const struct onramp_sched *q, const struct onramp_flow *f,
			     const struct sock *sk, u32 mss)
{
	u64 rate = f->release.rate;

	if (!rate)
		return onramp_burst_bytes(q->burst_mult, READ_ONCE(sk->sk_pacing_rate), mss);
	return onramp_burst_paused_bytes(q->burst_mult, onramp_burst_rate(q->burst_per_line, rate),
					 mss);
}

/* A packet of @sk enters the queue.  As a rule the owner of the socket's lock queues it. */
void onramp_burst_govern(struct onramp_sched *q, const struct onramp_flow *f, struct sock *sk)
{
	struct onramp_ctl *ctl = f->ctl;
	u32 now = READ_ONCE(sk->sk_gso_max_size), want, before;
	u32 mss = READ_ONCE(tcp_sk(sk)->mss_cache);

	/* Before the first packet leaves, the pacing rate is that of an initial window. */
	if (!ctl->mss || !mss || !now)
		return;
	/* Another writer set the limit since: a new route, a congestion control. */
	before = ctl->gso_set == now ? ctl->gso_before : now;
	want = min(onramp_burst_want(q, f, sk, mss), before);
	/* Ignore small changes: each dirties a cache line of the socket. */
	if (want > now - now / 8 && want < now + now / 8)
		return;
	if (want < now)
		q->stats.burst_cuts++;
	ctl->gso_before = before;
	ctl->gso_set = want;
	WRITE_ONCE(sk->sk_gso_max_size, want);
}
