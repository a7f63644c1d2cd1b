// SPDX-License-Identifier: GPL-2.0
/*
 * What flows to a destination learned of the path, for flows that begin (On-Ramp, section
 * 5.2.1): until when the newest sample called for a pause, the base delay, and the least
 * round trip.
 *
 * A path is a pair of addresses: a peer adds a number of its own to the timestamps of each
 * pair (secure_tcp_ts_off).  A cache of fixed size, one entry a slot: paths that share a
 * slot forget each other.  A delay is remembered as the end of the pause it called for, so
 * it ages by itself: a queue drains while nobody adds to it.
 */
#include <linux/jhash.h>
#include <linux/mm.h>

#include "onramp.h"

/* More peers than a host usually talks to at once: 72 KB. */
#define ONRAMP_PATHS		1024

/* A base delay that nobody confirmed for this long may have drifted 200 us. */
#define ONRAMP_PATH_BASE_NS	(4ULL * NSEC_PER_SEC)

struct onramp_path {
	spinlock_t lock;		/* guards all */
	possible_net_t net;		/* to compare, never followed */
	struct in6_addr saddr;
	struct in6_addr daddr;
	u64 until_ns;
	u64 base_ns;			/* when base_us was right; 0: never */
	struct onramp_floor rtt;	/* least round trip */
	u32 base_us;			/* raw delay of the empty path, us modulo 2^32 */
};

static struct onramp_path *onramp_paths;
static u32 onramp_path_seed;

static struct onramp_path *onramp_path_slot(const struct onramp_key *key)
{
	u32 seed = onramp_path_seed ^ (u32)(unsigned long)read_pnet(&key->net);
	u32 hash = jhash(&key->daddr, sizeof(key->daddr),
			 jhash(&key->saddr, sizeof(key->saddr), seed));

	return &onramp_paths[hash % ONRAMP_PATHS];
}

static bool onramp_path_is(const struct onramp_path *p, const struct onramp_key *key)
{
	return net_eq(read_pnet(&p->net), read_pnet(&key->net)) &&
	       ipv6_addr_equal(&p->saddr, &key->saddr) &&
	       ipv6_addr_equal(&p->daddr, &key->daddr);
}

static void onramp_path_claim(struct onramp_path *p, const struct onramp_key *key)
{
	if (onramp_path_is(p, key))
		return;
	p->net = key->net;
	p->saddr = key->saddr;
	p->daddr = key->daddr;
	p->until_ns = 0;
	p->base_ns = 0;
	onramp_floor_init(&p->rtt);
}

/* How much longer this round trip was than any flow's to the destination must be. */
u64 onramp_path_excess_ns(const struct onramp_key *key, u64 rtt_ns, u64 now_ns)
{
	struct onramp_path *p = onramp_path_slot(key);
	u64 floor_ns;

	spin_lock(&p->lock);
	onramp_path_claim(p, key);
	floor_ns = onramp_floor_sample(&p->rtt, now_ns, rtt_ns);
	spin_unlock(&p->lock);
	return rtt_ns - floor_ns;
}

/* ctl->lock is held. */
void onramp_path_learn(const struct onramp_ctl *ctl, u64 now_ns)
{
	struct onramp_path *p = onramp_path_slot(&ctl->key);
	s64 base_ns = onramp_base_at(&ctl->base, now_ns);

	spin_lock(&p->lock);
	onramp_path_claim(p, &ctl->key);
	p->until_ns = ctl->pause.until_ns;
	if (ctl->source == ONRAMP_SOURCE_TCPTS) {
		p->base_ns = now_ns;
		p->base_us = ctl->ts_ref + (u32)div_s64(base_ns, NSEC_PER_USEC);
	}
	spin_unlock(&p->lock);
}

/* 0: nothing known. */
u64 onramp_path_until_ns(const struct onramp_key *key)
{
	struct onramp_path *p = onramp_path_slot(key);
	u64 until_ns = 0;

	spin_lock(&p->lock);
	if (onramp_path_is(p, key))
		until_ns = p->until_ns;
	spin_unlock(&p->lock);
	return until_ns;
}

bool onramp_path_base_us(const struct onramp_key *key, u64 now_ns, u32 *base_us)
{
	struct onramp_path *p = onramp_path_slot(key);
	bool known;

	spin_lock(&p->lock);
	known = onramp_path_is(p, key) && p->base_ns &&
		now_ns - p->base_ns < ONRAMP_PATH_BASE_NS;
	*base_us = p->base_us;
	spin_unlock(&p->lock);
	return known;
}

int onramp_path_init(void)
{
	int i;

	onramp_paths = kvcalloc(ONRAMP_PATHS, sizeof(*onramp_paths), GFP_KERNEL);
	if (!onramp_paths)
		return -ENOMEM;
	onramp_path_seed = get_random_u32();
	for (i = 0; i < ONRAMP_PATHS; i++)
		spin_lock_init(&onramp_paths[i].lock);
	return 0;
}

void onramp_path_exit(void)
{
	kvfree(onramp_paths);
}
