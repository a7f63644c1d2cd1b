// SPDX-License-Identifier: GPL-2.0
/*
 * Feedback from microsecond TCP timestamps (route feature tcp_usec_ts, Linux 6.7).
 *
 * Every ACK carries TSval, the time at which the receiver sent it.  A receiver acks data when it
 * comes.  So TSval less the departure of the newest acked byte is that byte's one-way delay plus
 * a constant, the difference of the clocks.  TCP's own TSval - TSecr includes the qdisc's hold
 * and, with GSO, the wait for the bytes before.  The departures recorded here have neither.
 *
 *    data ----- departure ----~~~ queue ~~~-----> receiver
 *    ACK  <------------------- TSval ------------ its clock
 *
 * The ACK answers the last byte it acknowledges.  With a hole before that byte, it answers the
 * end of the first SACK block, which RFC 2018 says is about the newest segment.
 *
 * The peer's route decides whether its timestamps are in microseconds, too; how they advance
 * shows it (turnpike_tick.h).  If they are not, receipts have to do.  ONRAMP21 has OR-ACKs
 * instead.
 *
 * Not believed: ACKs of data not in flight; data sent twice; ACKs that may have waited at the
 * receiver, for its delayed-ACK timer or its application.
 */
#include <net/tcp.h>

#include "include/turnpike_tcp_options.h"
#include "onramp_ctl.h"
#include "onramp_path.h"
#include "onramp_sched.h"
#include "onramp_tcpts.h"

/* No receiver of data delays an ACK by less (see tcp_timely's TIMELY_DELACK_NS). */
#define ONRAMP_DELACK_NS	(20 * NSEC_PER_MSEC)

/* -- parsing ------------------------------------------------------------------------ */

struct onramp_ack {
	u32 ack;
	u32 newest;			/* end of the newest data received */
	u32 tsval;
	bool has_ts;
	bool has_data;
	bool shut;			/* the receiver's window is */
};

static void onramp_tcpts_options(struct onramp_ack *a, struct tp_tcp_options list)
{
	struct tp_tcp_option o;

	while (tp_tcp_option_next(&list, &o)) {
		if (o.kind == TP_TCP_OPTION_TS && o.bytes == TP_TCP_TS_BYTES) {
			a->tsval = tp_tcp_value32(o.value);
			a->has_ts = true;
		} else if (o.kind == TP_TCP_OPTION_SACK && tp_tcp_sack_blocks(&o)) {
			u32 end = tp_tcp_value32(o.value + 4);

			if (tp_seq_before(a->ack, end))
				a->newest = end;
		}
	}
}

static void onramp_tcpts_parse(const struct tcphdr *th, const struct onramp_arrival *arrival,
			       struct onramp_ack *a)
{
	memset(a, 0, sizeof(*a));
	a->ack = ntohl(th->ack_seq);
	a->newest = a->ack;
	a->has_data = arrival->payload;
	a->shut = !th->window;
	onramp_tcpts_options(a, (struct tp_tcp_options){
		.at = (const u8 *)(th + 1),
		.end = (const u8 *)th + th->doff * 4,
	});
}

/* -- judging ------------------------------------------------------------------------ */

/* May the ACK have waited at the receiver on purpose?  A receiver acks at once what was not alone
 * in arriving, but not a lone last packet or a request.
 */
static bool onramp_tcpts_maybe_late(const struct onramp_ctl *ctl, const struct onramp_ack *a)
{
	const struct onramp_flight *flight = &ctl->flight;

	if (a->newest != flight->end_seq)
		return false;
	return a->has_data || a->newest - flight->una <= ctl->mss;
}

static u32 onramp_tcpts_us(u64 ns)
{
	return (u32)div_u64(ns, NSEC_PER_USEC);
}

/* Does the peer count microseconds, as far as is known? */
static bool onramp_tcpts_is_fine(struct onramp_ctl *ctl, u32 tsval)
{
	u64 now_ns;

	if (likely(ctl->tcpts.tick.unit == TP_TICK_US))
		return true;
	now_ns = ktime_get_ns();
	if (tp_tick_sample(&ctl->tcpts.tick, onramp_tcpts_us(now_ns), tsval) != TP_TICK_COARSE)
		return true;
	onramp_ctl_coarse(ctl, onramp_source_instead(&ctl->sched->config), now_ns);
	onramp_path_set_coarse(&ctl->key, now_ns);
	return false;
}

/* What an ACK tells of the newest byte that it acknowledges. */
struct onramp_trip {
	u64 now_ns;
	u64 rtt_ns;
	u32 raw_us;			/* TSval less the byte's departure */
};

/* The first sample of a connection.  Another connection may know the path without its queue.
 * Both have the same clock offset if the queue fits the round trip.
 */
static void onramp_tcpts_first(struct onramp_ctl *ctl, const struct onramp_path_visit *v,
			       const struct onramp_trip *t)
{
	u32 path_us;

	ctl->tcpts.known = true;
	ctl->tcpts.ref_us = t->raw_us;
	if (onramp_path_base_us(v, t->now_ns, &path_us) &&
	    (u64)(t->raw_us - path_us) * NSEC_PER_USEC <= t->rtt_ns) {
		ctl->tcpts.ref_us = path_us;
		tp_base_sample(&ctl->tcpts.base, t->now_ns, 0);
	}
}

/* The queueing delay of the newest byte, without the standing queue in the base. */
static u64 onramp_tcpts_queue_ns(struct onramp_ctl *ctl, const struct onramp_path_visit *v,
				 const struct onramp_trip *t)
{
	u64 queue_ns, excess_ns, standing_ns;

	if (!ctl->tcpts.known)
		onramp_tcpts_first(ctl, v, t);
	queue_ns = tp_base_sample_rtt(&ctl->tcpts.base, t->now_ns,
				      (s64)(s32)(t->raw_us - ctl->tcpts.ref_us) * NSEC_PER_USEC,
				      t->rtt_ns);
	queue_ns = min_t(u64, queue_ns, ONRAMP_DELAY_MAX_NS);
	if (!onramp_path_excess_ns(v, t->rtt_ns, t->now_ns, &excess_ns))
		return queue_ns;
	ctl->pause.far = onramp_pause_far(&ctl->sched->config.pause, t->rtt_ns - excess_ns);
	standing_ns = onramp_standing_queue_sample(&ctl->tcpts.standing, t->now_ns, excess_ns,
						   queue_ns);
	if (standing_ns)
		tp_base_lower(&ctl->tcpts.base, standing_ns);
	return queue_ns + standing_ns;
}

/* @base_ns: the base before the sample of @queue_ns. */
static void onramp_tcpts_drain(struct onramp_ctl *ctl, const struct onramp_path_visit *v,
			       u64 queue_ns, s64 base_ns, u64 now_ns)
{
	bool lowered = tp_base_at(&ctl->tcpts.base, now_ns) <
		       base_ns - ONRAMP_STANDING_QUEUE_NOISE_NS;
	u64 pause_ns = onramp_path_drain_ns(v, ctl, queue_ns, lowered, now_ns);

	if (pause_ns)
		onramp_ctl_drain(ctl, now_ns, pause_ns);
}

/* Did the ACK wait at the receiver, or could such a wait be the queue that asks for a pause? */
static bool onramp_tcpts_is_late(const struct onramp_ctl *ctl, const struct onramp_ack *a,
				 u64 queue_ns)
{
	if (a->newest == ctl->flight.end_seq && queue_ns >= ONRAMP_DELACK_NS)
		return true;
	return queue_ns > ctl->sched->config.pause.threshold_ns && onramp_tcpts_maybe_late(ctl, a);
}

static void onramp_tcpts_sample(struct onramp_ctl *ctl, const struct onramp_ack *a,
				const struct onramp_path_visit *v, const struct onramp_trip *t)
{
	struct onramp_sched *q = ctl->sched;
	s64 base_ns = tp_base_at(&ctl->tcpts.base, t->now_ns);
	u32 steps = ctl->tcpts.base.steps;
	u64 queue_ns = onramp_tcpts_queue_ns(ctl, v, t);

	if (onramp_tcpts_is_late(ctl, a, queue_ns)) {
		onramp_count(q, late);
		return;
	}
	if (ctl->tcpts.base.steps != steps) {
		onramp_count(q, steps);
		onramp_path_longer(v, t->rtt_ns);
	}
	onramp_ctl_sample(ctl, a->newest, queue_ns, t->now_ns);
	onramp_tcpts_drain(ctl, v, queue_ns, base_ns, t->now_ns);
	onramp_path_learn(v, ctl, t->now_ns);
}

static void onramp_tcpts_take(struct onramp_ctl *ctl, const struct onramp_ack *a)
{
	struct onramp_path_visit visit;
	struct onramp_departure d;
	struct onramp_trip t;

	if (a->newest == ctl->flight.una || a->shut)
		return;
	if (!onramp_flight_holds(&ctl->flight, a->newest)) {
		onramp_count(ctl->sched, unknown);
		return;
	}
	/* Only ACKs that hit the window tell of the clock; a stranger's ACKs do not. */
	if (!onramp_tcpts_is_fine(ctl, a->tsval))
		return;
	t.now_ns = ktime_get_ns();
	if (!onramp_ctl_departure(ctl, a->newest, t.now_ns, &d))
		return;
	t.rtt_ns = t.now_ns - min(d.tx_ns, t.now_ns);
	/* Times are whole microseconds: the ACK's is up to one too small. */
	t.raw_us = a->tsval - onramp_tcpts_us(d.tx_ns);
	onramp_path_visit_begin(&visit, &ctl->key, t.now_ns);
	onramp_tcpts_sample(ctl, a, &visit, &t);
	onramp_path_visit_end(&visit);
}

/* Departure records of what arrived serve no more, except for receipts, which come after the
 * ACK.
 */
static void onramp_tcpts_acked(struct onramp_ctl *ctl, u32 ack)
{
	if (!onramp_flight_holds(&ctl->flight, ack))
		return;
	if (ctl->source == ONRAMP_SOURCE_TCPTS || onramp_flight_is_crowded(&ctl->flight))
		onramp_flight_acked(&ctl->flight, ack);
	orack_feedback_follow(&ctl->orack, ctl->flight.una);
}

/* An ACK arrived.  Bottom halves are off, under the RCU read lock. */
void onramp_tcpts_arrived(const struct tcphdr *th, const struct onramp_arrival *arrival)
{
	struct onramp_ctl *ctl = onramp_ctl_lookup(&arrival->key);
	struct onramp_ack a;

	if (!ctl)
		return;
	onramp_tcpts_parse(th, arrival, &a);
	spin_lock(&ctl->lock);
	if (ctl->sched && ctl->sched->config.pause_on) {
		if (ctl->source == ONRAMP_SOURCE_TCPTS && a.has_ts)
			onramp_tcpts_take(ctl, &a);
		if (onramp_flight_holds(&ctl->flight, a.newest) &&
		    tp_seq_before(ctl->edge_seq, a.newest))
			ctl->edge_seq = a.newest;
		onramp_tcpts_acked(ctl, a.ack);
	}
	spin_unlock(&ctl->lock);
}
