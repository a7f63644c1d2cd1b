/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RTT less the queueing delay of the ACK's way back (signal=forward). Pure.
 *
 * An RTT contains the queues of the way back, which this flow's rate cannot change (TIMELY15,
 * "Limitations of RTTs" in section 2). The paper's remedy is a higher priority for ACKs. Here
 * the receiver's clock tells the two ways apart, without the help of switches:
 *
 *      burst leaves ---- there ----> ACK leaves ---- back ----> ACK arrives
 *      sent, own clock               TSval, its clock            now, own clock
 *
 *      TSval - sent = way there + offset of the clocks
 *      now - TSval  = way back  - offset of the clocks
 *
 * The offset is not known and drifts. The least of "now - TSval" is that of the empty way
 * back (turnpike_base.h). The excess of an ACK over it is its queue, and the signal is
 *
 *      RTT - queue of the way back = least RTT + queue of the way there
 *
 * that is, TSval - sent over its own base, which is the least RTT less the base of the way
 * back. "sent" is TCP's record of the newest burst that the ACK covers. The TSecr that
 * comes with TSval is that of the first packet which the ACK answers (RFC 7323).
 *
 * Why the base is that of the way back: these flows keep up a queue on the way there on
 * purpose, and that of timely_patched need never be empty. A base of the way there would
 * swallow it, every flow would add its own, and nothing would bound the queue. A queue on
 * the way back that does not empty once in a second or two counts as it does in the RTT:
 * the flow is slower than it could be. No arithmetic tells the two cases apart once a base
 * has moved, so the module errs on this side. The signal is never above the RTT.
 *
 * Delayed ACKs: TSval is the time when the receiver sends, so its delay is on the way
 * there, as in the RTT. timely_completion.h finds it, now without queues that look alike.
 *
 * Resolution: both clocks count whole microseconds, and the signal is right to 1 us. TSval
 * wraps after 71 minutes. The module uses only its differences from the first one, in 32
 * bits with sign. They hold 35 minutes of drift: 120 days of the worst clocks. Then the
 * base begins anew, with an RTT for a sample.
 *
 * The peer's timestamps must count microseconds (route feature tcp_usec_ts, Linux 6.7, at
 * the receiver); this host's need not. turnpike_tick.h finds that out in 10 ms.
 */
#ifndef TIMELY_FORWARD_H
#define TIMELY_FORWARD_H

#include "include/turnpike_base.h"
#include "include/turnpike_tick.h"

/* TSval is up to a microsecond early, half of one on average. The base is a least value and
 * has none of that.
 */
#define TIMELY_FORWARD_LATE_NS	500

/* Of one connection; all 0 before its first ACK. */
struct timely_forward {
	struct tp_base base;	/* of now - TSval - ref_us */
	u32 ref_us;		/* first now - TSval that was used */
	struct tp_tick tick;
	bool in_use;
};

/* What one ACK says. */
struct timely_forward_ack {
	u64 now_ns;
	u64 now_us;		/* the same moment, in whole microseconds */
	u32 tsval;
	u32 excess_us;		/* RTT over the least one lately */
};

static inline void timely_forward_begin(struct timely_forward *f,
					const struct timely_forward_ack *a)
{
	f->in_use = true;
	f->ref_us = (u32)a->now_us - a->tsval;
	tp_base_init(&f->base);
}

/* The queueing delay of this ACK's way back. False: it is not known. */
static inline bool timely_forward_back(struct timely_forward *f,
				       const struct timely_forward_ack *a, u64 *back_ns)
{
	u64 queue_ns;
	s64 raw_ns;

	if (tp_tick_sample(&f->tick, (u32)a->now_us, a->tsval) != TP_TICK_US)
		return false;
	if (!f->in_use)
		timely_forward_begin(f, a);
	raw_ns = (s64)(s32)((u32)a->now_us - a->tsval - f->ref_us) * 1000 +
		 (s64)(a->now_ns - a->now_us * 1000);
	/* No queue back is longer than the excess of the RTT over the least one. */
	queue_ns = tp_base_sample_rtt(&f->base, a->now_ns, raw_ns, (u64)a->excess_us * 1000);
	*back_ns = queue_ns > TIMELY_FORWARD_LATE_NS ? queue_ns - TIMELY_FORWARD_LATE_NS : 0;
	return true;
}

#endif /* TIMELY_FORWARD_H */
