// SPDX-License-Identifier: GPL-2.0
/*
 * The queueing discipline "onramp": what fq does, and packets held on top of it.
 *
 *   enqueue -> band, departure time, flow                         (onramp_flow.c)
 *   dequeue -> band round robin by weight
 *                -> new flows, then old flows, round robin by credit
 *                     -> first packet of the flow, if
 *                          its departure time and the flow's pacing say so, and
 *                          it is no data or the flow is not paused (onramp_ctl.c)
 *                        else the flow waits in a tree by time
 *
 *   A flow:     +------+ packet  +-----+  credit used  +-----+
 *               | idle |-------->| new |-------------->| old |<--+
 *               +------+         +-----+   or empty    +-----+   | time has come
 *                  ^                |                  |  |   +-----------+
 *                  |                +------------------|--|-->| throttled |
 *                  +-----------------------------------+  +-->+-----------+
 *                           still empty              not before some time
 *
 * After a pause the departure times of what waited are past.  It leaves paced (onramp_release.h),
 * not in one burst, until a packet's time is yet to come.  Model: fq, and On-Ramp (ONRAMP21).
 */
#include <linux/module.h>
#include <linux/prefetch.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>

#include "compat/stamp.h"
#include "onramp_burst.h"
#include "onramp_ctl.h"
#include "onramp_feedback.h"
#include "onramp_hook.h"
#include "onramp_net.h"
#include "onramp_queue.h"

/* -- enqueue ---------------------------------------------------------------------- */

/*
 * A packet's time by the clock of queues, at least 1.  TCP's times are by that clock.  An
 * application may choose another clock.  A mirrored packet still has the real time of its
 * arrival.  Older kernels and BPF programs do not name the clock: a time beyond any uptime is
 * real time then.
 */
static s64 onramp_stamp_ns(const struct sk_buff *skb)
{
	ktime_t stamp = skb->tstamp;

	if (unlikely(!tp_skb_stamp_is_monotonic(skb))) {
		if (tp_skb_stamp_is_tai(skb))
			stamp = ktime_sub(stamp, ktime_mono_to_any(0, TK_OFFS_TAI));
		else if (stamp > TIME_UPTIME_SEC_MAX * NSEC_PER_SEC)
			stamp = ktime_sub(stamp, ktime_mono_to_real(0));
	}
	return max_t(s64, stamp, 1);
}

/* False: the packet is to be dropped. */
static bool onramp_set_departure(struct onramp_sched *q, struct sk_buff *skb, u64 now_ns)
{
	s64 send_ns = now_ns;

	if (!skb->tstamp)
		goto out;
	send_ns = onramp_stamp_ns(skb);
	if (unlikely(send_ns > (s64)(now_ns + q->config.horizon_ns))) {
		if (q->config.horizon_drop) {
			q->stats.horizon_drops++;
			return false;
		}
		q->stats.horizon_caps++;
		send_ns = now_ns + q->config.horizon_ns;
		tp_skb_set_departure(skb, send_ns);
	}
out:
	onramp_cb(skb)->send_ns = send_ns;
	return true;
}

static bool onramp_band_is_full(const struct onramp_sched *q, u8 band)
{
	u32 packets = TP_FQ_BANDS > 1 ? q->band_packets[band] : q->sch->q.qlen;

	return packets >= q->sch->limit;
}

/* TCP data that may be held. */
static void onramp_enqueue_data(struct onramp_sched *q, struct onramp_flow *f,
				struct sk_buff *skb, u64 now_ns)
{
	if (f->ctl && unlikely(!onramp_ctl_serves(f->ctl, skb->sk)))
		onramp_detach(q, f);
	if (unlikely(!f->ctl))
		onramp_attach(q, f, skb, now_ns);
	if (unlikely(!f->ctl)) {
		onramp_cb(skb)->kind = ONRAMP_PLAIN;
		return;
	}
	onramp_cb(skb)->note_ns = onramp_ctl_enqueued(q, f, skb->sk, now_ns);
}

static void onramp_enqueue_flow(struct onramp_sched *q, struct onramp_flow *f,
				struct sk_buff *skb, u8 band, u64 now_ns)
{
	if (onramp_flow_is_idle(f)) {
		/* A flow in no list may change its band. */
		onramp_flow_add_tail(&q->bands[band].new_flows, f);
		if (time_after(jiffies, f->idle + q->config.refill_delay))
			f->credit = max_t(int, f->credit, q->config.quantum);
	}
	f->band = band;
	onramp_cb(skb)->band = band;
	q->band_packets[band]++;
	if (!f->qlen)
		q->inactive--;
	if (onramp_cb(skb)->kind == ONRAMP_DATA)
		onramp_enqueue_data(q, f, skb, now_ns);
	else if (unlikely(f->ctl) && onramp_cb(skb)->kind == ONRAMP_PLAIN)
		onramp_detach(q, f);	/* its source of feedback is gone */
}

static enum onramp_kind onramp_enqueue_kind(struct onramp_sched *q, const struct sk_buff *skb,
					    u64 now_ns)
{
	struct onramp_segment seg;

	if (!q->config.pause_on || !skb->sk)
		return ONRAMP_PLAIN;
	/* TCP marks its pure ACKs: a host that only receives need not look into them. */
	if (skb_is_tcp_pure_ack(skb))
		return ONRAMP_AHEAD;
	return onramp_feedback_wanted(q, skb, now_ns) ? onramp_packet_kind(skb, &seg) :
							ONRAMP_PLAIN;
}

/* The flow waits for the time of its first packet; this packet's is earlier. */
static bool onramp_comes_before(const struct onramp_sched *q, const struct onramp_flow *f,
				struct sk_buff *skb)
{
	return TP_FQ_EARLIER_WAKES && onramp_flow_is_throttled(f) && skb->tstamp && !f->held &&
	       onramp_cb(skb)->send_ns < f->time_next_ns && q->config.max_rate == ~0ULL;
}

/* The governor makes many packets of few, and a drop halves the sender's window: so packets count
 * as parts.  TCP bounds in bytes how much of a socket is in queues.
 */
static bool onramp_flow_is_full(const struct onramp_sched *q, const struct onramp_flow *f)
{
	if (likely(f->qlen < q->config.flow_limit))
		return false;
	return !f->ctl || !q->config.governor ||
	       f->qlen / ONRAMP_BURST_PARTS >= q->config.flow_limit;
}

static int onramp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct onramp_sched *q = qdisc_priv(sch);
	u8 band = TP_FQ_BANDS > 1 ? q->config.prio2band[skb->priority & TC_PRIO_MAX] : 0;
	struct onramp_flow *f;
	u64 now_ns;

	if (unlikely(onramp_band_is_full(q, band))) {
		q->stats.band_drops[band]++;
		return tp_qdisc_drop(skb, sch, to_free, BAND_LIMIT);
	}
	now_ns = ktime_get_ns();
	if (unlikely(!onramp_set_departure(q, skb, now_ns)))
		return tp_qdisc_drop(skb, sch, to_free, HORIZON_LIMIT);
	onramp_cb(skb)->kind = onramp_enqueue_kind(q, skb, now_ns);
	f = onramp_flow_find(q, skb, now_ns);
	if (f != &q->internal) {
		if (unlikely(onramp_flow_is_full(q, f))) {
			q->stats.flow_limit++;
			return tp_qdisc_drop(skb, sch, to_free, FLOW_LIMIT);
		}
		onramp_enqueue_flow(q, f, skb, band, now_ns);
	}
	f->qlen++;
	onramp_flow_queue(f, skb);	/* its last packet takes the place of f->idle */
	if (unlikely(onramp_comes_before(q, f, skb)))
		onramp_flow_wake_at(q, f, onramp_cb(skb)->send_ns);
	qdisc_qstats_backlog_inc(sch, skb);
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);
	return NET_XMIT_SUCCESS;
}

/* -- dequeue ---------------------------------------------------------------------- */

/* Flows whose time has come go back to the old ones. */
static void onramp_wake_flows(struct onramp_sched *q, u64 now_ns)
{
	struct onramp_flow *f;
	u64 until_ns = now_ns + q->config.offload_ns;
	struct rb_node *node;

	if (q->delayed_next_ns > until_ns)
		return;
	/* How late timers are, smoothed: for an operator who looks for the cause. */
	if (q->delayed_next_ns < now_ns) {
		q->unthrottle_latency_ns -= q->unthrottle_latency_ns >> 3;
		q->unthrottle_latency_ns += (now_ns - q->delayed_next_ns) >> 3;
	}
	q->delayed_next_ns = ONRAMP_NEVER_NS;
	while ((node = rb_first(&q->delayed))) {
		f = rb_entry(node, struct onramp_flow, delayed_node);
		if (f->wake_ns > until_ns) {
			q->delayed_next_ns = f->wake_ns;
			break;
		}
		onramp_flow_unthrottle(q, f);
	}
}

static struct onramp_list *onramp_band_list(struct onramp_band *band)
{
	if (TP_FQ_BANDS > 1 && band->credit <= 0)
		return NULL;
	if (band->new_flows.first)
		return &band->new_flows;
	return band->old_flows.first ? &band->old_flows : NULL;
}

/* The next list to serve, of a band with credit; NULL: all are empty. */
static struct onramp_list *onramp_pick_list(struct onramp_sched *q)
{
	struct onramp_list *list = onramp_band_list(onramp_served(q));
	int passed = 0;

	while (!list && TP_FQ_BANDS > 1 && ++passed <= TP_FQ_BANDS) {
		struct onramp_band *band;
		s32 weight;

		if (++q->band_nr == TP_FQ_BANDS)
			q->band_nr = 0;
		band = &q->bands[q->band_nr];
		weight = q->config.weights[q->band_nr];
		band->credit = min(band->credit, 0) + weight;
		if (band->credit <= 0)
			passed = 0;	/* it has to be passed again until it has some */
		else
			list = onramp_band_list(band);
	}
	return list;
}

/* The list's first flow had nothing to send. */
static void onramp_retire_flow(struct onramp_sched *q, struct onramp_list *list,
			       struct onramp_flow *f)
{
	const struct onramp_band *served = onramp_served(q);

	list->first = f->next;
	/* New flows pass through the old ones once, or those would starve. */
	if (list == &served->new_flows && (TP_FQ_BANDS > 1 || served->old_flows.first))
		onramp_flow_add_tail(&onramp_band_of(q, f)->old_flows, f);
	else
		f->idle = jiffies | 1UL;
}

/*
 * May the flow's first packet leave, and since when?  If not, *ready_ns is when to ask again.
 * Sets f->time_next_ns as fq does.  A device that paces takes a packet before its time, but none
 * that a pause holds.
 */
static bool onramp_is_ready(struct onramp_sched *q, struct onramp_flow *f, struct sk_buff *skb,
			    u64 *ready_ns, u64 now_ns)
{
	u64 until_ns;

	*ready_ns = max(onramp_cb(skb)->send_ns, f->time_next_ns);
	if (now_ns + q->config.offload_ns < *ready_ns) {
		f->time_next_ns = *ready_ns;
		return false;		/* time enough to ask for a pause then */
	}
	if (onramp_cb(skb)->kind != ONRAMP_DATA || !f->ctl || !q->config.pause_on)
		return true;
	until_ns = onramp_ctl_until(q, f->ctl, now_ns);
	if (until_ns <= now_ns)
		return true;
	f->pace_anew = true;
	f->held = true;
	onramp_release_held(&f->release);
	*ready_ns = until_ns;
	return false;
}

/* The next packet that may leave; *from is its flow. */
static struct sk_buff *onramp_pick_packet(struct onramp_sched *q, struct onramp_flow **from,
					  u64 *ready_ns, u64 now_ns)
{
	struct onramp_list *list;
	struct onramp_flow *f;
	struct sk_buff *skb;

	while ((list = onramp_pick_list(q))) {
		f = list->first;
		if (f->credit <= 0) {
			f->credit += q->config.quantum;
			list->first = f->next;
			onramp_flow_add_tail(&onramp_band_of(q, f)->old_flows, f);
			continue;
		}
		skb = onramp_flow_peek(f);
		if (!skb) {
			onramp_retire_flow(q, list, f);
			continue;
		}
		if (!onramp_is_ready(q, f, skb, ready_ns, now_ns)) {
			list->first = f->next;
			onramp_flow_throttle(q, f, *ready_ns);
			continue;
		}
		*from = f;
		return skb;
	}
	return NULL;
}

/* The flow sends no other packet until this one has left at the flow's rate. */
static void onramp_pace(struct onramp_sched *q, struct onramp_flow *f, u64 bytes, u64 rate,
			u64 now_ns)
{
	u64 length_ns = bytes * NSEC_PER_SEC;

	if (likely(rate))
		length_ns = div64_u64(length_ns, rate);
	/* The rate may change soon: wait a second at most. */
	if (unlikely(length_ns > NSEC_PER_SEC)) {
		length_ns = NSEC_PER_SEC;
		q->stats.too_long++;
	}
	/* A timer made this packet late; the next need not be.  What a pause took is not given
	 * back.
	 */
	if (f->time_next_ns && f->time_next_ns < now_ns && !f->held)
		length_ns -= min(length_ns / 2, now_ns - f->time_next_ns);
	f->time_next_ns = now_ns + length_ns;
}

/* Beyond their slack timers are late by less; a packet later than that waited. */
#define ONRAMP_LATE_NS	(2 * NSEC_PER_USEC)

/* After a pause: did this packet wait for its end? */
static bool onramp_is_late(const struct onramp_sched *q, struct onramp_flow *f,
			   const struct onramp_cb *cb, u64 now_ns)
{
	if (likely(!f->pace_anew))
		return false;
	if (cb->kind == ONRAMP_DATA &&
	    cb->send_ns + q->config.timer_slack_ns + ONRAMP_LATE_NS < now_ns)
		return true;
	f->pace_anew = false;
	return false;
}

/* The congestion control's rate, in bytes per second; ~0: it does not pace. */
static u64 onramp_sender_rate(const struct sk_buff *skb)
{
	unsigned long rate = ~0UL;

	if (skb->sk && sk_fullsock(skb->sk))
		rate = READ_ONCE(skb->sk->sk_pacing_rate);
	return rate == ~0UL ? ~0ULL : rate;
}

/* The same for TCP's data, where a rate of 0 means "not paced". */
static u64 onramp_data_rate(const struct sk_buff *skb)
{
	return onramp_sender_rate(skb) ?: ~0ULL;
}

/* The application's cap, SO_MAX_PACING_RATE: 0 means "not paced" to TCP. */
static u64 onramp_rate_cap(const struct sk_buff *skb)
{
	unsigned long most = 0;

	if (skb->sk && sk_fullsock(skb->sk))
		most = READ_ONCE(skb->sk->sk_max_pacing_rate);
	return !most || most == ~0UL ? ~0ULL : most;
}

static void onramp_pace_flow(struct onramp_sched *q, struct onramp_flow *f,
			     const struct sk_buff *skb, bool pace_anew, u64 now_ns)
{
	u64 rate = q->config.max_rate, bytes = qdisc_pkt_len(skb);

	if (!q->config.pacing)
		return;
	/* A packet with a departure time was paced by its sender. */
	if (pace_anew)
		rate = min(rate, onramp_release_late_rate(&f->release, onramp_data_rate(skb),
							  onramp_rate_cap(skb)));
	else if (!skb->tstamp)
		rate = min(rate, onramp_sender_rate(skb));
	if (!skb->tstamp) {
		if (rate <= q->config.low_rate) {
			f->credit = 0;
		} else {
			bytes = max_t(u64, bytes, q->config.quantum);
			if (f->credit > 0)
				return;
		}
	}
	if (rate != ~0ULL)
		onramp_pace(q, f, bytes, rate, now_ns);
}

/* The line is busy: come back when it is not. */
static bool onramp_gate_is_shut(struct onramp_sched *q, u64 now_ns)
{
	if (likely(!q->line.gated) || q->line.free_ns <= now_ns)
		return false;
	q->stats.gated++;
	qdisc_watchdog_schedule_range_ns(&q->watchdog, q->line.free_ns, 0);
	return true;
}

/* The packet leaves its flow. */
static void onramp_take(struct onramp_sched *q, struct onramp_flow *f, struct sk_buff *skb,
			u64 ready_ns, u64 now_ns)
{
	struct onramp_cb *cb = onramp_cb(skb);
	bool pace_anew = onramp_is_late(q, f, cb, now_ns);

	/* What a pause held, or what waited behind that, tells nothing of a queue in this host. */
	if ((s64)(now_ns - ready_ns - q->config.ce_threshold_ns) > 0 && !pace_anew && !f->held) {
		INET_ECN_set_ce(skb);
		q->stats.ce_marks++;
	}
	onramp_flow_unlink(q, f, skb);
	if (!f->qlen)
		q->inactive++;
	q->band_packets[cb->band]--;
	f->credit -= qdisc_pkt_len(skb);
	/* The band being served pays, whichever band the packet is of. */
	if (TP_FQ_BANDS > 1)
		onramp_served(q)->credit -= qdisc_pkt_len(skb);
	if (cb->kind == ONRAMP_DATA && f->ctl) {
		/* A device that paces sends it when it is time, not now. */
		u64 sent_ns = max(now_ns, ready_ns);

		onramp_ctl_sent(q, f, skb, pace_anew, sent_ns);
		if (unlikely(READ_ONCE(f->ctl->coarse) && sent_ns >= q->used_ns))
			onramp_feedback_sent(q, f->ctl, skb, sent_ns);
		onramp_release_sent(&f->release, &q->release, sent_ns, qdisc_pkt_len(skb), f->qlen);
	}
	onramp_pace_flow(q, f, skb, pace_anew, now_ns);
	f->held = false;
}

static struct sk_buff *onramp_dequeue(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_flow *f;
	struct sk_buff *skb;
	u64 ready_ns, now_ns;

	/* Even with an empty queue: a flow may have gone to another queue, and its control block
	 * is in one list of kicked ones at a time.
	 */
	if (unlikely(!llist_empty(&q->kicked)))
		onramp_wake_kicked(q);
	if (!sch->q.qlen) {
		q->held_pending = false;
		return NULL;
	}
	now_ns = q->line.gated ? ktime_get_ns() : 0;
	if (onramp_gate_is_shut(q, now_ns))
		return NULL;
	skb = onramp_flow_peek(&q->internal);
	if (skb) {
		onramp_flow_unlink(q, &q->internal, skb);
		goto out;
	}
	if (!now_ns)
		now_ns = ktime_get_ns();
	onramp_wake_flows(q, now_ns);
	skb = onramp_pick_packet(q, &f, &ready_ns, now_ns);
	if (!skb) {
		if (q->delayed_next_ns != ONRAMP_NEVER_NS)
			qdisc_watchdog_schedule_range_ns(&q->watchdog, q->delayed_next_ns,
							 q->config.timer_slack_ns);
		return NULL;
	}
	prefetch(&skb->end);
	onramp_take(q, f, skb, ready_ns, now_ns);
out:
	if (unlikely(q->line.bql == ONRAMP_BQL_UNKNOWN))
		onramp_line_look(q, skb);
	if (q->line.gated)
		onramp_line_sent(q, skb, now_ns);
	qdisc_bstats_update(sch, skb);
	return skb;
}

/* -- life ------------------------------------------------------------------------- */

static void onramp_reset(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	WRITE_ONCE(sch->q.qlen, 0);
	WRITE_ONCE(sch->qstats.backlog, 0);
	onramp_flow_drop_all(q);
}

/* Packets beyond a limit that was lowered. */
static void onramp_trim(struct Qdisc *sch)
{
	u32 bytes, packets = onramp_flow_trim(qdisc_priv(sch), sch->limit, &bytes);

	qdisc_tree_reduce_backlog(sch, packets, bytes);
}

/* The module looks at ACKs only where a qdisc pauses. */
static int onramp_listen(struct onramp_sched *q, bool listen)
{
	int err = 0;

	if (listen && !q->listening)
		err = onramp_hook_get(q->on);
	else if (!listen && q->listening)
		onramp_hook_put(q->on);
	if (!err)
		q->listening = listen;
	return err;
}

/* Computes once what packets need of the configuration. */
static void onramp_derive(struct onramp_sched *q)
{
	onramp_release_params_init(&q->release, q->config.pause.threshold_ns);
	q->burst_mult = onramp_burst_mult(q->config.pause.threshold_ns);
}

static int onramp_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_config config = q->config;
	bool forget;
	int err;

	err = onramp_option_parse(&config, qdisc_dev(sch), opt, extack);
	if (err)
		return err;
	/* All that can fail comes before the first visible change. */
	err = onramp_listen(q, config.pause_on || q->config.pause_on);
	if (err)
		return err;
	err = onramp_option_feedback(&config, q->on->hook.open_err, extack) ?:
	      onramp_flow_resize(q, config.buckets_log);
	if (err) {
		onramp_listen(q, q->config.pause_on);
		return err;
	}
	sch_tree_lock(sch);
	/* A control block has its flow's source: another feedback forgets them all. */
	forget = !config.pause_on || config.feedback != q->config.feedback;
	/* Feedback reads options without this lock.  A sample under way may see some old ones and
	 * some new ones: each is valid with each.
	 */
	data_race(q->config = config);
	onramp_derive(q);
	WRITE_ONCE(sch->limit, config.limit);
	if (forget)
		onramp_flow_release_all(q);
	onramp_trim(sch);
	sch_tree_unlock(sch);
	onramp_listen(q, config.pause_on);
	onramp_line_refresh(q);
	onramp_line_advise(q, extack);
	return 0;
}

static int onramp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct onramp_sched *q = qdisc_priv(sch);
	int err;

	q->sch = sch;
	q->net = dev_net(qdisc_dev(sch));
	q->on = onramp_net(q->net);
	q->delayed = RB_ROOT;
	q->delayed_next_ns = ONRAMP_NEVER_NS;
	INIT_HLIST_NODE(&q->line.node);
	INIT_LIST_HEAD(&q->line.stale);
	INIT_LIST_HEAD(&q->controlled);
	init_llist_head(&q->kicked);
	q->counts = alloc_percpu_gfp(struct onramp_counts, GFP_KERNEL_ACCOUNT);
	onramp_option_default(&q->config, qdisc_dev(sch));
	qdisc_watchdog_init_clockid(&q->watchdog, sch, CLOCK_MONOTONIC);
	if (!q->counts)
		return -ENOMEM;
	if (opt) {
		err = onramp_option_parse(&q->config, qdisc_dev(sch), opt, extack);
		if (err)
			return err;
	}
	sch->limit = q->config.limit;
	onramp_derive(q);
	err = onramp_flow_resize(q, q->config.buckets_log);
	if (err)
		return err;
	err = onramp_listen(q, q->config.pause_on) ?:
	      onramp_option_feedback(&q->config, q->on->hook.open_err, extack);
	if (err)
		return err;
	onramp_line_add(q);
	onramp_line_refresh(q);
	onramp_line_advise(q, extack);
	return 0;
}

/* Called after a failed init, too. */
static void onramp_destroy(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	onramp_line_del(q);
	onramp_listen(q, false);
	onramp_reset(sch);
	kvfree(q->buckets);
	qdisc_watchdog_cancel(&q->watchdog);
	/* The control blocks that had us have let go: onramp_detach(). */
	free_percpu(q->counts);
}

static int onramp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return onramp_option_dump(qdisc_priv(sch), skb);
}

struct Qdisc_ops onramp_qdisc_ops __read_mostly = {
	.id		= "onramp",
	.priv_size	= sizeof(struct onramp_sched),
	.enqueue	= onramp_enqueue,
	.dequeue	= onramp_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= onramp_init,
	.reset		= onramp_reset,
	.destroy	= onramp_destroy,
	.change		= onramp_change,
	.dump		= onramp_dump,
	.dump_stats	= onramp_stat_dump,
	.owner		= THIS_MODULE,
};
