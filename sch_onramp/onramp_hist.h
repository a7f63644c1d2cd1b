/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms of delays, and percentiles of them.  Model: On-Ramp (ONRAMP21), its delays.
 *
 * An octave has four buckets, from 1 us on.  The first has all below, the last all above half a
 * second.  An error of a ninth is good enough for a reader.
 *
 * A qdisc's counts cover all time.  A flow's and a peer's are small and cover the recent past
 * (struct onramp_recent): every ten seconds the weight of what is in them halves.
 */
#ifndef ONRAMP_HIST_H
#define ONRAMP_HIST_H

#include "include/turnpike_types.h"

#define ONRAMP_HIST_BUCKETS	80

/* Half of what is shown is of the last ten seconds: longer than one incast of a second.  Samples
 * from half a minute ago are nearly gone.
 */
#define ONRAMP_RECENT_HALF_NS	10000000000ULL

/* A new sample's weight: halving loses nothing of a few samples until they are old. */
#define ONRAMP_RECENT_WEIGHT	16
#define ONRAMP_RECENT_MAX	0xffff

static inline u32 onramp_hist_bucket(u64 delay_ns)
{
	u32 octave, bucket;

	if (delay_ns < 1024)
		return 0;
	octave = tp_log2(delay_ns);
	bucket = (octave - 10) * 4 + ((delay_ns >> (octave - 2)) & 3) + 1;
	return bucket < ONRAMP_HIST_BUCKETS ? bucket : ONRAMP_HIST_BUCKETS - 1;
}

/* Middle of a bucket. */
static inline u64 onramp_hist_middle_ns(u32 bucket)
{
	u32 octave = (bucket - 1) / 4 + 10;

	if (!bucket)
		return 512;
	return (1ULL << octave) + ((u64)(2 * ((bucket - 1) % 4) + 1) << (octave - 3));
}

/* @count has ONRAMP_HIST_BUCKETS, @total in all; 0: there is nothing. */
static inline u64 onramp_hist_percentile_ns(const u64 *count, u64 total, u32 percent)
{
	u64 rank = tp_div(total * percent + 99, 100), seen = 0;
	u32 i;

	if (!total)
		return 0;
	for (i = 0; i < ONRAMP_HIST_BUCKETS - 1; i++) {
		seen += count[i];
		if (seen >= rank)
			break;
	}
	return onramp_hist_middle_ns(i);
}

/* All zero: empty. */
struct onramp_recent {
	u64 halved_ns;		/* when it was halved last, or begun */
	u16 weight[ONRAMP_HIST_BUCKETS];
};

static inline void onramp_recent_clear(struct onramp_recent *r)
{
	u32 i;

	r->halved_ns = 0;
	for (i = 0; i < ONRAMP_HIST_BUCKETS; i++)
		r->weight[i] = 0;
}

static inline void onramp_recent_halve(struct onramp_recent *r, u32 times)
{
	u32 i;

	for (i = 0; i < ONRAMP_HIST_BUCKETS; i++)
		r->weight[i] = times < 16 ? r->weight[i] >> times : 0;
}

/* A bucket that fills before its time shortens the past: it has thousands of samples. */
static inline void onramp_recent_sample(struct onramp_recent *r, u64 now_ns, u32 bucket)
{
	u64 past_ns = now_ns - r->halved_ns;

	if (past_ns >= ONRAMP_RECENT_HALF_NS) {
		u64 times = tp_div(past_ns, ONRAMP_RECENT_HALF_NS);

		onramp_recent_halve(r, times < 16 ? (u32)times : 16);
		r->halved_ns += times * ONRAMP_RECENT_HALF_NS;
	}
	if (r->weight[bucket] > ONRAMP_RECENT_MAX - ONRAMP_RECENT_WEIGHT)
		onramp_recent_halve(r, 1);
	r->weight[bucket] += ONRAMP_RECENT_WEIGHT;
}

struct onramp_percentiles {
	bool known;		/* there are samples */
	u64 p50_ns;
	u64 p90_ns;
	u64 p99_ns;
};

static inline void onramp_hist_percentiles(const u64 *count, u64 total, struct onramp_percentiles *p)
{
	p->known = total;
	p->p50_ns = onramp_hist_percentile_ns(count, total, 50);
	p->p90_ns = onramp_hist_percentile_ns(count, total, 90);
	p->p99_ns = onramp_hist_percentile_ns(count, total, 99);
}

static inline void onramp_recent_percentiles(const struct onramp_recent *r,
					     struct onramp_percentiles *p)
{
	u64 count[ONRAMP_HIST_BUCKETS], total = 0;
	u32 i;

	for (i = 0; i < ONRAMP_HIST_BUCKETS; i++) {
		count[i] = r->weight[i];
		total += count[i];
	}
	onramp_hist_percentiles(count, total, p);
}

#endif /* ONRAMP_HIST_H */
