// SPDX-License-Identifier: GPL-2.0
/*
 * Two workers look at the hosts on the other side.  The first takes those that it has to ask for
 * receipts at once, the second all, four times a second.  Not in ONRAMP21.
 *
 *      ask it (orack_acking.c), say what our clock is worth (orack_hearing.c), forget it
 */
#include <linux/workqueue.h>

#include "orack_clock.h"
#include "orack_peer.h"
#include "orack_round.h"
#include "sch_onramp/onramp_net.h"

/* Where there is no place, the worker forgets so many of all peers at once. */
#define ORACK_PEERS_ROOM	(ORACK_PEERS_MAX / 16)

/* While less than half of all are in use, a silent host is remembered for longer. */
#define ORACK_SILENT		(3600 * HZ)

/* on->peers.lock is held for this, and peer->lock. */
static void orack_peer_retire(struct onramp_net *on, struct orack_peer *peer)
{
	orack_peer_set_acks(on, peer, false);
	orack_peer_set_hears(on, peer, false);
	peer->removed = true;
}

/* True: an announcement to *to is due, and counts as made. */
static bool orack_peer_tick(struct onramp_net *on, struct orack_peer *peer,
			    struct orack_contact *to)
{
	bool due;

	spin_lock(&peer->lock);
	orack_peer_expire_hears(on, peer);
	orack_peer_expire_acks(on, peer);
	due = orack_peer_asks_now(peer, to);
	spin_unlock(&peer->lock);
	return due;
}

static bool orack_peer_is_gone(const struct onramp_net *on, const struct orack_peer *peer)
{
	const struct orack_acking *a = &peer->acking;
	unsigned long keep = ORACK_IDLE;

	if (orack_acking_is_silent(a) && READ_ONCE(on->peers.count) < ORACK_PEERS_MAX / 2)
		keep = ORACK_SILENT;
	return !READ_ONCE(peer->hearing.hears) && !READ_ONCE(a->acks) &&
	       (!READ_ONCE(a->used) || time_after(jiffies, READ_ONCE(a->used) + keep));
}

/* True: the peer is of no use any more. */
static bool orack_peer_visit(struct onramp_net *on, struct orack_peer *peer)
{
	struct orack_contact to;
	bool gone = false;

	local_bh_disable();
	rcu_read_lock();
	if (orack_peer_tick(on, peer, &to)) {
		if (!orack_announce(on, &to, ORACK_LIFETIME_MS))
			orack_peer_unsaid(peer);
	} else {
		gone = orack_peer_is_gone(on, peer);
	}
	orack_peer_report_clock(on, peer);
	rcu_read_unlock();
	local_bh_enable();
	return gone;
}

static void orack_peer_forget(struct onramp_net *on, struct orack_peer *peer)
{
	bool urgent;

	if (!peer)
		return;
	spin_lock_bh(&on->peers.lock);
	spin_lock(&peer->lock);
	/* Data went to it again since the worker looked. */
	urgent = peer->urgent;
	if (!urgent)
		orack_peer_retire(on, peer);
	spin_unlock(&peer->lock);
	if (!urgent)
		orack_peer_unlink(on, peer);
	spin_unlock_bh(&on->peers.lock);
}

/* Asks the urgent peers.  No worker removes them before. */
static void orack_peer_ask(struct work_struct *work)
{
	struct onramp_net *on = container_of(work, struct onramp_net, peers.ask);
	struct orack_peer *peer, *next;

	llist_for_each_entry_safe(peer, next, llist_del_all(&on->peers.urgent), ask) {
		orack_peer_visit(on, peer);
		spin_lock_bh(&peer->lock);
		peer->urgent = false;
		spin_unlock_bh(&peer->lock);
		cond_resched();
	}
	queue_delayed_work(system_highpri_wq, &on->peers.work, ORACK_TICK);
}

/* Drops peers that never answered, oldest first, up to @room of them.  Returns how many places
 * are still wanted.
 */
static u32 orack_peer_drop_spare(struct onramp_net *on, unsigned long keep, u32 room)
{
	struct orack_peer *peer, *gone = NULL;

	list_for_each_entry_rcu(peer, &on->peers.list, list, true) {
		orack_peer_forget(on, gone);
		gone = NULL;
		if (!room)
			break;
		if (orack_peer_is_spare(peer, keep)) {
			gone = peer;
			room--;
		}
		cond_resched();
	}
	orack_peer_forget(on, gone);
	return room;
}

/* A peer had no place.  A sender to many hosts without On-Ramp keeps no other out. */
static void orack_peer_make_room(struct onramp_net *on)
{
	u32 room = orack_peer_drop_spare(on, ORACK_REFRESH, ORACK_PEERS_ROOM);

	if (room)
		room = orack_peer_drop_spare(on, 0, room);
	/* Without any room the next tick tries again, and not before. */
	WRITE_ONCE(on->peers.crowded, room == ORACK_PEERS_ROOM);
}

/* Only this worker removes peers while it runs.  So the list holds without a lock, and packets do
 * not wait for the whole list.  It forgets a peer once it knows the next.
 */
static void orack_peer_work(struct work_struct *work)
{
	struct onramp_net *on = container_of(to_delayed_work(work), struct onramp_net, peers.work);
	struct orack_peer *peer, *gone = NULL;

	if (READ_ONCE(on->peers.crowded))
		orack_peer_make_room(on);
	list_for_each_entry_rcu(peer, &on->peers.list, list, true) {
		orack_peer_forget(on, gone);
		gone = orack_peer_visit(on, peer) ? peer : NULL;
		cond_resched();
	}
	orack_peer_forget(on, gone);
	if (READ_ONCE(on->peers.count))
		queue_delayed_work(system_highpri_wq, &on->peers.work, ORACK_TICK);
}

void orack_round_open(struct onramp_net *on)
{
	spin_lock_init(&on->peers.lock);
	INIT_LIST_HEAD(&on->peers.list);
	init_llist_head(&on->peers.urgent);
	INIT_WORK(&on->peers.ask, orack_peer_ask);
	INIT_DELAYED_WORK(&on->peers.work, orack_peer_work);
}

/* The last qdisc went: forgets all peers.  @acking gets those that send us receipts, @most at
 * most.  Returns how many.  No user or maker of peers is left.
 */
u32 orack_round_close(struct onramp_net *on, struct orack_contact *acking, u32 most)
{
	struct orack_peer *peer, *next;
	u32 count = 0;

	/* The first worker starts the other. */
	cancel_work_sync(&on->peers.ask);
	cancel_delayed_work_sync(&on->peers.work);
	init_llist_head(&on->peers.urgent);
	/* No other adds or removes a peer: users of the lock need not wait for the whole list. */
	list_for_each_entry_safe(peer, next, &on->peers.list, list) {
		spin_lock_bh(&on->peers.lock);
		spin_lock(&peer->lock);
		if (peer->acking.acks && count < most)
			orack_peer_contact(peer, &acking[count++]);
		orack_peer_retire(on, peer);
		spin_unlock(&peer->lock);
		orack_peer_unlink(on, peer);
		spin_unlock_bh(&on->peers.lock);
		cond_resched();
	}
	return count;
}
