// SPDX-License-Identifier: GPL-2.0
/*
 * How the flows of timely_pi to one receiver agree on the price: this host's reports, and its
 * answers to those of others.  Rules: orack_price.h.  Model: ECNDELAY16, section 5.2.
 *
 *   tcp_timely --> orack_price_gap() --> report --> orack_price_report() at the receiver
 *                                                            |
 *                  orack_price_answer() <------- answer ------+
 *
 * Only hosts that exchange receipts exchange prices.  Flows by timestamps ask for sparse ones.
 */
#include <net/ipv6.h>
#include <net/inet_hashtables.h>
#include <net/sock.h>

#include "orack_peer.h"
#include "orack_price_net.h"
#include "orack_turn.h"
#include "sch_onramp/onramp_ctl.h"
#include "sch_onramp/onramp_net.h"
#include "sch_onramp/onramp_packet.h"
#include "sch_onramp/onramp_sched.h"

/* More often than a host has reports to make. */
#define ORACK_PRICE_APART_NS	(ORACK_PRICE_WINDOW_NS / 2)

static void orack_price_send(struct onramp_net *on, const struct orack_peer *peer, u8 kind,
			     u64 time_ns, const struct orack_price_entry *entry)
{
	struct orack_header h = { .kind = kind, .count = 1, .time_ns = time_ns };
	struct orack_packet p;

	orack_peer_address(peer, &p);
	p.bytes = orack_encode_price(p.maced.data, &h, entry);
	if (!orack_send(on, &p))
		orack_count(on, ONRAMP_STAT_PRICES_SENT);
}

/* -- the sender --------------------------------------------------------------------------- */

/* May the flow's qdisc ask for receipts?  A flow by timestamps needs none, but who sends receipts
 * exchanges prices.  Bottom halves are off.
 */
static bool orack_price_may_ask(const struct onramp_key *key)
{
	struct onramp_ctl *ctl = onramp_ctl_lookup(key);
	bool may;

	if (!ctl)
		return false;
	spin_lock(&ctl->lock);
	may = ctl->sched && ctl->sched->config.feedback != ONRAMP_FEEDBACK_TCPTS;
	spin_unlock(&ctl->lock);
	return may;
}

/* NULL: the receiver sends no receipts.  Bottom halves are off. */
static struct orack_peer *orack_price_peer(struct onramp_net *on, const struct onramp_key *key,
					   const struct sock *sk)
{
	struct orack_peer *peer;
	struct orack_pair pair;

	if (orack_price_may_ask(key))
		orack_peer_used(on, key, sk);
	orack_pair_of(&pair, key);
	peer = orack_peer_find(&pair);
	return peer && READ_ONCE(peer->acking.acks) ? peer : NULL;
}

static s32 orack_price_gap_bh(struct onramp_net *on, const struct sock *sk, u32 price_q)
{
	struct orack_price_entry report;
	struct orack_peer *peer;
	struct onramp_key key;
	u64 now_ns;
	s32 gap_q;
	bool due;

	onramp_packet_key(sk, &key);
	peer = orack_price_peer(on, &key, sk);
	if (!peer)
		return 0;
	now_ns = ktime_get_ns();
	spin_lock(&peer->lock);
	due = orack_price_said(&peer->acking.price, price_q, now_ns, &report);
	gap_q = orack_price_gap_q(&peer->acking.price, price_q, now_ns);
	spin_unlock(&peer->lock);
	if (due) {
		report.told_q = (u32)ntohs(key.sport) << 16 | ntohs(key.dport);
		orack_price_send(on, peer, ORACK_PRICE, now_ns, &report);
	}
	return gap_q;
}

/* An onramp_price_fn (include/onramp_price.h): under the RCU read lock, maybe with the socket's. */
s32 orack_price_gap(const struct sock *sk, u32 price_q)
{
	s32 gap_q;

	local_bh_disable();
	gap_q = orack_price_gap_bh(onramp_net(sock_net(sk)), sk, price_q);
	local_bh_enable();
	return gap_q;
}

/* The receiver's answer came.  In a softirq, under the RCU read lock. */
enum onramp_stat orack_price_answer(const struct orack_pair *pair, const struct orack_datagram *d)
{
	struct orack_peer *peer = orack_peer_find(pair);
	struct orack_price_entry answer;
	bool good;

	if (!peer || !READ_ONCE(peer->acking.acks))
		return ONRAMP_STAT_REFUSED_PEER;
	orack_read_price(d, &answer);
	spin_lock(&peer->lock);
	good = orack_price_answered(&peer->acking.price, d->h.time_ns, &answer, ktime_get_ns());
	spin_unlock(&peer->lock);
	return good ? ONRAMP_STAT_PRICES_ANSWERED : ONRAMP_STAT_REFUSED_REPLAY;
}

/* -- the receiver ------------------------------------------------------------------------- */

/* Does the report count; if not, why?  A MAC was verified before.  peer->lock is held. */
static enum onramp_stat orack_price_judge(struct orack_price_reports *r,
					  const struct orack_header *h, u64 now_ns)
{
	u64 since_ns = now_ns - r->came_ns;

	if (r->came_ns && orack_turn_is_late(h->time_ns, r->made_ns, since_ns, h->key))
		return ONRAMP_STAT_REFUSED_REPLAY;
	if (since_ns < ORACK_PRICE_APART_NS)
		return ONRAMP_STAT_REFUSED_RATE;
	r->made_ns = h->time_ns;
	r->came_ns = now_ns;
	return ONRAMP_STAT_PRICES_TAKEN;
}

/* The address's place, or one that nobody used lately; NULL: there is none.  The lock is held. */
static struct orack_price_local *orack_price_local_find(struct orack_price_net *prices,
							const struct in6_addr *addr, u64 now_ns)
{
	struct orack_price_local *l, *spare = NULL;

	for (l = prices->local; l < prices->local + ORACK_PRICE_LOCALS; l++) {
		if (ipv6_addr_equal(&l->addr, addr))
			return l;
		if (now_ns >= l->all.window.end_ns + ORACK_PRICE_STALE_NS)
			spare = l;
	}
	if (spare) {
		memset(spare, 0, sizeof(*spare));
		spare->addr = *addr;
	}
	return spare;
}

/* False: there is no room for another address. */
static bool orack_price_take(struct onramp_net *on, const struct orack_pair *pair,
			     const struct orack_price_entry *report, u64 now_ns,
			     struct orack_price_entry *answer)
{
	struct orack_price_local *l;

	spin_lock(&on->price.lock);
	l = orack_price_local_find(&on->price, &pair->local, now_ns);
	if (l)
		orack_price_reported(&l->all, report, now_ns, answer);
	spin_unlock(&on->price.lock);
	return l;
}

/* Does the report name a connection of ours?  A stranger does not know its ports. */
static bool orack_price_is_of_a_flow(const struct orack_pair *pair, u32 ports, int ifindex)
{
	struct onramp_key key = {
		.net = pair->net, .saddr = pair->local, .daddr = pair->remote,
		.sport = htons(ports & 0xffff), .dport = htons(ports >> 16),
	};
	struct sock *sk = onramp_packet_socket(&key, ifindex);

	if (sk)
		sock_gen_put(sk);
	return sk;
}

/* A report came.  In a softirq, under the RCU read lock.  Returns what to count. */
enum onramp_stat orack_price_report(struct onramp_net *on, const struct orack_pair *pair,
				    const struct orack_datagram *d, int ifindex)
{
	struct orack_peer *peer = orack_peer_find(pair);
	struct orack_price_entry report, answer;
	u64 now_ns = ktime_get_ns();
	enum onramp_stat stat;

	if (!peer || !READ_ONCE(peer->hearing.hears))
		return ONRAMP_STAT_REFUSED_PEER;
	orack_read_price(d, &report);
	if (!orack_price_is_of_a_flow(pair, report.told_q, ifindex))
		return ONRAMP_STAT_REFUSED_FLOW;
	spin_lock(&peer->lock);
	stat = orack_price_judge(&peer->hearing.prices, &d->h, now_ns);
	spin_unlock(&peer->lock);
	if (stat != ONRAMP_STAT_PRICES_TAKEN)
		return stat;
	if (orack_price_take(on, pair, &report, now_ns, &answer))
		orack_price_send(on, peer, ORACK_PRICE_OF_ALL, d->h.time_ns, &answer);
	return stat;
}

void orack_price_open(struct onramp_net *on)
{
	spin_lock_init(&on->price.lock);
}
