// SPDX-License-Identifier: GPL-2.0
/*
 * The offset of a peer's clock against ours, where it is known: grades (a) and (b).
 *
 *      peer reports:  clock of its receipts --> its CLOCK_REALTIME (+ error)     wire
 *      we know:       CLOCK_MONOTONIC       --> our CLOCK_REALTIME (+ error)     netlink
 *      or a daemon:   its CLOCK_REALTIME    --> our CLOCK_REALTIME,  error       netlink
 *
 * Receipts keep to a clock that is never set, so grade (c) goes on whatever becomes of the rest.
 * An offset given for a peer (b) goes before both clocks' errors (a).  Model: ONRAMP21.
 */
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "orack_clock.h"
#include "orack_drift.h"
#include "orack_peer.h"
#include "orack_turn.h"
#include "sch_onramp/onramp_net.h"

/* A namespace may have as many peers. */
#define ORACK_OFFSETS_MAX	16384

/* A report is repeated and expires as an announcement does: three may be lost. */
#define ORACK_CLOCK_REFRESH	(3 * HZ)
#define ORACK_CLOCK_LIFETIME	(10 * HZ)

/* A peer that repeats its announcement gets reports as often as the worker looks. */
#define ORACK_CLOCK_AT_ONCE	(HZ / 4)

/* Monotonic time since the module was loaded on this boot; no other clock has it.  On the wire it
 * counts from a secret number, so that it does not tell how long the host is up.
 */
u32 orack_own_clock __read_mostly;
u64 orack_own_begin_ns __read_mostly;

static struct rhashtable orack_offsets;
static u64 orack_offset_serial;		/* RTNL */

static const struct rhashtable_params orack_offset_params = {
	.key_len = sizeof(struct orack_offset_key),
	.key_offset = offsetof(struct orack_offset, key),
	.head_offset = offsetof(struct orack_offset, node),
	.automatic_shrinking = true,
};

/* CLOCK_REALTIME less CLOCK_MONOTONIC: only setting the clock changes it, slewing does not. */
static u64 orack_clock_real_ns(void)
{
	return (u64)ktime_to_ns(ktime_mono_to_real(0));
}

/* -- our own ---------------------------------------------------------------------------- */

/* Bound of the error of our CLOCK_REALTIME; 0: unknown. */
u32 orack_clock_error(const struct onramp_net *on)
{
	u32 error_ns = READ_ONCE(on->clock.error_ns);
	unsigned long until = READ_ONCE(on->clock.error_until);

	return until && time_after(jiffies, until) ? 0 : error_ns;
}

/* Under RTNL. */
void orack_clock_discipline(struct onramp_net *on, u32 error_ns, u32 seconds)
{
	WRITE_ONCE(on->clock.error_until, seconds ? (jiffies + seconds * HZ) | 1UL : 0);
	WRITE_ONCE(on->clock.error_ns, error_ns);
}

static void orack_clock_is(const struct onramp_net *on, struct orack_clock_entry *is)
{
	is->real_ns = orack_clock_real_ns() - orack_own_time(0);
	is->error_ns = orack_clock_error(on);
}

/* The peer may have forgotten our report. */
void orack_clock_report_again(struct orack_own_report *own)
{
	own->is.error_ns = U32_MAX;	/* never reported */
}

/* Is a report due to a peer that hears us?  It counts as made then.  peer->lock is held. */
bool orack_clock_report_is_due(const struct onramp_net *on, struct orack_own_report *own)
{
	unsigned long sent = own->sent;
	struct orack_clock_entry is;

	orack_clock_is(on, &is);
	if (sent && time_before(jiffies, sent + ORACK_CLOCK_AT_ONCE))
		return false;
	if (sent && time_before(jiffies, sent + ORACK_CLOCK_REFRESH) &&
	    is.real_ns == own->is.real_ns && is.error_ns == own->is.error_ns)
		return false;
	own->sent = jiffies | 1UL;
	own->is = is;
	return true;
}

/* Bottom halves are off, under the RCU read lock. */
void orack_clock_send_report(struct onramp_net *on, const struct orack_peer *peer)
{
	struct orack_header h = {
		.kind = ORACK_CLOCK, .count = 1, .clock = orack_own_clock,
		.time_ns = orack_own_time(ktime_get_ns()),
	};
	struct orack_clock_entry is;
	struct orack_packet p;

	orack_clock_is(on, &is);
	orack_peer_address(peer, &p);
	p.bytes = orack_encode_clock(p.maced.data, &h, &is);
	if (!orack_send(on, &p))
		orack_count(on, ONRAMP_STAT_CLOCKS_SENT);
}

/* -- a peer's ---------------------------------------------------------------------------- */

static bool orack_clock_report_holds(const struct orack_clock_report *report, u32 id)
{
	return report->known && report->id == orack_clock_of(id) &&
	       time_before_eq(jiffies, report->until);
}

/* Does the report count?  Its sender saw a receipt if it knows the clock's identity.  A MAC was
 * verified before.  peer->lock is held.
 */
static enum onramp_stat orack_clock_judge(const struct orack_acking *a,
					  const struct orack_header *h, u64 now_ns)
{
	const struct orack_clock_report *report = &a->report;

	if (a->relative.known && orack_clock_of(a->relative.id) != orack_clock_of(h->clock))
		return ONRAMP_STAT_REFUSED_PEER;
	if (orack_clock_report_holds(report, h->clock) &&
	    orack_turn_is_late(h->time_ns, report->made_ns, now_ns - report->came_ns, h->key))
		return ONRAMP_STAT_REFUSED_REPLAY;
	return ONRAMP_STAT_CLOCKS_TAKEN;
}

/* Takes a peer's report of its clock.  Returns what to count. */
enum onramp_stat orack_clock_reported(struct orack_peer *peer, const struct orack_datagram *d)
{
	struct orack_clock_report *report = &peer->acking.report;
	u64 now_ns = ktime_get_ns();
	enum onramp_stat stat;

	spin_lock(&peer->lock);
	stat = orack_clock_judge(&peer->acking, &d->h, now_ns);
	if (stat != ONRAMP_STAT_CLOCKS_TAKEN)
		goto out;
	report->known = true;
	report->id = orack_clock_of(d->h.clock);
	report->made_ns = d->h.time_ns;
	report->came_ns = now_ns;
	orack_read_clock(d, &report->is);
	report->until = jiffies + ORACK_CLOCK_LIFETIME;
out:
	spin_unlock(&peer->lock);
	return stat;
}

/* Under the RCU read lock. */
static struct orack_offset *orack_offset_find(const struct onramp_net *on,
					      const struct in6_addr *remote)
{
	struct orack_offset_key key;

	memset(&key, 0, sizeof(key));
	write_pnet(&key.net, on->net);
	key.remote = *remote;
	return rhashtable_lookup(&orack_offsets, &key, orack_offset_params);
}

/* Since the offset was told, a sample may be a little older. */
static s64 orack_offset_drifted_ns(const struct orack_offset *o, u64 now_ns)
{
	s64 elapsed_ns = (s64)(now_ns - o->told_ns);

	return o->drift_q && elapsed_ns > 0 ? orack_drift_ns(o->drift_q, elapsed_ns) : 0;
}

/* Its CLOCK_REALTIME less ours. */
s64 orack_offset_now_ns(const struct orack_offset *o)
{
	return o->offset_ns + orack_offset_drifted_ns(o, ktime_get_ns());
}

/* Grade (b).  peer->lock is held, under the RCU read lock. */
static bool orack_clock_given_offset(const struct onramp_net *on, struct orack_peer *peer, u32 id,
				     u64 now_ns, struct orack_clock_offset *offset)
{
	const struct orack_offset *o;
	struct orack_given_offset *given = &peer->acking.given;

	if (!READ_ONCE(on->clock.offsets))
		return false;
	o = orack_offset_find(on, &peer->pair.remote);
	if (!o || time_after(jiffies, o->until))
		return false;
	if (given->serial != o->serial) {
		if (!orack_clock_report_holds(&peer->acking.report, id))
			return false;
		given->serial = o->serial;
		given->id = orack_clock_of(id);
		given->offset_ns = o->real_ns + (u64)o->offset_ns - peer->acking.report.is.real_ns;
	}
	/* Another clock has no relation to what was said of the last one. */
	if (given->id != orack_clock_of(id))
		return false;
	offset->offset_ns = given->offset_ns + (u64)orack_offset_drifted_ns(o, now_ns);
	offset->error_ns = o->error_ns;
	offset->grade = ORACK_GRADE_OFFSET;
	return true;
}

/* The offset of the peer's clock @id against CLOCK_MONOTONIC at @now_ns.  False: unknown.
 * peer->lock is held, under the RCU read lock.
 */
static bool orack_clock_best_offset(const struct onramp_net *on, struct orack_peer *peer, u32 id,
				    u64 now_ns, struct orack_clock_offset *offset)
{
	const struct orack_clock_report *report = &peer->acking.report;
	u32 error_ns = orack_clock_error(on);

	if (orack_clock_given_offset(on, peer, id, now_ns, offset))
		return true;
	if (!error_ns || !report->is.error_ns || !orack_clock_report_holds(report, id))
		return false;
	offset->offset_ns = orack_clock_real_ns() - report->is.real_ns;
	offset->error_ns = error_ns + report->is.error_ns;
	offset->grade = ORACK_GRADE_SYNCHRONIZED;
	return true;
}

/* The same for times in receipts, whose identity tells who stamped. */
bool orack_clock_offset_of(const struct onramp_net *on, struct orack_peer *peer, u32 id,
			   u64 now_ns, struct orack_clock_offset *offset)
{
	if (!orack_clock_best_offset(on, peer, id, now_ns, offset))
		return false;
	if (orack_clock_is_nic(id))
		offset->error_ns += ORACK_NIC_ERROR_NS;
	return true;
}

/* -- offsets of peers, under RTNL ------------------------------------------------------------ */

static void orack_offset_drop(struct onramp_net *on, struct orack_offset *o)
{
	rhashtable_remove_fast(&orack_offsets, &o->node, orack_offset_params);
	list_del_rcu(&o->list);
	WRITE_ONCE(on->clock.offsets, on->clock.offsets - 1);
	kfree_rcu(o, rcu);
}

/* Drops the namespace's expired offsets, or all. */
static void orack_offset_sweep(struct onramp_net *on, bool all)
{
	struct orack_offset *o, *next;

	list_for_each_entry_safe(o, next, &on->clock.offset_list, list) {
		if (all || time_after(jiffies, o->until))
			orack_offset_drop(on, o);
	}
}

static int orack_offset_insert(struct onramp_net *on, struct orack_offset *o,
			       struct netlink_ext_ack *extack)
{
	int err;

	if (on->clock.offsets >= ORACK_OFFSETS_MAX)
		orack_offset_sweep(on, false);
	if (on->clock.offsets >= ORACK_OFFSETS_MAX) {
		NL_SET_ERR_MSG(extack, "too many peers have an offset: clear some");
		return -ENOSPC;
	}
	err = rhashtable_insert_fast(&orack_offsets, &o->node, orack_offset_params);
	if (err)
		return err;
	list_add_tail_rcu(&o->list, &on->clock.offset_list);
	WRITE_ONCE(on->clock.offsets, on->clock.offsets + 1);
	return 0;
}

static int orack_offset_put(struct onramp_net *on, struct orack_offset *o,
			    struct netlink_ext_ack *extack)
{
	struct orack_offset *before;
	int err;

	before = rhashtable_lookup_fast(&orack_offsets, &o->key, orack_offset_params);
	if (!before)
		return orack_offset_insert(on, o, extack);
	err = rhashtable_replace_fast(&orack_offsets, &before->node, &o->node, orack_offset_params);
	if (err)
		return err;
	list_replace_rcu(&before->list, &o->list);
	kfree_rcu(before, rcu);
	return 0;
}

/* @wanted: address, offset, drift and error. */
int orack_clock_set(struct onramp_net *on, const struct orack_offset *wanted, u32 seconds,
		    struct netlink_ext_ack *extack)
{
	struct orack_offset *o = kzalloc(sizeof(*o), GFP_KERNEL_ACCOUNT);
	int err;

	if (!o)
		return -ENOMEM;
	write_pnet(&o->key.net, on->net);
	o->key.remote = wanted->key.remote;
	o->offset_ns = wanted->offset_ns;
	o->drift_ppt = wanted->drift_ppt;
	o->drift_q = orack_drift_q(wanted->drift_ppt);
	o->error_ns = wanted->error_ns;
	o->told_ns = ktime_get_ns();
	o->real_ns = orack_clock_real_ns();
	o->until = jiffies + seconds * HZ;
	o->serial = ++orack_offset_serial;
	err = orack_offset_put(on, o, extack);
	if (err)
		kfree(o);
	return err;
}

int orack_clock_clear(struct onramp_net *on, const struct in6_addr *remote,
		      struct netlink_ext_ack *extack)
{
	struct orack_offset *o;

	rcu_read_lock();
	o = orack_offset_find(on, remote);
	rcu_read_unlock();
	if (!o) {
		NL_SET_ERR_MSG(extack, "nothing was said of this peer's clock");
		return -ENOENT;
	}
	orack_offset_drop(on, o);
	return 0;
}

void orack_clock_drop_all(struct onramp_net *on)
{
	orack_offset_sweep(on, true);
}

void orack_clock_open(struct onramp_net *on)
{
	INIT_LIST_HEAD(&on->clock.offset_list);
}

int orack_clock_init(void)
{
	orack_own_clock = orack_clock_of(get_random_u32());
	orack_own_begin_ns = get_random_u64();
	return rhashtable_init(&orack_offsets, &orack_offset_params);
}

void orack_clock_exit(void)
{
	rhashtable_destroy(&orack_offsets);
}
