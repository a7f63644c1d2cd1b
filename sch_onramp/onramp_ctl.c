// SPDX-License-Identifier: GPL-2.0
/*
 * The controller: between packets and feedback on one side and the pausing rule on the other.
 *
 *      enqueue --> note pause counter            sources of feedback
 *      dequeue --> may it leave? record it            |  departure(), sample()
 *                        \                            v
 *                         onramp_flight.h ---> onramp_pause.h ---> until_ns
 *
 * A connection's first data makes its control block (onramp_attach.c).  The connection's
 * addresses find it, so a source needs no lock of the qdisc.  When feedback makes a pause
 * shorter, a list without lock tells the qdisc, which looks again.  The controller calls no
 * source: onramp_feedback.c knows which one a connection has.  Model: On-Ramp (ONRAMP21).
 */
#include <linux/moduleparam.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "compat/account.h"
#include "onramp_burst.h"
#include "onramp_ctl.h"
#include "onramp_min_filter.h"
#include "onramp_net.h"
#include "onramp_quota.h"
#include "onramp_sched.h"
#include "onramp_trace.h"

/* Less than this does not wake the qdisc: its timers are as late anyway. */
#define ONRAMP_KICK_NS		(10 * NSEC_PER_USEC)

/* No datacenter has an RTT of a second, and about four seconds do not fit 32 bits of ns. */
#define ONRAMP_LEAST_RTT_MAX_US	USEC_PER_SEC

static struct kmem_cache *onramp_ctl_cache;
static unsigned int max_flows = ONRAMP_CTL_MAX;
module_param(max_flows, uint, 0644);
MODULE_PARM_DESC(max_flows, "most flows with control blocks, of the first namespace and of all others together (65536)");

static struct rhashtable onramp_ctls;
static atomic_t onramp_ctl_others;	/* of all namespaces but the first */

static const struct rhashtable_params onramp_ctl_params = {
	.key_len = sizeof(struct onramp_key),
	.key_offset = offsetof(struct onramp_ctl, key),
	.head_offset = offsetof(struct onramp_ctl, node),
	.automatic_shrinking = true,
};

/* Caller holds the RCU read lock. */
struct onramp_ctl *onramp_ctl_lookup(const struct onramp_key *key)
{
	if (!atomic_read(&onramp_ctls.nelems))
		return NULL;
	return rhashtable_lookup(&onramp_ctls, key, onramp_ctl_params);
}

/* The same with a reference, which onramp_ctl_put() gives back. */
struct onramp_ctl *onramp_ctl_get(const struct onramp_key *key)
{
	struct onramp_ctl *ctl = onramp_ctl_lookup(key);

	return ctl && refcount_inc_not_zero(&ctl->refs) ? ctl : NULL;
}

struct rhashtable *onramp_ctl_table(void)
{
	return &onramp_ctls;
}

/* -- life ------------------------------------------------------------------------- */

/* The control block came to the table, or left it. */
static void onramp_ctl_account(const struct onramp_ctl *ctl, int more)
{
	const struct net *net = read_pnet(&ctl->key.net);

	atomic_add(more, &onramp_net(net)->ctls);
	if (!net_eq(net, &init_net))
		atomic_add(more, &onramp_ctl_others);
}

static bool onramp_ctl_has_quota(const struct onramp_sched *q)
{
	return onramp_quota_has(net_eq(q->net, &init_net), atomic_read(&q->on->ctls),
				atomic_read(&onramp_ctl_others), READ_ONCE(max_flows));
}

static void onramp_ctl_free(struct rcu_head *head)
{
	kmem_cache_free(onramp_ctl_cache, container_of(head, struct onramp_ctl, rcu));
}

/* TCP's least RTT of the path, from the handshake on.  A flow whose control begins now may never
 * see the path without a queue, while others keep one standing.  The SYN is short, but the last
 * link carries a whole frame; TCP's times are whole microseconds.  0: not known, or too old.
 */
static u32 onramp_ctl_least_rtt_ns(const struct onramp_sched *q, const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = tcp_min_rtt(tp);

	if (tcp_jiffies32 - tp->rtt_min.s[0].t > nsecs_to_jiffies(ONRAMP_MIN_FILTER_SPAN_NS) ||
	    rtt_us > ONRAMP_LEAST_RTT_MAX_US)
		return 0;
	return (rtt_us + 1) * NSEC_PER_USEC +
	       onramp_line_ns(&q->line, psched_mtu(qdisc_dev(q->sch)));
}

/* TCP's first sequence number, as far as the module can tell later: what is acknowledged less how
 * much that is.  The socket's owner queues the packet, so the two belong together.
 */
static u32 onramp_ctl_birth_seq(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->snd_una) - (u32)READ_ONCE(tp->bytes_acked);
}

/* Does the flow's control block know of feedback for the socket's data? */
bool onramp_ctl_serves(const struct onramp_ctl *ctl, const struct sock *sk)
{
	return READ_ONCE(ctl->source) != ONRAMP_SOURCE_NONE &&
	       READ_ONCE(ctl->birth_seq) == onramp_ctl_birth_seq(sk);
}

/* Begins what is kept of a connection, which begins to send at @seq. */
static void onramp_ctl_begin(struct onramp_ctl *ctl, const struct onramp_sched *q,
			     const struct sock *sk, u32 seq, u64 now_ns)
{
	WRITE_ONCE(ctl->birth_seq, onramp_ctl_birth_seq(sk));
	ctl->feedback_ns = now_ns;
	onramp_pause_init(&ctl->pause, now_ns);
	onramp_tcpts_begin(&ctl->tcpts);
	ctl->edge_seq = seq;
	orack_feedback_begin(&ctl->orack, seq, onramp_ctl_least_rtt_ns(q, sk));
	onramp_flight_init(&ctl->flight, seq);
}

/* The key was another connection's.  With its departure records the new one's data would look
 * like data sent again.  ctl->lock is held.
 */
void onramp_ctl_renew(struct onramp_ctl *ctl, const struct onramp_sched *q, struct sock *sk,
		      u32 seq, u64 now_ns)
{
	/* Below another qdisc a packet's queuer is not the socket's owner.  The socket's numbers
	 * may look like another connection's for a moment: it must not keep the governor's limit.
	 */
	if (ctl->gso_set)
		onramp_return_to(ctl, sk);
	memset(&ctl->of_connection, 0, sizeof(ctl->of_connection));
	onramp_ctl_begin(ctl, q, sk, seq, now_ns);
}

/* NULL: too many, or no memory.  It is in no table yet. */
struct onramp_ctl *onramp_ctl_make(struct onramp_sched *q, const struct onramp_key *key,
				   const struct sock *sk, u32 seq, u64 now_ns)
{
	struct onramp_ctl *ctl = NULL;

	if (onramp_ctl_has_quota(q))
		ctl = tp_sk_cache_alloc(onramp_ctl_cache, sk);
	if (!ctl) {
		q->stats.alloc_errors++;
		return NULL;
	}
	/* The ring of departure records needs no clearing. */
	memset(ctl, 0, offsetof(struct onramp_ctl, flight));
	ctl->key = *key;
	refcount_set(&ctl->refs, 1);
	ctl->bound_if = READ_ONCE(sk->sk_bound_dev_if);
	spin_lock_init(&ctl->lock);
	onramp_ctl_begin(ctl, q, sk, seq, now_ns);
	return ctl;
}

/* Feedback finds @ctl from now on.  A failure frees it. */
int onramp_ctl_insert(struct onramp_ctl *ctl)
{
	int err = rhashtable_insert_fast(&onramp_ctls, &ctl->node, onramp_ctl_params);

	if (err)
		kmem_cache_free(onramp_ctl_cache, ctl);
	else
		onramp_ctl_account(ctl, 1);
	return err;
}

/* Bottom halves are off. */
void onramp_ctl_put(struct onramp_ctl *ctl)
{
	if (!refcount_dec_and_test(&ctl->refs))
		return;
	rhashtable_remove_fast(&onramp_ctls, &ctl->node, onramp_ctl_params);
	onramp_ctl_account(ctl, -1);
	onramp_return(ctl);
	call_rcu(&ctl->rcu, onramp_ctl_free);
}

/* -- packets ------------------------------------------------------------------------ */

/* Feedback stopped: its reason for the pause is no longer known to hold. */
static void onramp_ctl_timeout(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns)
{
	if (ctl->pause.until_ns <= now_ns ||
	    now_ns < ctl->feedback_ns + q->config.feedback_timeout_ns)
		return;
	onramp_pause_release(&ctl->pause, now_ns);
	/* Nor does the flow wait for anything in flight. */
	ctl->edge_seq = ctl->flight.end_seq;
	q->stats.timeouts++;
}

/* The source changed; ctl->lock is held. */
static void onramp_ctl_recount(struct onramp_sched *q, struct onramp_flow *f)
{
	atomic_dec(&q->controlled_by[f->source]);
	f->source = f->ctl->source;
	atomic_inc(&q->controlled_by[f->source]);
}

/* Returns the pause counter for a packet that enters the queue. */
u32 onramp_ctl_enqueued(struct onramp_sched *q, struct onramp_flow *f, struct sock *sk, u64 now_ns)
{
	struct onramp_ctl *ctl = f->ctl;
	u32 note_ns;

	spin_lock(&ctl->lock);
	if (unlikely(f->source != ctl->source))
		onramp_ctl_recount(q, f);
	onramp_pause_count(&ctl->pause, now_ns);
	note_ns = (u32)ctl->pause.paused_ns;
	if (q->config.governor && !ctl->mute)
		onramp_burst_govern(q, f, sk);
	else if (unlikely(ctl->gso_set))
		onramp_return_to(ctl, sk);
	spin_unlock(&ctl->lock);
	return note_ns;
}

/* The end of the pause, or of the time for which feedback counts.  ctl->lock is held. */
static u64 onramp_ctl_pause_end(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns)
{
	u64 until_ns;

	onramp_ctl_timeout(q, ctl, now_ns);
	until_ns = ctl->pause.until_ns;
	if (until_ns > now_ns)
		until_ns = min(until_ns, ctl->feedback_ns + q->config.feedback_timeout_ns);
	return until_ns;
}

/* The end of the hold: not beyond the bound, whatever the pause says. */
u64 onramp_ctl_until(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns)
{
	u64 until_ns, bound_ns;

	spin_lock(&ctl->lock);
	until_ns = onramp_ctl_pause_end(q, ctl, now_ns);
	bound_ns = onramp_bound_hold(&ctl->bound, now_ns, until_ns, q->config.pause.max_ns);
	if (unlikely(until_ns > now_ns && bound_ns <= now_ns)) {
		onramp_pause_release(&ctl->pause, now_ns);
		ctl->edge_seq = ctl->flight.end_seq;
		onramp_count(q, capped);
	}
	spin_unlock(&ctl->lock);
	return bound_ns;
}

/* A data packet leaves; @late: paced anew after a pause. */
void onramp_ctl_sent(struct onramp_sched *q, struct onramp_flow *f, struct sk_buff *skb,
		     bool late, u64 now_ns)
{
	struct onramp_cb *cb = onramp_cb(skb);
	struct onramp_record r = { .tx_ns = now_ns };
	struct onramp_ctl *ctl = f->ctl;
	struct onramp_segment seg;

	if (unlikely(onramp_packet_kind(skb, &seg) != ONRAMP_DATA))
		return;
	spin_lock(&ctl->lock);
	r.start_seq = seg.seq;
	r.end_seq = seg.seq + seg.payload;
	r.note_ns = onramp_pause_sent(&ctl->pause, now_ns);
	f->release.rare = ctl->noise.on;
	/* A flow that met no pause lately stays what it was. */
	if (f->release.rate)
		ctl->pause.alone = onramp_burst_is_alone(q->burst_per_line, f->release.rate);
	onramp_bound_sent(&ctl->bound);
	/* A wait for a turn or a departure time is no hold.  A pause makes it one, and so does a
	 * wait behind what a pause held.
	 */
	if ((late || (u32)r.note_ns != cb->note_ns) && now_ns > cb->send_ns) {
		r.hold_ns = min_t(u64, now_ns - cb->send_ns, U32_MAX);
		q->stats.held_packets++;
		q->stats.held_ns += r.hold_ns;
		ctl->stats.held_packets++;
		ctl->stats.held_ns += r.hold_ns;
	}
	/* Silence counts from the first packet that the peer could answer. */
	if (ctl->edge_seq == ctl->flight.end_seq)
		ctl->feedback_ns = now_ns;
	ctl->mss = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : seg.payload;
	ctl->flow = f;
	ctl->sched = q;
	onramp_flight_sent(&ctl->flight, &r);
	trace_onramp_send(ctl, &r, READ_ONCE(skb->sk->sk_pacing_rate));
	spin_unlock(&ctl->lock);
}

/* -- feedback ----------------------------------------------------------------------- */

/* ctl->lock is held, so ctl->sched cannot go away. */
static void onramp_ctl_kick(struct onramp_ctl *ctl)
{
	if (ctl->kicked)
		return;
	ctl->kicked = true;
	/* While it is in the list it counts as a flow's reference. */
	refcount_inc(&ctl->refs);
	llist_add(&ctl->kick, &ctl->sched->kicked);
	__netif_schedule(qdisc_root(ctl->sched->sch));
}

/* The time of the byte before @end_seq: bytes leave the NIC one after the other. */
static u64 onramp_ctl_left_ns(const struct onramp_ctl *ctl, const struct onramp_record *r,
			      u32 end_seq, bool nic)
{
	const struct onramp_line *line = &ctl->sched->line;

	if (nic)
		return r->tx_ns + r->nic_ns - onramp_line_ns(line, r->end_seq - end_seq);
	return r->tx_ns + onramp_line_ns(line, end_seq - r->start_seq);
}

bool onramp_ctl_departure(struct onramp_ctl *ctl, u32 end_seq, u64 now_ns,
			  struct onramp_departure *d)
{
	const struct onramp_record *r = onramp_flight_find(&ctl->flight, end_seq);
	enum onramp_departure_kind kind;

	lockdep_assert_held(&ctl->lock);
	d->unstamped = false;
	if (!r || r->retrans) {
		onramp_count(ctl->sched, unknown);
		return false;
	}
	kind = onramp_departure_next(&ctl->stamper, r, now_ns);
	if (kind == ONRAMP_DEPARTURE_UNKNOWN) {
		d->unstamped = true;
		/* It is feedback anyway. */
		ctl->feedback_ns = now_ns;
		onramp_count(ctl->sched, unstamped);
		return false;
	}
	d->nic = kind == ONRAMP_DEPARTURE_NIC;
	d->tx_ns = onramp_ctl_left_ns(ctl, r, end_seq, d->nic);
	return true;
}

static void onramp_ctl_count(struct onramp_ctl *ctl, u64 delay_ns, u64 now_ns,
			     const struct onramp_verdict *v)
{
	struct onramp_sched *q = ctl->sched;
	u32 bucket = onramp_hist_bucket(delay_ns);

	onramp_count(q, delay[bucket]);
	onramp_recent_sample(&ctl->stats.delay, now_ns, bucket);
	ctl->stats.sampled_ns = now_ns;
	ctl->stats.samples++;
	onramp_count(q, samples);
	if (ctl->stamper.nic)
		onramp_count(q, samples_wire);
	if (v->capped)
		onramp_count(q, capped);
	if (!v->pause_ns)
		return;
	ctl->stats.pauses++;
	onramp_count(q, pauses);
}

/* Changes @d to the delay that judges the flow. */
static void onramp_ctl_judge(struct onramp_ctl *ctl, u64 now_ns, u64 rtt_ns, struct onramp_delay *d)
{
	struct onramp_sched *q = ctl->sched;

	onramp_noise_sample(&ctl->noise, q->config.pause.threshold_ns, now_ns, rtt_ns, d);
	if (ctl->noise.on)
		onramp_count(q, noisy);
}

void onramp_ctl_sample(struct onramp_ctl *ctl, u32 end_seq, u64 delay_ns, u64 now_ns)
{
	const struct onramp_record *r = onramp_flight_find(&ctl->flight, end_seq);
	struct onramp_sched *q = ctl->sched;
	u64 before_ns = ctl->pause.until_ns, rtt_ns;
	struct onramp_delay judged;
	struct onramp_verdict v;

	lockdep_assert_held(&ctl->lock);
	if (!r)
		return;
	rtt_ns = now_ns - r->tx_ns;
	ctl->feedback_ns = now_ns;
	ctl->mute = false;
	if (tp_seq_before(ctl->edge_seq, end_seq))
		ctl->edge_seq = end_seq;
	judged = (struct onramp_delay){ .delay_ns = delay_ns, .note_ns = r->note_ns };
	onramp_ctl_judge(ctl, now_ns, rtt_ns, &judged);
	onramp_pause_sample(&ctl->pause, &q->config.pause, now_ns, judged.delay_ns, judged.note_ns,
			    &v);
	trace_onramp_sample(ctl, end_seq, delay_ns, rtt_ns, &v);
	onramp_ctl_count(ctl, delay_ns, now_ns, &v);
	if (before_ns > now_ns && ctl->pause.until_ns + ONRAMP_KICK_NS < before_ns)
		onramp_ctl_kick(ctl);
}

void onramp_ctl_drain(struct onramp_ctl *ctl, u64 now_ns, u64 pause_ns)
{
	lockdep_assert_held(&ctl->lock);
	onramp_pause_drain(&ctl->pause, &ctl->sched->config.pause, now_ns, pause_ns);
	ctl->drained_ns = now_ns;
	onramp_count(ctl->sched, drains);
}

void onramp_ctl_coarse(struct onramp_ctl *ctl, enum onramp_source instead, u64 now_ns)
{
	struct onramp_sched *q = ctl->sched;

	lockdep_assert_held(&ctl->lock);
	WRITE_ONCE(ctl->source, instead);
	WRITE_ONCE(ctl->coarse, true);
	ctl->mute = true;
	ctl->orack.seq = ctl->flight.una;
	if (ctl->pause.until_ns > now_ns)
		onramp_ctl_kick(ctl);
	onramp_pause_release(&ctl->pause, now_ns);
	onramp_count(q, coarse);
}

/* -- for tcp_timely ------------------------------------------------------------------ */

/* An onramp_hold_fn. */
u32 onramp_ctl_hold_ns(const struct sock *sk, u32 end_seq)
{
	const struct onramp_record *r;
	struct onramp_ctl *ctl;
	struct onramp_key key;
	u32 hold_ns = 0;

	onramp_packet_key(sk, &key);
	ctl = onramp_ctl_lookup(&key);
	if (!ctl)
		return 0;
	spin_lock_bh(&ctl->lock);
	r = onramp_flight_find(&ctl->flight, end_seq);
	if (r)
		hold_ns = r->hold_ns;
	spin_unlock_bh(&ctl->lock);
	return hold_ns;
}

int onramp_ctl_init(void)
{
	int err = -ENOMEM;

	onramp_ctl_cache = kmem_cache_create("onramp_ctl", sizeof(struct onramp_ctl), 0,
					     SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	if (!onramp_ctl_cache)
		return err;
	err = rhashtable_init(&onramp_ctls, &onramp_ctl_params);
	if (err)
		kmem_cache_destroy(onramp_ctl_cache);
	return err;
}

void onramp_ctl_exit(void)
{
	rcu_barrier();
	rhashtable_destroy(&onramp_ctls);
	kmem_cache_destroy(onramp_ctl_cache);
}
