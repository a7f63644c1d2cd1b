// SPDX-License-Identifier: GPL-2.0
/*
 * The hosts on the other side.
 *
 * One we send data to is told that we want receipts: by a worker, as the qdisc that
 * notices it cannot send, and at once, as its flows are not held before.  Another worker
 * tells it so again before that expires.  One that does not
 * answer may have no On-Ramp, and is left alone after the first few until it speaks:
 *
 *      data --note--> asked --receipt--> acks --a minute of silence--> asked, seldom
 *                     |  ^                                             |
 *              3 tries|  |its announcement             its announcement|20 tries
 *                     v  |                                             v
 *                     silent                                        silent
 *
 * One that announced itself to us gets receipts until that expires.  It is entered only
 * for a connection that we have with it, and there is a bound on both kinds.
 */
#include <linux/hash.h>
#include <linux/rhashtable.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/tcp.h>

#include "compat/account.h"
#include "sch_onramp/onramp_quota.h"
#include "orack.h"

/* Of a namespace: more than any rack has hosts; 15 MB. */
#define ORACK_PEERS_MAX		16384
/* Of these, entered by what came from the network. */
#define ORACK_HEARING_MAX	8192
/* Of all namespaces but the first: one alone may still have ORACK_PEERS_MAX. */
#define ORACK_PEERS_OTHERS	(2 * ORACK_PEERS_MAX)

#define ORACK_REFRESH		(3 * HZ)

/* Unanswered announcements: after each of the first, the time to the next.  One may be
 * lost, and one come before its connection does.
 */
#define ORACK_FIRST_TRIES	3
#define ORACK_FIRST_WAIT	(HZ / 4)

/* To a host that once sent receipts: ten minutes, in which a path is mended. */
#define ORACK_LATER_TRIES	20
#define ORACK_LATER_WAIT	(30 * HZ)

/* Announcements of a peer that count: one each 100 us is the most that it has use for
 * (ORACK_AGAIN_NS).  What does not count takes none of them away.
 */
#define ORACK_CALLS_NS		(10 * NSEC_PER_MSEC)
#define ORACK_CALLS_MAX		120

/* Of all that there may be, so many are forgotten at once where there is no place. */
#define ORACK_PEERS_ROOM	(ORACK_PEERS_MAX / 16)

/* How often the worker looks at all, and how exact peer->used has to be. */
#define ORACK_TICK		(HZ / 4)

/* Neither data nor receipts for so long: forgotten. */
#define ORACK_IDLE		(60 * HZ)

/* That a host did not answer is kept for longer, while less than half of all is in use. */
#define ORACK_SILENT		(3600 * HZ)

/* CLOCK_REALTIME less CLOCK_BOOTTIME as the module was loaded: announcements are by a clock that
 * nobody sets, and that is later after the host has booted.
 */
static u64 orack_peer_epoch_ns;

static struct kmem_cache *orack_peer_cache;
static struct rhashtable orack_peers;
static atomic_t orack_peer_others = ATOMIC_INIT(0);	/* of all namespaces but the first */

static const struct rhashtable_params orack_peer_params = {
	.key_len = sizeof(struct orack_pair),
	.key_offset = offsetof(struct orack_peer, pair),
	.head_offset = offsetof(struct orack_peer, node),
	.automatic_shrinking = true,
};

/* Caller holds the RCU read lock. */
struct orack_peer *orack_peer_find(const struct orack_pair *pair)
{
	return rhashtable_lookup(&orack_peers, pair, orack_peer_params);
}

void orack_pair_of(struct orack_pair *pair, const struct onramp_key *key)
{
	pair->net = key->net;
	pair->local = key->saddr;
	pair->remote = key->daddr;
}

static u32 orack_acking(const struct in6_addr *remote)
{
	return hash_32((__force u32)(remote->s6_addr32[1] ^ remote->s6_addr32[2] ^
				     remote->s6_addr32[3]), ORACK_ACKING_LOG);
}

/* -- life ------------------------------------------------------------------------------ */

static void orack_peer_free(struct rcu_head *head)
{
	kmem_cache_free(orack_peer_cache, container_of(head, struct orack_peer, rcu));
}

/* It is in the table, or is not any more.  on->lock is held. */
static void orack_peer_account(struct onramp_net *on, int more)
{
	on->peer_count += more;
	if (!net_eq(on->net, &init_net))
		atomic_add(more, &orack_peer_others);
}

static bool orack_peer_has_quota(const struct onramp_net *on)
{
	bool first = net_eq(on->net, &init_net);

	return onramp_quota_has(first, on->peer_count, atomic_read(&orack_peer_others),
				first ? ORACK_PEERS_MAX : ORACK_PEERS_OTHERS);
}

/* @sk: of a connection with the pair, that the memory is charged to.  NULL: too many, no memory,
 * or another was faster, who is found next time.
 */
static struct orack_peer *orack_peer_make(struct onramp_net *on, const struct orack_pair *pair,
					  const struct sock *sk)
{
	struct orack_peer *peer = NULL;

	spin_lock_bh(&on->lock);
	if (!orack_peer_has_quota(on)) {
		if (!on->crowded)
			mod_delayed_work(system_highpri_wq, &on->work, 0);
		WRITE_ONCE(on->crowded, true);
		goto out;
	}
	peer = tp_sk_cache_alloc(orack_peer_cache, sk);
	if (!peer)
		goto out;
	memset(peer, 0, sizeof(*peer));
	peer->pair = *pair;
	spin_lock_init(&peer->lock);
	onramp_clock_init(&peer->clock);
	onramp_absolute_init(&peer->absolute);
	onramp_floor_init(&peer->rtt);
	orack_wish_all(&peer->wish, ktime_get_ns());
	if (rhashtable_insert_fast(&orack_peers, &peer->node, orack_peer_params)) {
		kmem_cache_free(orack_peer_cache, peer);
		peer = NULL;
		goto out;
	}
	list_add_tail_rcu(&peer->list, &on->peers);
	orack_peer_account(on, 1);
out:
	spin_unlock_bh(&on->lock);
	return peer;
}

/* peer->lock is held for these.  A peer that was taken out counts no more. */
static void orack_peer_set_acks(struct onramp_net *on, struct orack_peer *peer, bool acks)
{
	if (peer->acks == acks || peer->removed)
		return;
	WRITE_ONCE(peer->acks, acks);
	atomic_add(acks ? 1 : -1, &on->acking[orack_acking(&peer->pair.remote)]);
}

/* Who wants all again has them from the next data on: the acker looks at its terms. */
static void orack_peer_set_few(struct onramp_net *on, struct orack_peer *peer, bool few)
{
	if (peer->few == few || peer->removed)
		return;
	WRITE_ONCE(peer->few, few);
	atomic_add(few ? 1 : -1, &on->few);
	if (!few)
		atomic_fetch_inc_release(&on->recalls);
}

static void orack_peer_set_hears(struct onramp_net *on, struct orack_peer *peer, bool hears)
{
	if (peer->hears == hears || peer->removed)
		return;
	WRITE_ONCE(peer->hears, hears);
	atomic_add(hears ? 1 : -1, &on->hearing);
	orack_nic_hear(hears);
	orack_peer_set_few(on, peer, false);
}

/* on->lock is held for these two, and peer->lock for the first. */
static void orack_peer_retire(struct onramp_net *on, struct orack_peer *peer)
{
	orack_peer_set_acks(on, peer, false);
	orack_peer_set_hears(on, peer, false);
	peer->removed = true;
}

static void orack_peer_unlink(struct onramp_net *on, struct orack_peer *peer)
{
	rhashtable_remove_fast(&orack_peers, &peer->node, orack_peer_params);
	list_del_rcu(&peer->list);
	orack_peer_account(on, -1);
	call_rcu(&peer->rcu, orack_peer_free);
}

/* -- we send data to it ------------------------------------------------------------------ */

static bool orack_peer_is_used(const struct orack_peer *peer)
{
	unsigned long used = READ_ONCE(peer->used);

	return used && time_before(jiffies, used + ORACK_REFRESH);
}

static unsigned long orack_peer_wait(const struct orack_peer *peer)
{
	if (READ_ONCE(peer->acks))
		return ORACK_REFRESH;
	return READ_ONCE(peer->unanswered) < ORACK_FIRST_TRIES ? ORACK_FIRST_WAIT : ORACK_LATER_WAIT;
}

/* It was asked often enough. */
static bool orack_peer_is_silent(const struct orack_peer *peer)
{
	u32 tries = ORACK_FIRST_TRIES + (READ_ONCE(peer->answered) ? ORACK_LATER_TRIES : 0);

	return !READ_ONCE(peer->acks) && READ_ONCE(peer->unanswered) >= tries;
}

/* Looked at without the lock, too: it is looked at again before anything is sent. */
static bool orack_peer_is_due(const struct orack_peer *peer)
{
	unsigned long announced = READ_ONCE(peer->announced);

	if (!orack_peer_is_used(peer) || orack_peer_is_silent(peer))
		return false;
	return !announced || READ_ONCE(peer->recall) ||
	       time_after_eq(jiffies, announced + orack_peer_wait(peer));
}

/* An announcement is due now.  peer->lock is held. */
static void orack_peer_hurry(struct onramp_net *on, struct orack_peer *peer)
{
	if (peer->urgent || peer->removed)
		return;
	peer->urgent = true;
	llist_add(&peer->ask, &on->urgent);
	queue_work(system_highpri_wq, &on->ask);
}

/* May hosts in the Internet be asked?  Not if the operator says who may.  Caller holds the RCU
 * read lock.
 */
static bool orack_peer_may_ask(const struct onramp_net *on, const struct in6_addr *remote)
{
	const struct orack_asked *asked = rcu_dereference(on->asked);

	return !asked || orack_may_ask(&asked->of, remote->s6_addr);
}

/* One that is not known is entered if it is near: whoever makes a connection to somewhere far
 * off has nobody send datagrams there.
 */
static struct orack_peer *orack_peer_meet(struct onramp_net *on, const struct orack_pair *pair,
					  const struct sock *sk)
{
	struct orack_peer *peer = orack_peer_find(pair);

	if (peer || tcp_min_rtt(tcp_sk(sk)) > ORACK_NEAR_US)
		return peer;
	return orack_peer_make(on, pair, sk);
}

/* A link-local address is of a device; the socket knows of which. */
static void orack_peer_set_oif(struct orack_peer *peer, int oif)
{
	if (!(ipv6_addr_type(&peer->pair.remote) & IPV6_ADDR_LINKLOCAL))
		oif = 0;
	if (READ_ONCE(peer->oif) != oif)
		WRITE_ONCE(peer->oif, oif);
}

/* Data of the socket goes to the key's far end.  Called under the qdisc's lock, now and then. */
void orack_peer_note(struct onramp_net *on, const struct onramp_key *key, const struct sock *sk)
{
	struct orack_peer *peer = NULL;
	struct orack_pair pair;

	orack_pair_of(&pair, key);
	rcu_read_lock();
	if (orack_peer_may_ask(on, &pair.remote))
		peer = orack_peer_meet(on, &pair, sk);
	if (!peer)
		goto out;
	orack_peer_set_oif(peer, READ_ONCE(sk->sk_bound_dev_if));
	/* Of a connection that lives: the peer looks for it. */
	if (READ_ONCE(peer->sport) != key->sport || READ_ONCE(peer->dport) != key->dport) {
		WRITE_ONCE(peer->sport, key->sport);
		WRITE_ONCE(peer->dport, key->dport);
	}
	/* Exact to a tick, so that senders do not fight for the line. */
	if (!orack_peer_is_used(peer) || time_after(jiffies, READ_ONCE(peer->used) + ORACK_TICK)) {
		WRITE_ONCE(peer->used, jiffies | 1UL);
		if (orack_peer_is_due(peer)) {
			spin_lock(&peer->lock);
			orack_peer_hurry(on, peer);
			spin_unlock(&peer->lock);
		}
	}
out:
	rcu_read_unlock();
}

/* The path to the key's far end may be empty no more.  Under the qdisc's lock. */
void orack_peer_recall(struct onramp_net *on, const struct onramp_key *key, u64 now_ns)
{
	struct orack_peer *peer;
	struct orack_pair pair;

	orack_pair_of(&pair, key);
	rcu_read_lock();
	peer = orack_peer_find(&pair);
	if (peer) {
		spin_lock(&peer->lock);
		if (orack_wish_all(&peer->wish, now_ns)) {
			WRITE_ONCE(peer->recall, true);
			orack_peer_hurry(on, peer);
		}
		spin_unlock(&peer->lock);
	}
	rcu_read_unlock();
}

/* Are there receipts of the key's far end? */
bool orack_peer_acks(const struct onramp_key *key)
{
	const struct orack_peer *peer;
	struct orack_pair pair;

	orack_pair_of(&pair, key);
	peer = orack_peer_find(&pair);
	return peer && READ_ONCE(peer->acks);
}

/* Could there be receipts of the host that the socket sends to?  For each packet. */
bool orack_peer_may_ack(const struct onramp_net *on, const struct sock *sk)
{
	struct in6_addr remote;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		remote = sk->sk_v6_daddr;
	else
#endif
		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, &remote);
	return atomic_read(&on->acking[orack_acking(&remote)]);
}

/* Receipts came that are the peer's; its lock is held. */
void orack_peer_heard(struct onramp_net *on, struct orack_peer *peer)
{
	peer->heard = jiffies;
	WRITE_ONCE(peer->unanswered, 0);
	WRITE_ONCE(peer->answered, true);
	orack_peer_set_acks(on, peer, true);
}

/* -- it sends data to us ------------------------------------------------------------------ */

static bool orack_peer_hears_us(const struct orack_peer *peer)
{
	return READ_ONCE(peer->hears) && !time_after(jiffies, READ_ONCE(peer->hears_until));
}

/* Did the pair's far end announce itself?  Caller holds the RCU read lock. */
bool orack_peer_hears(const struct orack_pair *pair)
{
	const struct orack_peer *peer = orack_peer_find(pair);

	return peer && orack_peer_hears_us(peer);
}

static bool orack_peer_spares(struct orack_peer *peer, u32 bytes, u64 now_ns)
{
	struct orack_thin thin;
	bool spares;

	if (bytes >= ORACK_THIN_BYTES)
		return false;
	/* A race with another processor costs a receipt too many or too few. */
	thin.sent = READ_ONCE(peer->thin.sent);
	thin.last = READ_ONCE(peer->thin.last);
	thin.bytes = READ_ONCE(peer->thin.bytes);
	spares = orack_thin_spares(&thin, bytes, now_ns);
	WRITE_ONCE(peer->thin.sent, thin.sent);
	WRITE_ONCE(peer->thin.last, thin.last);
	WRITE_ONCE(peer->thin.bytes, thin.bytes);
	return spares;
}

/* Whose times its receipts carry, after what was @seen. */
static bool orack_peer_takes_nic(struct orack_peer *peer, const struct orack_seen *seen, u64 now_ns)
{
	struct orack_source source, before;

	if (!static_branch_unlikely(&orack_nic_attached) && !READ_ONCE(peer->source.nic))
		return false;
	/* A race with another processor miscounts some data. */
	before.begun = READ_ONCE(peer->source.begun);
	before.nic = READ_ONCE(peer->source.nic);
	before.run = READ_ONCE(peer->source.run);
	before.debt = READ_ONCE(peer->source.debt);
	before.ended = READ_ONCE(peer->source.ended);
	before.hold = READ_ONCE(peer->source.hold);
	source = before;
	orack_source_next(&source, seen, now_ns);
	/* Where nothing changes nobody's line is taken away. */
	if (source.run != before.run || source.debt != before.debt) {
		WRITE_ONCE(peer->source.run, source.run);
		WRITE_ONCE(peer->source.debt, source.debt);
	}
	if (source.nic != before.nic || source.begun != before.begun) {
		WRITE_ONCE(peer->source.ended, source.ended);
		WRITE_ONCE(peer->source.hold, source.hold);
		WRITE_ONCE(peer->source.nic, source.nic);
		WRITE_ONCE(peer->source.begun, source.begun);
	}
	return source.nic;
}

/* What the pair's far end wants for @bytes of its data that begin a batch, and on which terms.
 * Caller holds the RCU read lock.
 */
enum orack_wants orack_peer_wants(const struct orack_pair *pair, u32 bytes, u64 now_ns,
				  const struct orack_seen *seen, struct orack_terms *terms)
{
	struct orack_peer *peer = orack_peer_find(pair);

	if (!peer || !orack_peer_hears_us(peer))
		return ORACK_WANTS_NONE;
	terms->oif = READ_ONCE(peer->oif);
	terms->few = READ_ONCE(peer->few);
	terms->nic = orack_peer_takes_nic(peer, seen, now_ns);
	return orack_peer_spares(peer, bytes, now_ns) ? ORACK_WANTS_MORE : ORACK_WANTS_RECEIPT;
}

/* Does the announcement count?  Else why it does not.  What is signed was verified.  peer->lock
 * is held.
 */
static enum onramp_stat orack_peer_judge(const struct orack_peer *peer,
					 const struct orack_header *h, bool connected, u64 now_ns)
{
	u64 since_ns = now_ns - peer->announced_at_ns;
	struct orack_call call = {
		.connected = connected,
		.hears = orack_peer_hears_us(peer),
		.fewer = h->few && !peer->few,
		.lifetime_ms = h->clock,
	};

	if (call.hears) {
		if (orack_turn_is_late(h->time_ns, peer->announced_ns, since_ns, h->key))
			return ONRAMP_STAT_REFUSED_REPLAY;
		call.left_ms = jiffies_to_msecs(peer->hears_until - jiffies);
		call.jumps = !h->key && orack_turn(h->time_ns, peer->announced_ns,
						   since_ns) == ORACK_TURN_JUMP;
	}
	return orack_call_counts(&call) ? ONRAMP_STAT_ANNOUNCEMENTS_TAKEN :
					  ONRAMP_STAT_REFUSED_FLOW;
}

/* One more counts?  peer->lock is held. */
static bool orack_peer_calls(struct orack_peer *peer, u64 now_ns)
{
	if (now_ns - peer->calls_ns >= ORACK_CALLS_NS) {
		peer->calls_ns = now_ns;
		peer->calls = 0;
	}
	if (peer->calls >= ORACK_CALLS_MAX)
		return false;
	peer->calls++;
	return true;
}

/* What the host of a peer asks for counts.  peer->lock is held.  Returns what to count. */
static enum onramp_stat orack_peer_obey(struct onramp_net *on, struct orack_peer *peer,
					const struct orack_header *h, int oif, u64 now_ns)
{
	if (!orack_peer_calls(peer, now_ns))
		return ONRAMP_STAT_REFUSED_RATE;
	peer->announced_ns = h->time_ns;
	peer->announced_at_ns = now_ns;
	orack_peer_set_oif(peer, oif);
	WRITE_ONCE(peer->hears_until, jiffies + msecs_to_jiffies(h->clock));
	if (!peer->hears)
		orack_clock_say_again(peer);
	orack_peer_set_hears(on, peer, h->clock);
	orack_peer_set_few(on, peer, h->clock && h->few);
	/* It has On-Ramp: if it was left alone, it is asked again.  Not if that is over. */
	if (h->clock && orack_peer_is_silent(peer))
		WRITE_ONCE(peer->unanswered, 0);
	queue_delayed_work(system_highpri_wq, &on->work, ORACK_TICK);
	return ONRAMP_STAT_ANNOUNCEMENTS_TAKEN;
}

/* Takes an announcement; @sk: its connection, NULL: there is none.  Returns what to count.  Without
 * a connection and a MAC it may be anybody's: receipts go on for longer, and nothing else changes.
 */
enum onramp_stat orack_peer_announced(struct onramp_net *on, const struct orack_pair *pair,
				      const struct orack_header *h, const struct sock *sk, int oif)
{
	struct orack_peer *peer = orack_peer_find(pair);
	u64 now_ns = ktime_get_ns();
	enum onramp_stat stat;

	if (!peer && !h->clock)
		return ONRAMP_STAT_REFUSED_PEER;
	/* Processors that come here at the same time have one more each. */
	if (!(peer && READ_ONCE(peer->hears)) && atomic_read(&on->hearing) >= ORACK_HEARING_MAX)
		return ONRAMP_STAT_REFUSED_FULL;
	if (!peer)
		peer = orack_peer_make(on, pair, sk);
	if (!peer)
		return ONRAMP_STAT_REFUSED_FULL;
	spin_lock(&peer->lock);
	stat = orack_peer_judge(peer, h, sk, now_ns);
	if (stat == ONRAMP_STAT_ANNOUNCEMENTS_TAKEN) {
		if (sk || h->key)
			stat = orack_peer_obey(on, peer, h, oif, now_ns);
		else
			WRITE_ONCE(peer->hears_until, jiffies + msecs_to_jiffies(h->clock));
	}
	spin_unlock(&peer->lock);
	return stat;
}

/* What our clock is worth, if it was not said yet.  Bottom halves are off, under the RCU read
 * lock.
 */
static void orack_peer_say_clock(struct onramp_net *on, struct orack_peer *peer)
{
	bool due;

	spin_lock(&peer->lock);
	due = peer->hears && orack_clock_is_due(on, peer);
	spin_unlock(&peer->lock);
	if (due)
		orack_clock_tell(on, peer);
}

/* Its announcement was taken.  It matters from the first receipt on. */
void orack_peer_tell_clock(struct onramp_net *on, const struct orack_pair *pair)
{
	struct orack_peer *peer = orack_peer_find(pair);

	if (peer)
		orack_peer_say_clock(on, peer);
}

/* -- the worker ---------------------------------------------------------------------------- */

/* peer->lock is held. */
void orack_peer_contact(const struct orack_peer *peer, struct orack_contact *to)
{
	to->pair = peer->pair;
	to->sport = READ_ONCE(peer->sport);
	to->dport = READ_ONCE(peer->dport);
	to->oif = READ_ONCE(peer->oif);
	to->few = orack_wish_is_few(&peer->wish, ktime_get_ns());
}

/* 0 ms: it is over.  False: not sent.  Bottom halves are off, under the RCU read lock. */
bool orack_announce(struct onramp_net *on, const struct orack_contact *to, u32 lifetime_ms)
{
	struct orack_header h = {
		.kind = ORACK_ANNOUNCEMENT, .count = 1, .few = to->few, .clock = lifetime_ms,
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

/* It was not asked after all: there is no port, or no route. */
static void orack_peer_unsaid(struct orack_peer *peer)
{
	spin_lock(&peer->lock);
	if (peer->unanswered)
		WRITE_ONCE(peer->unanswered, peer->unanswered - 1);
	spin_unlock(&peer->lock);
}

/* Whatever kept peers from answering may be over: the port or a key is another one.  RTNL. */
void orack_peer_ask_again(struct onramp_net *on)
{
	struct orack_peer *peer;

	/* Packets need not wait until we are through. */
	rcu_read_lock();
	list_for_each_entry_rcu(peer, &on->peers, list) {
		spin_lock_bh(&peer->lock);
		WRITE_ONCE(peer->unanswered, 0);
		spin_unlock_bh(&peer->lock);
	}
	rcu_read_unlock();
}

/* True: an announcement is due, to *to, and counted as made. */
static bool orack_peer_tick(struct onramp_net *on, struct orack_peer *peer,
			    struct orack_contact *to)
{
	bool due;

	spin_lock(&peer->lock);
	if (peer->hears && time_after(jiffies, peer->hears_until))
		orack_peer_set_hears(on, peer, false);
	if (peer->acks && time_after(jiffies, peer->heard + ORACK_IDLE)) {
		orack_peer_set_acks(on, peer, false);
		WRITE_ONCE(peer->unanswered, min_t(u32, peer->unanswered, ORACK_FIRST_TRIES));
	}
	due = orack_peer_is_due(peer);
	if (due) {
		WRITE_ONCE(peer->announced, jiffies | 1UL);
		WRITE_ONCE(peer->unanswered, peer->unanswered + 1);
		WRITE_ONCE(peer->recall, false);
		orack_peer_contact(peer, to);
	}
	spin_unlock(&peer->lock);
	return due;
}

static bool orack_peer_is_gone(const struct onramp_net *on, const struct orack_peer *peer)
{
	unsigned long keep = ORACK_IDLE;

	if (orack_peer_is_silent(peer) && READ_ONCE(on->peer_count) < ORACK_PEERS_MAX / 2)
		keep = ORACK_SILENT;
	return !READ_ONCE(peer->hears) && !READ_ONCE(peer->acks) &&
	       (!READ_ONCE(peer->used) || time_after(jiffies, READ_ONCE(peer->used) + keep));
}

/* True: nobody needs it any more. */
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
	orack_peer_say_clock(on, peer);
	rcu_read_unlock();
	local_bh_enable();
	return gone;
}

static void orack_peer_forget(struct onramp_net *on, struct orack_peer *peer)
{
	bool urgent;

	if (!peer)
		return;
	spin_lock_bh(&on->lock);
	spin_lock(&peer->lock);
	/* Data went to it again since it was looked at. */
	urgent = peer->urgent;
	if (!urgent)
		orack_peer_retire(on, peer);
	spin_unlock(&peer->lock);
	if (!urgent)
		orack_peer_unlink(on, peer);
	spin_unlock_bh(&on->lock);
}

/* Those that cannot wait.  They are not taken out before. */
static void orack_peer_ask(struct work_struct *work)
{
	struct onramp_net *on = container_of(work, struct onramp_net, ask);
	struct orack_peer *peer, *next;

	llist_for_each_entry_safe(peer, next, llist_del_all(&on->urgent), ask) {
		orack_peer_visit(on, peer);
		spin_lock_bh(&peer->lock);
		peer->urgent = false;
		spin_unlock_bh(&peer->lock);
		cond_resched();
	}
	queue_delayed_work(system_highpri_wq, &on->work, ORACK_TICK);
}

/* It was asked, nothing came of it, and no data went there for so long. */
static bool orack_peer_is_spare(const struct orack_peer *peer, unsigned long keep)
{
	unsigned long announced = READ_ONCE(peer->announced);

	return !READ_ONCE(peer->answered) && !READ_ONCE(peer->hears) && announced &&
	       time_after(jiffies, announced + ORACK_FIRST_WAIT) &&
	       time_after(jiffies, READ_ONCE(peer->used) + keep);
}

/* Those that never answered go, the oldest first; up to @room of them.  Returns how many places
 * are still wanted.
 */
static u32 orack_peer_drop_spare(struct onramp_net *on, unsigned long keep, u32 room)
{
	struct orack_peer *peer, *gone = NULL;

	list_for_each_entry_rcu(peer, &on->peers, list, true) {
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

/* One had no place.  Whoever sends to many hosts that have no On-Ramp keeps nobody out. */
static void orack_peer_make_room(struct onramp_net *on)
{
	u32 room = orack_peer_drop_spare(on, ORACK_REFRESH, ORACK_PEERS_ROOM);

	if (room)
		room = orack_peer_drop_spare(on, 0, room);
	/* If there was none to be had it is tried again by the next tick, and not before. */
	WRITE_ONCE(on->crowded, room == ORACK_PEERS_ROOM);
}

/* Nobody but us takes peers out while we run: the list holds without a lock, and packets
 * do not wait until we are through.  One is forgotten when the next is known.
 */
static void orack_peer_work(struct work_struct *work)
{
	struct onramp_net *on = container_of(to_delayed_work(work), struct onramp_net, work);
	struct orack_peer *peer, *gone = NULL;

	if (READ_ONCE(on->crowded))
		orack_peer_make_room(on);
	list_for_each_entry_rcu(peer, &on->peers, list, true) {
		orack_peer_forget(on, gone);
		gone = orack_peer_visit(on, peer) ? peer : NULL;
		cond_resched();
	}
	orack_peer_forget(on, gone);
	if (READ_ONCE(on->peer_count))
		queue_delayed_work(system_highpri_wq, &on->work, ORACK_TICK);
}

/* -- a namespace ------------------------------------------------------------------------------ */

/* Who may be asked from now on.  Under RTNL. */
int orack_peer_set_asked(struct onramp_net *on, const struct orack_prefixes *of)
{
	struct orack_asked *before = rtnl_dereference(on->asked), *asked = NULL;

	if (of->count) {
		asked = kmalloc(sizeof(*asked), GFP_KERNEL_ACCOUNT);
		if (!asked)
			return -ENOMEM;
		asked->of = *of;
	}
	rcu_assign_pointer(on->asked, asked);
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

void orack_peer_open(struct onramp_net *on)
{
	spin_lock_init(&on->lock);
	INIT_LIST_HEAD(&on->peers);
	init_llist_head(&on->urgent);
	INIT_WORK(&on->ask, orack_peer_ask);
	INIT_DELAYED_WORK(&on->work, orack_peer_work);
}

u32 orack_peer_count_acking(struct onramp_net *on)
{
	u32 count = 0, i;

	for (i = 0; i < ORACK_ACKING; i++)
		count += atomic_read(&on->acking[i]);
	return count;
}

/* The last qdisc went, and all are forgotten; @acking gets those who send us receipts, @most
 * at most.  Returns how many.  Nobody notes or makes any more.
 */
u32 orack_peer_close(struct onramp_net *on, struct orack_contact *acking, u32 most)
{
	struct orack_peer *peer, *next;
	u32 count = 0;

	/* It starts the other. */
	cancel_work_sync(&on->ask);
	cancel_delayed_work_sync(&on->work);
	init_llist_head(&on->urgent);
	/* Nobody else adds one, nor takes one out: others need not wait for all of them. */
	list_for_each_entry_safe(peer, next, &on->peers, list) {
		spin_lock_bh(&on->lock);
		spin_lock(&peer->lock);
		if (peer->acks && count < most)
			orack_peer_contact(peer, &acking[count++]);
		orack_peer_retire(on, peer);
		spin_unlock(&peer->lock);
		orack_peer_unlink(on, peer);
		spin_unlock_bh(&on->lock);
		cond_resched();
	}
	return count;
}

int orack_peer_init(void)
{
	int err = -ENOMEM;

	orack_peer_epoch_ns = ktime_get_real_ns() - ktime_get_boottime_ns();
	orack_peer_cache = kmem_cache_create("onramp_peer", sizeof(struct orack_peer), 0,
					     SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	if (!orack_peer_cache)
		return err;
	err = rhashtable_init(&orack_peers, &orack_peer_params);
	if (err)
		kmem_cache_destroy(orack_peer_cache);
	return err;
}

void orack_peer_exit(void)
{
	rcu_barrier();
	rhashtable_destroy(&orack_peers);
	kmem_cache_destroy(orack_peer_cache);
}
