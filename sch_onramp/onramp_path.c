// SPDX-License-Identifier: GPL-2.0
/*
 * What flows to a destination learned of the path, for flows that begin (ONRAMP21, section
 * 5.2.1).  A path has the end of the newest sample's pause, the base delay and the least round
 * trip.  It also has when flows stop together, and whether the peer's timestamps are coarse.
 *
 * A path is a pair of addresses: a peer adds an own number to the timestamps of each pair
 * (secure_tcp_ts_off).  The cache is of fixed size, in sets of four, and gives up the path unused
 * for longest.  A path that it forgets again and again shows no queue, as its least round trip is
 * always the last.  A delay is kept as the end of its pause, so it ages by itself, as a queue
 * drains.
 */
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "onramp_ctl.h"
#include "onramp_min_filter.h"
#include "onramp_net.h"
#include "onramp_path.h"
#include "onramp_sched.h"
#include "onramp_tcpts_drain.h"

/* 8192 paths of the first namespace, more peers than a host talks to within seconds: of as many,
 * one in five finds no place, with a random hash; of a fourth of that, one in 200.  1 MB.  Other
 * namespaces have an eighth of it.
 */
#define ONRAMP_PATH_SETS	2048
#define ONRAMP_PATH_SETS_OTHER	256
#define ONRAMP_PATH_WAYS	4

/* A base delay that no flow confirmed for this long may have drifted 200 us. */
#define ONRAMP_PATH_BASE_NS	(4ULL * NSEC_PER_SEC)

/* The operator may give the peer's route its feature: flows see it after this time.  Until then
 * no new connection spends its first 40 ms on finding out.
 */
#define ONRAMP_PATH_COARSE_NS	(60ULL * NSEC_PER_SEC)

struct onramp_path {
	struct in6_addr saddr;
	struct in6_addr daddr;
	u64 used_ns;			/* when something was learned */
	u64 until_ns;
	u64 base_ns;			/* when base_us was right; 0: never */
	u64 coarse_ns;			/* when timestamps were found to be coarse; 0: never */
	struct onramp_min_filter rtt;	/* least round trip */
	struct onramp_tcpts_drain drain;
	u32 base_us;			/* raw delay of the empty path, us modulo 2^32 */
};

struct onramp_path_set {
	spinlock_t lock;		/* guards all */
	struct onramp_path way[ONRAMP_PATH_WAYS];
};

/* A namespace's; it stays as long as the namespace does. */
struct onramp_paths {
	u32 mask;
	u32 seed;
	struct onramp_path_set set[];
};

static struct onramp_path_set *onramp_path_set(const struct onramp_key *key)
{
	struct onramp_paths *paths = onramp_net(read_pnet(&key->net))->paths;
	u32 hash = jhash(&key->daddr, sizeof(key->daddr),
			 jhash(&key->saddr, sizeof(key->saddr), paths->seed));

	return &paths->set[hash & paths->mask];
}

static bool onramp_path_is(const struct onramp_path *p, const struct onramp_key *key)
{
	return ipv6_addr_equal(&p->daddr, &key->daddr) &&
	       ipv6_addr_equal(&p->saddr, &key->saddr);
}

/* set->lock is held. */
static struct onramp_path *onramp_path_find(struct onramp_path_set *set,
					    const struct onramp_key *key)
{
	struct onramp_path *p;

	for (p = set->way; p < set->way + ONRAMP_PATH_WAYS; p++) {
		if (onramp_path_is(p, key))
			return p;
	}
	return NULL;
}

/* set->lock is held. */
static struct onramp_path *onramp_path_claim(struct onramp_path_set *set,
					     const struct onramp_key *key, u64 now_ns)
{
	struct onramp_path *p = onramp_path_find(set, key), *other;

	if (p)
		goto out;
	p = set->way;
	for (other = p + 1; other < set->way + ONRAMP_PATH_WAYS; other++) {
		if (other->used_ns < p->used_ns)
			p = other;
	}
	p->saddr = key->saddr;
	p->daddr = key->daddr;
	p->until_ns = 0;
	p->base_ns = 0;
	p->coarse_ns = 0;
	onramp_min_filter_init(&p->rtt);
	onramp_tcpts_drain_init(&p->drain, now_ns);
out:
	p->used_ns = now_ns;
	return p;
}

/* Another function releases this lock, which sparse does not follow.  On one processor sparse
 * counts a trylock as taken twice.
 */
#ifdef __CHECKER__
#define onramp_path_trylock(lock)	((lock) != NULL)
#else
#define onramp_path_trylock(lock)	spin_trylock(lock)
#endif

/* Finds the path, or makes room for it, and keeps it until onramp_path_visit_end().  Each sample
 * of each flow to the destination passes here: no flow waits for another that is learning.
 */
void onramp_path_visit_begin(struct onramp_path_visit *v, const struct onramp_key *key, u64 now_ns)
{
	v->set = onramp_path_set(key);
	v->path = NULL;
	if (onramp_path_trylock(&v->set->lock))
		v->path = onramp_path_claim(v->set, key, now_ns);
}

void onramp_path_visit_end(const struct onramp_path_visit *v)
{
	if (!v->path)
		return;
	__acquire(&v->set->lock);
	spin_unlock(&v->set->lock);
}

/* How much longer this round trip was than the least of any flow to the destination. */
bool onramp_path_excess_ns(const struct onramp_path_visit *v, u64 rtt_ns, u64 now_ns,
			   u64 *excess_ns)
{
	if (!v->path)
		return false;
	*excess_ns = rtt_ns - onramp_min_filter_sample(&v->path->rtt, now_ns, rtt_ns);
	return true;
}

/* A base shows that the path got longer.  So its least round trip is @rtt_ns at most, not the one
 * before, which would take that for a standing queue in the base.
 */
void onramp_path_longer(const struct onramp_path_visit *v, u64 rtt_ns)
{
	if (v->path)
		onramp_min_filter_raise(&v->path->rtt, rtt_ns);
}

/* How long a flow that saw @queue_ns stops for the queue to empty.  ctl->lock is held. */
u64 onramp_path_drain_ns(const struct onramp_path_visit *v, const struct onramp_ctl *ctl,
			 u64 queue_ns, bool lowered, u64 now_ns)
{
	if (!v->path)
		return 0;
	return onramp_tcpts_drain_pause_ns(&v->path->drain, now_ns, queue_ns,
					   ctl->sched->config.pause.threshold_ns, ctl->drained_ns,
					   lowered);
}

/* ctl->lock is held. */
void onramp_path_learn(const struct onramp_path_visit *v, const struct onramp_ctl *ctl, u64 now_ns)
{
	struct onramp_path *p = v->path;

	if (!p)
		return;
	p->until_ns = ctl->pause.until_ns;
	if (ctl->source == ONRAMP_SOURCE_TCPTS) {
		p->base_ns = now_ns;
		p->base_us = ctl->tcpts.ref_us +
			     (u32)div_s64(tp_base_at(&ctl->tcpts.base, now_ns), NSEC_PER_USEC);
	}
}

/* False: not known. */
bool onramp_path_base_us(const struct onramp_path_visit *v, u64 now_ns, u32 *base_us)
{
	const struct onramp_path *p = v->path;

	if (!p || !p->base_ns || now_ns - p->base_ns >= ONRAMP_PATH_BASE_NS)
		return false;
	*base_us = p->base_us;
	return true;
}

void onramp_path_set_coarse(const struct onramp_key *key, u64 now_ns)
{
	struct onramp_path_set *set = onramp_path_set(key);
	struct onramp_path *p;

	/* A connection comes here once: it may wait. */
	spin_lock(&set->lock);
	p = onramp_path_claim(set, key, now_ns);
	p->coarse_ns = now_ns;
	p->base_ns = 0;
	spin_unlock(&set->lock);
}

/* 0: nothing known. */
u64 onramp_path_until_ns(const struct onramp_key *key)
{
	struct onramp_path_set *set = onramp_path_set(key);
	const struct onramp_path *p;
	u64 until_ns;

	spin_lock(&set->lock);
	p = onramp_path_find(set, key);
	until_ns = p ? p->until_ns : 0;
	spin_unlock(&set->lock);
	return until_ns;
}

/* Did a flow lately find the peer's timestamps to be coarse? */
bool onramp_path_is_coarse(const struct onramp_key *key, u64 now_ns)
{
	struct onramp_path_set *set = onramp_path_set(key);
	const struct onramp_path *p;
	bool coarse;

	spin_lock(&set->lock);
	p = onramp_path_find(set, key);
	coarse = p && p->coarse_ns && now_ns - p->coarse_ns < ONRAMP_PATH_COARSE_NS;
	spin_unlock(&set->lock);
	return coarse;
}

/* A qdisc of the namespace pauses.  What flows learn outlasts it: an operator who replaces a
 * qdisc may first delete it.  Under RTNL.
 */
int onramp_path_open(struct onramp_net *on)
{
	u32 sets = net_eq(on->net, &init_net) ? ONRAMP_PATH_SETS : ONRAMP_PATH_SETS_OTHER, i;
	struct onramp_paths *paths;

	if (on->paths)
		return 0;
	paths = kvzalloc(struct_size(paths, set, sets), GFP_KERNEL_ACCOUNT);
	if (!paths)
		return -ENOMEM;
	paths->mask = sets - 1;
	paths->seed = get_random_u32();
	for (i = 0; i < sets; i++)
		spin_lock_init(&paths->set[i].lock);
	on->paths = paths;
	return 0;
}

/* The namespace goes, and no packet arrives any more. */
void onramp_path_close(struct onramp_net *on)
{
	kvfree(on->paths);
	on->paths = NULL;
}
