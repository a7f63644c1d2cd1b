// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that we ask for receipts: those that we send data to.  Model: On-Ramp (ONRAMP21).
 *
 * An announcement asks a host for receipts.  A worker sends it at once, since the qdisc that
 * notices the host cannot send, and its flows are not held before.  Another worker repeats it
 * before it expires.  A host that does not answer may have no On-Ramp.  After a few tries we
 * leave it alone until it speaks:
 *
 *      data --used--> asked --receipt--> acks --a minute of silence--> asked, seldom
 *                     |  ^                                             |
 *              3 tries|  |its announcement             its announcement|20 tries
 *                     v  |                                             v
 *                     silent                                        silent
 */
#include <linux/hash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "orack_acking.h"
#include "orack_peer.h"
#include "sch_onramp/onramp_net.h"

/* Announcements without an answer: after each of the first, the time to the next.  One may be
 * lost, and one may come before its connection does.
 */
#define ORACK_FIRST_TRIES	3
#define ORACK_FIRST_WAIT	(HZ / 4)

/* To a host that once sent receipts: ten minutes, in which the operator mends a path. */
#define ORACK_LATER_TRIES	20
#define ORACK_LATER_WAIT	(30 * HZ)

/* CLOCK_REALTIME less CLOCK_BOOTTIME when the module was loaded.  Announcements are by a clock
 * that is never set, and that is later after the host has booted.
 */
static u64 orack_peer_epoch_ns;

static u32 orack_acking_index(const struct in6_addr *remote)
{
	return hash_32((__force u32)(remote->s6_addr32[1] ^ remote->s6_addr32[2] ^
				     remote->s6_addr32[3]), ORACK_ACKING_LOG);
}

/* peer->lock is held.  A removed peer does not count. */
void orack_peer_set_acks(struct onramp_net *on, struct orack_peer *peer, bool acks)
{
	if (peer->acking.acks == acks || peer->removed)
		return;
	WRITE_ONCE(peer->acking.acks, acks);
	atomic_add(acks ? 1 : -1, &on->acking.peers[orack_acking_index(&peer->pair.remote)]);
}

static bool orack_acking_is_used(const struct orack_acking *a)
{
	unsigned long used = READ_ONCE(a->used);

	return used && time_before(jiffies, used + ORACK_REFRESH);
}

static unsigned long orack_acking_wait(const struct orack_acking *a)
{
	if (READ_ONCE(a->acks))
		return ORACK_REFRESH;
	return READ_ONCE(a->unanswered) < ORACK_FIRST_TRIES ? ORACK_FIRST_WAIT : ORACK_LATER_WAIT;
}

/* We asked it often enough. */
bool orack_acking_is_silent(const struct orack_acking *a)
{
	u32 tries = ORACK_FIRST_TRIES + (READ_ONCE(a->answered) ? ORACK_LATER_TRIES : 0);

	return !READ_ONCE(a->acks) && READ_ONCE(a->unanswered) >= tries;
}

/* Readers may look without the lock: the worker looks again before it sends. */
static bool orack_acking_is_due(const struct orack_acking *a)
{
	unsigned long announced = READ_ONCE(a->announced);

	if (!orack_acking_is_used(a) || orack_acking_is_silent(a))
		return false;
	return !announced || READ_ONCE(a->request_now) ||
	       time_after_eq(jiffies, announced + orack_acking_wait(a));
}

/* An announcement is due now.  peer->lock is held. */
static void orack_peer_hurry(struct onramp_net *on, struct orack_peer *peer)
{
	if (peer->urgent || peer->removed)
		return;
	peer->urgent = true;
	llist_add(&peer->ask, &on->peers.urgent);
	queue_work(system_highpri_wq, &on->peers.ask);
}

/* May we ask the host?  The operator's prefixes decide, if there are any.  Caller holds the RCU
 * read lock.
 */
static bool orack_peer_may_ask(const struct onramp_net *on, const struct in6_addr *remote)
{
	const struct orack_asked *asked = rcu_dereference(on->acking.asked);

	return !asked || orack_may_ask(&asked->of, remote->s6_addr);
}

/* Enters an unknown host if it is near.  So a user who connects to a far host makes no host send
 * datagrams there.
 */
static struct orack_peer *orack_peer_meet(struct onramp_net *on, const struct orack_pair *pair,
					  const struct sock *sk)
{
	struct orack_peer *peer = orack_peer_find(pair);

	if (peer || tcp_min_rtt(tcp_sk(sk)) > ORACK_NEAR_US)
		return peer;
	return orack_peer_make(on, pair, sk);
}

/* Data of the socket goes to the key's far end.  Called under the qdisc's lock, now and then. */
void orack_peer_used(struct onramp_net *on, const struct onramp_key *key, const struct sock *sk)
{
	struct orack_peer *peer = NULL;
	struct orack_acking *a;
	struct orack_pair pair;

	orack_pair_of(&pair, key);
	rcu_read_lock();
	if (orack_peer_may_ask(on, &pair.remote))
		peer = orack_peer_meet(on, &pair, sk);
	if (!peer)
		goto out;
	a = &peer->acking;
	orack_peer_set_oif(peer, READ_ONCE(sk->sk_bound_dev_if));
	/* The ports of a connection that lives: the peer looks it up. */
	if (READ_ONCE(a->sport) != key->sport || READ_ONCE(a->dport) != key->dport) {
		WRITE_ONCE(a->sport, key->sport);
		WRITE_ONCE(a->dport, key->dport);
	}
	/* Exact to a tick, so that senders do not fight for the cache line. */
	if (!orack_acking_is_used(a) || time_after(jiffies, READ_ONCE(a->used) + ORACK_TICK)) {
		WRITE_ONCE(a->used, jiffies | 1UL);
		if (orack_acking_is_due(a)) {
			spin_lock(&peer->lock);
			orack_peer_hurry(on, peer);
			spin_unlock(&peer->lock);
		}
	}
out:
	rcu_read_unlock();
}

/* The path to the key's far end may not be empty any more.  Under the qdisc's lock. */
void orack_peer_request_all(struct onramp_net *on, const struct onramp_key *key, u64 now_ns)
{
	struct orack_peer *peer;
	struct orack_pair pair;

	orack_pair_of(&pair, key);
	rcu_read_lock();
	peer = orack_peer_find(&pair);
	if (peer) {
		spin_lock(&peer->lock);
		if (orack_request_all(&peer->acking.request, now_ns)) {
			WRITE_ONCE(peer->acking.request_now, true);
			orack_peer_hurry(on, peer);
		}
		spin_unlock(&peer->lock);
	}
	rcu_read_unlock();
}

/* Does the key's far end send receipts? */
bool orack_peer_acks(const struct onramp_key *key)
{
	const struct orack_peer *peer;
	struct orack_pair pair;

	orack_pair_of(&pair, key);
	peer = orack_peer_find(&pair);
	return peer && READ_ONCE(peer->acking.acks);
}

/* Could the host that the socket sends to send receipts?  For each packet. */
bool orack_peer_may_ack(const struct onramp_net *on, const struct sock *sk)
{
	struct in6_addr remote;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		remote = sk->sk_v6_daddr;
	else
#endif
		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, &remote);
	return atomic_read(&on->acking.peers[orack_acking_index(&remote)]);
}

/* Valid receipts of the peer came; its lock is held. */
void orack_peer_receipted(struct onramp_net *on, struct orack_peer *peer)
{
	peer->acking.receipted = jiffies;
	WRITE_ONCE(peer->acking.unanswered, 0);
	WRITE_ONCE(peer->acking.answered, true);
	orack_peer_set_acks(on, peer, true);
}

/* peer->lock is held. */
void orack_peer_contact(const struct orack_peer *peer, struct orack_contact *to)
{
	to->pair = peer->pair;
	to->sport = READ_ONCE(peer->acking.sport);
	to->dport = READ_ONCE(peer->acking.dport);
	to->oif = READ_ONCE(peer->oif);
	to->sparse = orack_request_is_sparse(&peer->acking.request, ktime_get_ns());
}

/* 0 ms: we want no more.  False: not sent.  Bottom halves are off, under the RCU read lock. */
bool orack_announce(struct onramp_net *on, const struct orack_contact *to, u32 lifetime_ms)
{
	struct orack_header h = {
		.kind = ORACK_ANNOUNCEMENT, .count = 1, .sparse = to->sparse, .clock = lifetime_ms,
		.time_ns = ktime_get_boottime_ns() + orack_peer_epoch_ns,
	};
	struct orack_entry e = {
		.sport = ntohs(to->sport), .dport = ntohs(to->dport),
	};
	struct orack_packet p;

	orack_address(&to->pair, to->oif, &p);
	p.bytes = orack_encode(p.maced.data, &h, &e);
	if (orack_send(on, &p))
		return false;
	orack_count(on, ONRAMP_STAT_ANNOUNCED);
	return true;
}

/* The announcement did not leave: there is no port, or no route. */
void orack_peer_unsaid(struct orack_peer *peer)
{
	spin_lock(&peer->lock);
	if (peer->acking.unanswered)
		WRITE_ONCE(peer->acking.unanswered, peer->acking.unanswered - 1);
	spin_unlock(&peer->lock);
}

/* The reason for a peer's silence may be over: the port or a key changed.  RTNL. */
void orack_peer_ask_again(struct onramp_net *on)
{
	struct orack_peer *peer;

	/* Packets need not wait for the whole list. */
	rcu_read_lock();
	list_for_each_entry_rcu(peer, &on->peers.list, list) {
		spin_lock_bh(&peer->lock);
		WRITE_ONCE(peer->acking.unanswered, 0);
		spin_unlock_bh(&peer->lock);
	}
	rcu_read_unlock();
}

/* Ends receipts after so long without one.  peer->lock is held. */
void orack_peer_expire_acks(struct onramp_net *on, struct orack_peer *peer)
{
	struct orack_acking *a = &peer->acking;

	if (!a->acks || !time_after(jiffies, a->receipted + ORACK_IDLE))
		return;
	orack_peer_set_acks(on, peer, false);
	WRITE_ONCE(a->unanswered, min_t(u32, a->unanswered, ORACK_FIRST_TRIES));
}

/* True: an announcement to *to is due, and counts as made.  peer->lock is held. */
bool orack_peer_asks_now(struct orack_peer *peer, struct orack_contact *to)
{
	struct orack_acking *a = &peer->acking;

	if (!orack_acking_is_due(a))
		return false;
	WRITE_ONCE(a->announced, jiffies | 1UL);
	WRITE_ONCE(a->unanswered, a->unanswered + 1);
	WRITE_ONCE(a->request_now, false);
	orack_peer_contact(peer, to);
	return true;
}

/* We asked it, it never answered, and no data went there for so long. */
bool orack_peer_is_spare(const struct orack_peer *peer, unsigned long keep)
{
	const struct orack_acking *a = &peer->acking;
	unsigned long announced = READ_ONCE(a->announced);

	return !READ_ONCE(a->answered) && !READ_ONCE(peer->hearing.hears) && announced &&
	       time_after(jiffies, announced + ORACK_FIRST_WAIT) &&
	       time_after(jiffies, READ_ONCE(a->used) + keep);
}

/* -- who may be asked ------------------------------------------------------------------------ */

/* Sets the prefixes of hosts that we may ask.  Under RTNL. */
int orack_peer_set_asked(struct onramp_net *on, const struct orack_prefixes *of)
{
	struct orack_asked *before = rtnl_dereference(on->acking.asked), *asked = NULL;

	if (of->count) {
		asked = kmalloc(sizeof(*asked), GFP_KERNEL_ACCOUNT);
		if (!asked)
			return -ENOMEM;
		asked->of = *of;
	}
	rcu_assign_pointer(on->acking.asked, asked);
	if (before)
		kfree_rcu(before, rcu);
	return 0;
}

/* The namespace goes. */
void orack_peer_drop_asked(struct onramp_net *on)
{
	static const struct orack_prefixes everybody;

	orack_peer_set_asked(on, &everybody);
}

u32 orack_peer_count_acking(struct onramp_net *on)
{
	u32 count = 0, i;

	for (i = 0; i < ORACK_ACKING; i++)
		count += atomic_read(&on->acking.peers[i]);
	return count;
}

void orack_acking_init(void)
{
	orack_peer_epoch_ns = ktime_get_real_ns() - ktime_get_boottime_ns();
}
