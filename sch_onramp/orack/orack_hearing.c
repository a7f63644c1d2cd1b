// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that ask us for receipts: those that send data to us.  Model: On-Ramp (ONRAMP21).
 *
 * A host gets receipts until its announcement expires.  We enter a host only for a connection
 * that we have with it, and a bounded number of them.
 */
#include <linux/workqueue.h>
#include <net/sock.h>

#include "orack_hearing.h"
#include "orack_nic.h"
#include "orack_peer.h"
#include "orack_turn.h"
#include "sch_onramp/onramp_net.h"

/* Of ORACK_PEERS_MAX, the peers that the network's datagrams may enter. */
#define ORACK_HEARING_MAX	8192

/* So many announcements of a peer count: it has use for one each 100 us at most (ORACK_AGAIN_NS).
 * Those that do not count take none of them away.
 */
#define ORACK_CALLS_NS		(10 * NSEC_PER_MSEC)
#define ORACK_CALLS_MAX		120

/* peer->lock is held for these.  A removed peer does not count.  A host that wants all receipts
 * again has them from its next data on: the acker looks at its terms.
 */
static void orack_peer_set_sparse(struct onramp_net *on, struct orack_peer *peer, bool sparse)
{
	if (peer->hearing.sparse == sparse || peer->removed)
		return;
	WRITE_ONCE(peer->hearing.sparse, sparse);
	atomic_add(sparse ? 1 : -1, &on->hearing.sparse);
	if (!sparse)
		atomic_fetch_inc_release(&on->hearing.all_requests);
}

void orack_peer_set_hears(struct onramp_net *on, struct orack_peer *peer, bool hears)
{
	if (peer->hearing.hears == hears || peer->removed)
		return;
	WRITE_ONCE(peer->hearing.hears, hears);
	atomic_add(hears ? 1 : -1, &on->hearing.count);
	orack_nic_set_hears(hears);
	orack_peer_set_sparse(on, peer, false);
}

/* The announcement expires, unless the host repeats it.  peer->lock is held. */
void orack_peer_expire_hears(struct onramp_net *on, struct orack_peer *peer)
{
	if (peer->hearing.hears && time_after(jiffies, peer->hearing.hears_until))
		orack_peer_set_hears(on, peer, false);
}

static bool orack_hearing_on(const struct orack_hearing *r)
{
	return READ_ONCE(r->hears) && !time_after(jiffies, READ_ONCE(r->hears_until));
}

/* Did the pair's far end announce itself?  Caller holds the RCU read lock. */
bool orack_peer_hears(const struct orack_pair *pair)
{
	const struct orack_peer *peer = orack_peer_find(pair);

	return peer && orack_hearing_on(&peer->hearing);
}

static bool orack_hearing_spares(struct orack_hearing *r, u32 bytes, u64 now_ns)
{
	struct orack_thin thin;
	bool spares;

	if (bytes >= ORACK_THIN_BYTES)
		return false;
	/* A race with another processor costs a receipt too many or too few. */
	thin.sent = READ_ONCE(r->thin.sent);
	thin.last = READ_ONCE(r->thin.last);
	thin.bytes = READ_ONCE(r->thin.bytes);
	spares = orack_thin_spares(&thin, bytes, now_ns);
	WRITE_ONCE(r->thin.sent, thin.sent);
	WRITE_ONCE(r->thin.last, thin.last);
	WRITE_ONCE(r->thin.bytes, thin.bytes);
	return spares;
}

/* Which times its receipts carry, after what was @seen. */
static bool orack_hearing_takes_nic(struct orack_hearing *r, const struct orack_seen *seen,
				    u64 now_ns)
{
	struct orack_stamper stamper, before;

	if (!static_branch_unlikely(&orack_nic_attached) && !READ_ONCE(r->stamper.nic))
		return false;
	/* A race with another processor miscounts some data. */
	before.begun = READ_ONCE(r->stamper.begun);
	before.nic = READ_ONCE(r->stamper.nic);
	before.run = READ_ONCE(r->stamper.run);
	before.debt = READ_ONCE(r->stamper.debt);
	before.ended = READ_ONCE(r->stamper.ended);
	before.hold = READ_ONCE(r->stamper.hold);
	stamper = before;
	orack_stamper_next(&stamper, seen, now_ns);
	/* Where nothing changes no processor loses its cache line. */
	if (stamper.run != before.run || stamper.debt != before.debt) {
		WRITE_ONCE(r->stamper.run, stamper.run);
		WRITE_ONCE(r->stamper.debt, stamper.debt);
	}
	if (stamper.nic != before.nic || stamper.begun != before.begun) {
		WRITE_ONCE(r->stamper.ended, stamper.ended);
		WRITE_ONCE(r->stamper.hold, stamper.hold);
		WRITE_ONCE(r->stamper.nic, stamper.nic);
		WRITE_ONCE(r->stamper.begun, stamper.begun);
	}
	return stamper.nic;
}

/* What the pair's far end wants for @bytes of its data that begin a batch, and on which terms.
 * Caller holds the RCU read lock.
 */
enum orack_wants orack_peer_wants(const struct orack_pair *pair, u32 bytes, u64 now_ns,
				  const struct orack_seen *seen, struct orack_terms *terms)
{
	struct orack_peer *peer = orack_peer_find(pair);
	struct orack_hearing *r;

	if (!peer || !orack_hearing_on(&peer->hearing))
		return ORACK_WANTS_NONE;
	r = &peer->hearing;
	terms->oif = READ_ONCE(peer->oif);
	terms->sparse = READ_ONCE(r->sparse);
	terms->nic = orack_hearing_takes_nic(r, seen, now_ns);
	return orack_hearing_spares(r, bytes, now_ns) ? ORACK_WANTS_MORE : ORACK_WANTS_RECEIPT;
}

/* Does the announcement count; if not, why?  A MAC was verified before.  peer->lock is held. */
static enum onramp_stat orack_hearing_judge(const struct orack_hearing *r,
					    const struct orack_header *h, bool connected,
					    u64 now_ns)
{
	u64 since_ns = now_ns - r->announced_at_ns;
	struct orack_call call = {
		.connected = connected,
		.hears = orack_hearing_on(r),
		.sparser = h->sparse && !r->sparse,
		.lifetime_ms = h->clock,
	};

	if (call.hears) {
		if (orack_turn_is_late(h->time_ns, r->announced_ns, since_ns, h->key))
			return ONRAMP_STAT_REFUSED_REPLAY;
		call.left_ms = jiffies_to_msecs(r->hears_until - jiffies);
		call.jumps = !h->key && orack_turn(h->time_ns, r->announced_ns,
						   since_ns) == ORACK_TURN_JUMP;
	}
	return orack_call_counts(&call) ? ONRAMP_STAT_ANNOUNCEMENTS_TAKEN :
					  ONRAMP_STAT_REFUSED_FLOW;
}

/* May one more announcement count?  peer->lock is held. */
static bool orack_hearing_calls(struct orack_hearing *r, u64 now_ns)
{
	if (now_ns - r->calls_ns >= ORACK_CALLS_NS) {
		r->calls_ns = now_ns;
		r->calls = 0;
	}
	if (r->calls >= ORACK_CALLS_MAX)
		return false;
	r->calls++;
	return true;
}

/* Does what a peer's announcement asks for.  peer->lock is held.  Returns what to count. */
static enum onramp_stat orack_peer_obey(struct onramp_net *on, struct orack_peer *peer,
					const struct orack_header *h, int oif, u64 now_ns)
{
	struct orack_hearing *r = &peer->hearing;

	if (!orack_hearing_calls(r, now_ns))
		return ONRAMP_STAT_REFUSED_RATE;
	r->announced_ns = h->time_ns;
	r->announced_at_ns = now_ns;
	orack_peer_set_oif(peer, oif);
	WRITE_ONCE(r->hears_until, jiffies + msecs_to_jiffies(h->clock));
	if (!r->hears)
		orack_clock_report_again(&r->own_report);
	orack_peer_set_hears(on, peer, h->clock);
	orack_peer_set_sparse(on, peer, h->clock && h->sparse);
	/* The host has On-Ramp: if we left it alone, we ask it again.  Not if it wants no more. */
	if (h->clock && orack_acking_is_silent(&peer->acking))
		WRITE_ONCE(peer->acking.unanswered, 0);
	queue_delayed_work(system_highpri_wq, &on->peers.work, ORACK_TICK);
	return ONRAMP_STAT_ANNOUNCEMENTS_TAKEN;
}

/* Takes an announcement; @sk: its connection, NULL: there is none.  Without a connection and a
 * MAC any host may have sent it: it only prolongs receipts.  Returns what to count.
 */
enum onramp_stat orack_peer_announced(struct onramp_net *on, const struct orack_pair *pair,
				      const struct orack_header *h, const struct sock *sk, int oif)
{
	struct orack_peer *peer = orack_peer_find(pair);
	u64 now_ns = ktime_get_ns();
	enum onramp_stat stat;

	if (!peer && !h->clock)
		return ONRAMP_STAT_REFUSED_PEER;
	/* Processors that come here at the same time may each enter one more. */
	if (!(peer && READ_ONCE(peer->hearing.hears)) &&
	    atomic_read(&on->hearing.count) >= ORACK_HEARING_MAX)
		return ONRAMP_STAT_REFUSED_FULL;
	if (!peer)
		peer = orack_peer_make(on, pair, sk);
	if (!peer)
		return ONRAMP_STAT_REFUSED_FULL;
	spin_lock(&peer->lock);
	stat = orack_hearing_judge(&peer->hearing, h, sk, now_ns);
	if (stat == ONRAMP_STAT_ANNOUNCEMENTS_TAKEN) {
		if (sk || h->key)
			stat = orack_peer_obey(on, peer, h, oif, now_ns);
		else
			WRITE_ONCE(peer->hearing.hears_until, jiffies + msecs_to_jiffies(h->clock));
	}
	spin_unlock(&peer->lock);
	return stat;
}

/* Reports what our clock is worth, if that is due.  Bottom halves are off, under the RCU read
 * lock.
 */
void orack_peer_report_clock(struct onramp_net *on, struct orack_peer *peer)
{
	bool due;

	spin_lock(&peer->lock);
	due = peer->hearing.hears && orack_clock_report_is_due(on, &peer->hearing.own_report);
	spin_unlock(&peer->lock);
	if (due)
		orack_clock_send_report(on, peer);
}

/* We took its announcement.  Our clock matters from the first receipt on. */
void orack_pair_report_clock(struct onramp_net *on, const struct orack_pair *pair)
{
	struct orack_peer *peer = orack_peer_find(pair);

	if (peer)
		orack_peer_report_clock(on, peer);
}
