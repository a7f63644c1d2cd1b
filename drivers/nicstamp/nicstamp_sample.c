// SPDX-License-Identifier: GPL-2.0
/* Consumers of samples: RTTs by NIC stamps (TIMELY15). */
#include <linux/module.h>
#include <linux/mutex.h>

#include "nicstamp_arrive.h"
#include "nicstamp_depart.h"
#include "nicstamp_feed.h"
#include "nicstamp_flow.h"
#include "nicstamp_main.h"
#include "nicstamp_port.h"

#define CREATE_TRACE_POINTS
#include "include/trace/events/turnpike_stamps.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(nicstamp_sample);

/* The two clocks differ by 500 ppm at most: one part in 2000. */
#define NICSTAMP_RATE_ERROR_SHIFT	11

static LIST_HEAD(nicstamp_subscribers);	/* nicstamp_lock */

/* -- samples ------------------------------------------------------------------ */

static void nicstamp_fill(struct nicstamp_sample *s, const struct nicstamp_flow *flow,
			  const struct nicstamp_times *t)
{
	s->rtt_ns = t->rtt_ns;
	s->error_ns = min_t(u64, (t->rtt_ns >> NICSTAMP_RATE_ERROR_SHIFT) +
				 2 * (u64)flow->step_ns + 1 + t->rx_error_ns, U32_MAX);
	s->tx_seq = flow->tx_first ? t->start_seq : t->end_seq;
	s->run_bytes = t->end_seq - t->start_seq;
	s->wait_ns = t->wait_ns;
	s->wait_error_ns = t->wait_error_ns;
	s->clock = t->clock;
	s->host = flow->host;
	s->ack_by_nic = t->rx_error_ns;
}

static void nicstamp_note(struct nicstamp_flow *flow, const struct nicstamp_sample *s,
			  u64 tcp_rtt_ns)
{
	flow->missed = 0;
	flow->samples++;
	flow->rtt_ns = s->rtt_ns;
	flow->error_ns = s->error_ns;
	flow->ack_by_nic = s->ack_by_nic;
	flow->tcp_rtt_ns = tcp_rtt_ns;
	if (!flow->rtt_min_ns || s->rtt_ns < flow->rtt_min_ns)
		flow->rtt_min_ns = s->rtt_ns;
}

static enum stamps_stat nicstamp_stat_of(enum nicstamp_verdict verdict)
{
	switch (verdict) {
	case NICSTAMP_OK:
		return STAMPS_STAT_SAMPLES;
	case NICSTAMP_UNSENT:
		return STAMPS_STAT_UNSENT;
	case NICSTAMP_AGAIN:
		return STAMPS_STAT_AMBIGUOUS;
	case NICSTAMP_CLOCKS:
		return STAMPS_STAT_CLOCKS;
	case NICSTAMP_ABSURD:
		return STAMPS_STAT_ABSURD;
	default:
		return STAMPS_STAT_NO_RECORD;
	}
}

static bool nicstamp_take(struct nicstamp_flow *flow, u32 una, u64 tcp_rtt_ns,
			  struct nicstamp_sample *s)
{
	enum nicstamp_verdict verdict;
	struct nicstamp_times times;

	/* TCP takes its backlog with bottom halves on */
	spin_lock_bh(&flow->lock);
	verdict = nicstamp_match_take(&flow->match, una, &times);
	if (verdict == NICSTAMP_OK) {
		nicstamp_fill(s, flow, &times);
		nicstamp_note(flow, s, tcp_rtt_ns);
	} else if (flow->missed < U32_MAX - 1) {
		flow->missed++;
	}
	s->missed = flow->missed;
	spin_unlock_bh(&flow->lock);
	nicstamp_count(nicstamp_stat_of(verdict));
	return verdict == NICSTAMP_OK;
}

static bool nicstamp_sample(struct sock *sk, u32 una, u64 tcp_rtt_ns, struct nicstamp_sample *s)
{
	struct nicstamp_flow *flow;
	bool taken = false;

	s->missed = U32_MAX;
	rcu_read_lock();
	flow = nicstamp_flow_of_socket(sk);
	if (flow)
		taken = nicstamp_take(flow, una, tcp_rtt_ns, s);
	if (taken)
		trace_nicstamp_sample(&flow->tuple.local, &flow->tuple.remote,
				      flow->tuple.local_port, flow->tuple.remote_port, una,
				      tcp_rtt_ns, s);
	rcu_read_unlock();
	if (!flow)
		nicstamp_flow_follow(sk);
	return taken;
}

static void nicstamp_forget(struct sock *sk)
{
	nicstamp_flow_forget(sk);
}

static const struct nicstamp_ops nicstamp_ops = {
	.sample	= nicstamp_sample,
	.forget	= nicstamp_forget,
	.arrival = nicstamp_arrive_get,
};

/* -- consumers ---------------------------------------------------------------- */

int nicstamp_subscribe(struct nicstamp_subscriber *subscriber)
{
	int err = -EALREADY;

	mutex_lock(&nicstamp_lock);
	if (!subscriber->attached) {
		err = 0;
		subscriber->attached = true;
		reinit_completion(&subscriber->detached);
		list_add_tail(&subscriber->list, &nicstamp_subscribers);
		subscriber->attach(&nicstamp_ops);
		nicstamp_arrive_begin(subscriber->arrivals);
		nicstamp_depart_begin(subscriber->departures);
		static_branch_inc(&nicstamp_listened);
		nicstamp_feed_update();
	}
	mutex_unlock(&nicstamp_lock);
	return err;
}
EXPORT_SYMBOL_GPL(nicstamp_subscribe);

static void nicstamp_detach(struct nicstamp_subscriber *subscriber)
{
	static_branch_dec(&nicstamp_listened);
	nicstamp_feed_update();
	list_del(&subscriber->list);
	nicstamp_arrive_end(subscriber->arrivals);
	nicstamp_depart_end(subscriber->departures);
	subscriber->detach();
	subscriber->attached = false;
	/* from here on the consumer may be gone */
	complete(&subscriber->detached);
}

void nicstamp_unsubscribe(struct nicstamp_subscriber *subscriber)
{
	mutex_lock(&nicstamp_lock);
	if (subscriber->attached)
		nicstamp_detach(subscriber);
	mutex_unlock(&nicstamp_lock);
}
EXPORT_SYMBOL_GPL(nicstamp_unsubscribe);

void nicstamp_unsubscribe_all(void)
{
	struct nicstamp_subscriber *subscriber, *next;

	mutex_lock(&nicstamp_lock);
	list_for_each_entry_safe(subscriber, next, &nicstamp_subscribers, list)
		nicstamp_detach(subscriber);
	mutex_unlock(&nicstamp_lock);
}
