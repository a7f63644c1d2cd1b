// SPDX-License-Identifier: GPL-2.0
/*
 * Receipts, announcements and clocks that came: which ones count, and what they do.  The order of
 * checks is that of Documentation/onramp-wire.rst.  Called in a softirq under the RCU read lock.
 * Model: OR-ACKs (ONRAMP21, section 3.1).
 */
#include <net/sock.h>
#include <net/tcp.h>

#include "orack_drain.h"
#include "orack_key.h"
#include "orack_peer.h"
#include "orack_price_net.h"
#include "sch_onramp/onramp_ctl.h"
#include "sch_onramp/onramp_net.h"
#include "sch_onramp/onramp_path.h"
#include "sch_onramp/onramp_sched.h"

/* No receiver sends as many: with 60 KB of data in each, these are 480 Gbit/s from one host. */
#define ORACK_WINDOW_NS		1000000
#define ORACK_WINDOW_MAX	1000

static const enum onramp_stat orack_fault_stat[] = {
	[ORACK_BAD_LENGTH] = ONRAMP_STAT_REFUSED_LENGTH,
	[ORACK_BAD_VERSION] = ONRAMP_STAT_REFUSED_VERSION,
	[ORACK_BAD_KIND] = ONRAMP_STAT_REFUSED_KIND,
	[ORACK_BAD_COUNT] = ONRAMP_STAT_REFUSED_COUNT,
	[ORACK_BAD_VALUE] = ONRAMP_STAT_REFUSED_VALUE,
};

/* The flow of an entry as this host has it.  Its own end is the source of the data in a receipt,
 * and the destination in an announcement.
 */
static void orack_flow(const struct orack_pair *pair, u16 own_port, u16 other_port,
		       struct onramp_key *key)
{
	memset(key, 0, sizeof(*key));
	key->net = pair->net;
	key->saddr = pair->local;
	key->daddr = pair->remote;
	key->sport = htons(own_port);
	key->dport = htons(other_port);
}

/* -- whose connection ----------------------------------------------------------------------- */

/* NULL: there is no connection.  The caller gives the socket back. */
static struct sock *orack_socket(const struct orack_pair *pair, u16 own_port, u16 other_port,
				 int ifindex)
{
	struct onramp_key key;

	orack_flow(pair, own_port, other_port, &key);
	return onramp_packet_socket(&key, ifindex);
}

/* -- announcements ----------------------------------------------------------------------- */

/* A host that has receipts already may go on to have them between two connections. */
static enum onramp_stat orack_announcement(struct onramp_net *on, const struct orack_pair *pair,
					   const struct orack_datagram *d, int ifindex)
{
	enum onramp_stat stat;
	struct orack_entry e;
	struct sock *sk;

	orack_read_entry(d, 0, &e);
	sk = orack_socket(pair, e.dport, e.sport, ifindex);
	if (!sk && !orack_peer_hears(pair))
		return ONRAMP_STAT_REFUSED_FLOW;
	stat = orack_peer_announced(on, pair, &d->h, sk, ifindex);
	if (sk)
		sock_gen_put(sk);
	if (stat == ONRAMP_STAT_ANNOUNCEMENTS_TAKEN)
		orack_pair_report_clock(on, pair);
	return stat;
}

/* -- receipts ---------------------------------------------------------------------------- */

static bool orack_acking_may(struct orack_acking *a, u64 now_ns)
{
	if (now_ns - a->window_ns >= ORACK_WINDOW_NS) {
		a->window_ns = now_ns;
		a->window_count = 0;
	}
	return a->window_count++ < ORACK_WINDOW_MAX;
}

/* What an entry tells of its flow's newest byte. */
struct orack_trip {
	u32 clock;		/* identity of the peer's clock (of rx_ns), and of its stamper */
	u64 tx_ns;
	u64 rx_ns;
	u64 trip_ns;		/* RTT without the entry's age */
	u64 now_ns;
	bool nic;		/* tx_ns is by our NIC's stamp */
};

/* The queueing delay on the way there, by grade (c).  ctl->lock and peer->lock are held. */
static u64 orack_base_queue_ns(struct orack_acking *a, struct onramp_ctl *ctl,
			       const struct orack_trip *t)
{
	u32 steps = a->relative.base.steps;
	u64 excess_ns, queue_ns, standing_ns;

	if (ctl->orack.least_rtt_ns)
		onramp_min_filter_sample(&a->rtt, t->now_ns, ctl->orack.least_rtt_ns);
	ctl->orack.least_rtt_ns = 0;
	excess_ns = t->trip_ns - onramp_min_filter_sample(&a->rtt, t->now_ns, t->trip_ns);
	ctl->pause.far = onramp_pause_far(&ctl->sched->config.pause, t->trip_ns - excess_ns);
	queue_ns = orack_relative_sample(&a->relative, t->clock, t->now_ns, t->tx_ns, t->rx_ns,
					 excess_ns);
	/* The path got longer; its least round trip would take that back (onramp_path_longer()). */
	if (a->relative.base.steps != steps) {
		onramp_count(ctl->sched, steps);
		onramp_min_filter_raise(&a->rtt, t->trip_ns);
	}
	standing_ns = onramp_standing_queue_sample(&a->standing, t->now_ns, excess_ns, queue_ns);
	if (standing_ns)
		tp_base_lower(&a->relative.base, standing_ns);
	return queue_ns + standing_ns;
}

/* The same, by the best grade there is. */
static u64 orack_queue_ns(struct onramp_net *on, struct orack_peer *peer, struct onramp_ctl *ctl,
			  const struct orack_trip *t)
{
	struct orack_acking *a = &peer->acking;
	u64 queue_ns = orack_base_queue_ns(a, ctl, t);
	struct orack_clock_offset offset;

	a->samples++;
	if (!orack_clock_offset_of(on, peer, t->clock, t->now_ns, &offset)) {
		a->absolute.grade = ORACK_GRADE_BASE;
		return queue_ns;
	}
	/* an arrival's error is in it (orack_clock.c) */
	if (t->nic)
		offset.error_ns += ORACK_NIC_ERROR_NS;
	queue_ns = orack_absolute_sample(&a->absolute, &a->relative, &offset, t->now_ns,
					 t->rx_ns - t->tx_ns, t->trip_ns, queue_ns);
	if (a->absolute.grade == offset.grade)
		orack_count(on, ONRAMP_STAT_SAMPLES_ABSOLUTE);
	return queue_ns;
}

/* Notes a sample for readers of the peer.  peer->lock is held. */
static void orack_acking_delay(struct orack_acking *a, u64 queue_ns, u64 now_ns)
{
	bool absolute = orack_grade_is_absolute(a->absolute.grade);

	orack_delay_sample(&a->delay, now_ns, absolute,
			   absolute ? a->absolute.there_ns : (s64)queue_ns);
}

/* Returns a trip's queueing delay; adapts the request to it.  ctl->lock is held, ctl->sched is
 * not NULL.
 */
static u64 orack_peer_sample(struct onramp_net *on, struct orack_peer *peer,
			     struct onramp_ctl *ctl, const struct orack_trip *t)
{
	u64 queue_ns;
	u32 epoch;

	spin_lock(&peer->lock);
	epoch = orack_relative_epoch(&peer->acking.relative);
	queue_ns = min_t(u64, orack_queue_ns(on, peer, ctl, t), ONRAMP_DELAY_MAX_NS);
	orack_acking_delay(&peer->acking, queue_ns, t->now_ns);
	/* A base that began anew was learned from one sample: it takes many to trust it. */
	if (queue_ns >= ctl->sched->config.pause.threshold_ns / 2 ||
	    epoch != orack_relative_epoch(&peer->acking.relative))
		orack_request_all(&peer->acking.request, t->now_ns);
	spin_unlock(&peer->lock);
	return queue_ns;
}

/* Our NIC did not say when the data left.  The flow has no feedback until stamps come again, or it
 * is clear that none come any more.
 */
static enum onramp_stat orack_take_unstamped(struct orack_peer *peer, u64 now_ns)
{
	spin_lock(&peer->lock);
	orack_request_all(&peer->acking.request, now_ns);
	spin_unlock(&peer->lock);
	return ONRAMP_STAT_REFUSED_UNSTAMPED;
}

/* ctl->lock is held, ctl->sched is not NULL. */
static enum onramp_stat orack_take(struct onramp_net *on, struct orack_peer *peer,
				   struct onramp_ctl *ctl, const struct orack_datagram *d,
				   const struct orack_entry *e, u64 now_ns)
{
	struct onramp_departure departure;
	u64 queue_ns, rtt_ns, drain_ns;
	struct onramp_path_visit visit;
	struct orack_trip t;

	if (!tp_seq_before(ctl->orack.seq, e->end_seq) ||
	    !onramp_flight_find(&ctl->flight, e->end_seq))
		return ONRAMP_STAT_REFUSED_SEQUENCE;
	if (!onramp_ctl_departure(ctl, e->end_seq, now_ns, &departure))
		return departure.unstamped ? orack_take_unstamped(peer, now_ns) :
					     ONRAMP_STAT_REFUSED_AMBIGUOUS;
	rtt_ns = now_ns - min(departure.tx_ns, now_ns);
	if (e->age_ns > rtt_ns)
		return ONRAMP_STAT_REFUSED_TIME;
	ctl->orack.seq = e->end_seq;
	t.clock = d->h.clock;
	t.tx_ns = departure.tx_ns;
	t.rx_ns = d->h.time_ns - e->age_ns;
	t.trip_ns = rtt_ns - e->age_ns;
	t.now_ns = now_ns;
	t.nic = departure.nic;
	queue_ns = orack_peer_sample(on, peer, ctl, &t);
	onramp_ctl_sample(ctl, e->end_seq, queue_ns, now_ns);
	drain_ns = orack_drain_pause_ns(d->h.time_ns, now_ns - ctl->drained_ns, queue_ns,
					ctl->sched->config.pause.threshold_ns);
	if (drain_ns)
		onramp_ctl_drain(ctl, now_ns, drain_ns);
	onramp_count(ctl->sched, samples_orack);
	if (orack_clock_is_nic(d->h.clock))
		orack_count(on, ONRAMP_STAT_SAMPLES_NIC);
	if (onramp_flight_holds(&ctl->flight, e->end_seq))
		onramp_flight_acked(&ctl->flight, e->end_seq);
	onramp_path_visit_begin(&visit, &ctl->key, now_ns);
	onramp_path_learn(&visit, ctl, now_ns);
	onramp_path_visit_end(&visit);
	return ONRAMP_STAT_SAMPLES;
}

static enum onramp_stat orack_entry(struct onramp_net *on, struct orack_peer *peer,
				    const struct orack_datagram *d, const struct orack_entry *e,
				    u64 now_ns)
{
	enum onramp_stat stat = ONRAMP_STAT_REFUSED_FLOW;
	struct onramp_ctl *ctl;
	struct onramp_key key;

	orack_flow(&peer->pair, e->sport, e->dport, &key);
	ctl = onramp_ctl_lookup(&key);
	if (!ctl)
		return stat;
	spin_lock(&ctl->lock);
	if (ctl->sched && ctl->source == ONRAMP_SOURCE_ORACK)
		stat = orack_take(on, peer, ctl, d, e, now_ns);
	else if (ctl->sched)
		stat = ONRAMP_STAT_SAMPLES_UNUSED;
	spin_unlock(&ctl->lock);
	return stat;
}

/* A missing stamp here is no fault of the peer, nor that a flow needs no receipts. */
static bool orack_entry_is_refused(enum onramp_stat stat)
{
	return stat != ONRAMP_STAT_SAMPLES && stat != ONRAMP_STAT_SAMPLES_UNUSED &&
	       stat != ONRAMP_STAT_REFUSED_UNSTAMPED;
}

/* Returns how many entries did not count. */
static u32 orack_entries(struct onramp_net *on, struct orack_peer *peer,
			 const struct orack_datagram *d, u64 now_ns)
{
	struct orack_entry e;
	enum onramp_stat stat;
	u32 i, refused = 0;

	for (i = 0; i < d->h.count; i++) {
		orack_read_entry(d, i, &e);
		stat = orack_entry(on, peer, d, &e, now_ns);
		refused += orack_entry_is_refused(stat);
		orack_count(on, stat);
	}
	return refused;
}

/* No flow of this host is controlled before receipts came: the first one has to name one of its
 * connections.
 */
static bool orack_is_first(const struct orack_peer *peer, const struct orack_pair *pair,
			   const struct orack_datagram *d, int ifindex)
{
	struct orack_entry e;
	struct sock *sk;

	if (READ_ONCE(peer->acking.acks))
		return false;
	orack_read_entry(d, 0, &e);
	sk = orack_socket(pair, e.sport, e.dport, ifindex);
	if (sk)
		sock_gen_put(sk);
	return sk;
}

static enum onramp_stat orack_receipt(struct onramp_net *on, const struct orack_pair *pair,
				      const struct orack_datagram *d, int ifindex)
{
	struct orack_peer *peer = orack_peer_find(pair);
	u64 now_ns = ktime_get_ns();
	struct orack_contact to;
	bool may, tell = false;
	u32 refused;

	if (!peer || !READ_ONCE(peer->acking.announced))
		return ONRAMP_STAT_REFUSED_PEER;
	spin_lock(&peer->lock);
	may = orack_acking_may(&peer->acking, now_ns);
	peer->acking.refused += !may;
	spin_unlock(&peer->lock);
	if (!may)
		return ONRAMP_STAT_REFUSED_RATE;
	refused = orack_entries(on, peer, d, now_ns);
	may = refused < d->h.count || orack_is_first(peer, pair, d, ifindex);
	spin_lock(&peer->lock);
	peer->acking.receipts++;
	peer->acking.refused += refused;
	if (may)
		orack_peer_receipted(on, peer);
	if (refused < d->h.count)
		tell = orack_request_answered(&peer->acking.request, d->h.sparse, now_ns);
	if (tell)
		orack_peer_contact(peer, &to);
	spin_unlock(&peer->lock);
	if (tell)
		orack_announce(on, &to, ORACK_LIFETIME_MS);
	return ONRAMP_STAT_RECEIPTS_TAKEN;
}

/* -- clocks ------------------------------------------------------------------------------- */

/* Only of a host that we asked for receipts. */
static enum onramp_stat orack_clock(const struct orack_pair *pair, const struct orack_datagram *d)
{
	struct orack_peer *peer = orack_peer_find(pair);

	return peer && READ_ONCE(peer->acking.announced) ? orack_clock_reported(peer, d) :
						    ONRAMP_STAT_REFUSED_PEER;
}

/* -- datagrams ---------------------------------------------------------------------------- */

/* Takes a good datagram.  Returns what to count. */
static enum onramp_stat orack_datagram(struct onramp_net *on, const struct orack_pair *pair,
				       const struct orack_datagram *d, int ifindex)
{
	if (d->h.kind == ORACK_ANNOUNCEMENT)
		return orack_announcement(on, pair, d, ifindex);
	if (d->h.kind == ORACK_CLOCK)
		return orack_clock(pair, d);
	if (d->h.kind == ORACK_PRICE)
		return orack_price_report(on, pair, d, ifindex);
	if (d->h.kind == ORACK_PRICE_OF_ALL)
		return orack_price_answer(pair, d);
	return orack_receipt(on, pair, d, ifindex);
}

/* @p: as it came from the network. */
void orack_receive(struct onramp_net *on, struct orack_packet *p)
{
	struct orack_datagram d;
	struct orack_pair pair;
	enum orack_fault fault;

	fault = orack_decode(p->maced.data, p->bytes, &d);
	if (fault) {
		orack_count(on, orack_fault_stat[fault]);
		return;
	}
	if (!orack_key_verify(on, p, &d))
		return;
	memset(&pair, 0, sizeof(pair));
	write_pnet(&pair.net, on->net);
	pair.local = p->maced.to;
	pair.remote = p->maced.from;
	orack_count(on, orack_datagram(on, &pair, &d, p->oif));
}
