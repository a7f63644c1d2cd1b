// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics: struct tc_onramp_stats, what `tc -s' shows.
 */
#include <linux/log2.h>
#include <net/gen_stats.h>

#include "onramp.h"

/* Four buckets an octave from 1 us on: the first has what is below, the last all above
 * half a second.  An error of a ninth is good enough to look at.
 */
static u32 onramp_stat_bucket(u64 delay_ns)
{
	u32 octave;

	if (delay_ns < 1024)
		return 0;
	octave = ilog2(delay_ns);
	return min_t(u32, (octave - 10) * 4 + ((delay_ns >> (octave - 2)) & 3) + 1,
		     ONRAMP_HIST_BUCKETS - 1);
}

/* Middle of a bucket. */
static u64 onramp_stat_middle_ns(u32 bucket)
{
	u32 octave = (bucket - 1) / 4 + 10;

	if (!bucket)
		return 512;
	return (1ULL << octave) + ((2 * ((bucket - 1) % 4) + 1) << (octave - 3));
}

void onramp_stat_delay(struct onramp_counts *c, u64 delay_ns)
{
	atomic64_inc(&c->delay[onramp_stat_bucket(delay_ns)]);
}

static u64 onramp_stat_percentile(const u64 *count, u64 total, u32 percent)
{
	u64 rank = div_u64(total * percent + 99, 100), seen = 0;
	u32 i;

	if (!total)
		return 0;
	for (i = 0; i < ONRAMP_HIST_BUCKETS; i++) {
		seen += count[i];
		if (seen >= rank)
			break;
	}
	return onramp_stat_middle_ns(min_t(u32, i, ONRAMP_HIST_BUCKETS - 1));
}

static void onramp_stat_fill_delay(struct tc_onramp_stats *st, const struct onramp_counts *c)
{
	u64 count[ONRAMP_HIST_BUCKETS], total = 0;
	u32 i;

	for (i = 0; i < ONRAMP_HIST_BUCKETS; i++) {
		count[i] = atomic64_read(&c->delay[i]);
		total += count[i];
	}
	st->delay_p50_ns = onramp_stat_percentile(count, total, 50);
	st->delay_p99_ns = onramp_stat_percentile(count, total, 99);
}

static void onramp_stat_fill_counts(struct tc_onramp_stats *st, const struct onramp_counts *c)
{
	st->samples = atomic64_read(&c->samples);
	st->pauses = atomic64_read(&c->pauses);
	st->pauses_capped = atomic64_read(&c->capped);
	st->pauses_recalled = atomic64_read(&c->recalled);
	st->ignored_unknown = atomic64_read(&c->unknown);
	st->ignored_late = atomic64_read(&c->late);
	st->base_steps = atomic64_read(&c->steps);
	st->controlled_tcpts = atomic_read(&c->controlled[ONRAMP_SOURCE_TCPTS]);
	st->controlled_orack = atomic_read(&c->controlled[ONRAMP_SOURCE_ORACK]);
	st->controlled_flows = st->controlled_tcpts + st->controlled_orack;
	st->samples_orack = atomic64_read(&c->samples_orack);
	st->drains = atomic64_read(&c->drains);
	st->coarse = atomic64_read(&c->coarse);
	st->samples_wire = atomic64_read(&c->samples_wire);
	st->ignored_unstamped = atomic64_read(&c->unstamped);
}

static void onramp_stat_fill(struct tc_onramp_stats *st, const struct onramp_sched *q)
{
	const struct onramp_stats *s = &q->stats;
	int i;

	st->version = ONRAMP_ABI_VERSION;
	st->bands = TP_FQ_BANDS;
	st->gc_flows = s->gc_flows;
	st->highprio_packets = s->highprio;
	st->fastpath_packets = q->internal.fast_packets;
	st->throttled = s->throttled;
	st->flows_plimit = s->flow_limit;
	st->pkts_too_long = s->too_long;
	st->allocation_errors = s->alloc_errors;
	if (q->delayed_next_ns != ONRAMP_NEVER_NS)
		st->time_next_delayed_ns = q->delayed_next_ns + q->config.timer_slack_ns -
					   ktime_get_ns();
	st->ce_mark = s->ce_marks;
	st->horizon_drops = s->horizon_drops;
	st->horizon_caps = s->horizon_caps;
	for (i = 0; i < TP_FQ_BANDS; i++) {
		st->band_drops[i] = s->band_drops[i];
		st->band_packets[i] = q->band_packets[i];
	}
	st->flows = q->flows;
	st->inactive_flows = q->inactive;
	st->throttled_flows = q->throttled;
	st->unthrottle_latency_ns = min_t(u64, q->unthrottle_latency_ns, U32_MAX);
	st->held_packets = s->held_packets;
	st->held_ns = s->held_ns;
	st->timeouts = s->timeouts;
	st->bypassed = s->bypassed;
	st->burst_cuts = s->burst_cuts;
	st->gated = s->gated;
	st->line_rate = q->config.line_rate ?: q->line.rate;
	st->gate_active = q->line.gated;
	st->bql = q->line.bql;
}

int onramp_stat_dump(struct Qdisc *sch, struct gnet_dump *d)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct tc_onramp_stats st = {};

	sch_tree_lock(sch);
	onramp_stat_fill(&st, q);
	sch_tree_unlock(sch);
	onramp_stat_fill_counts(&st, &q->counts);
	onramp_stat_fill_delay(&st, &q->counts);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}
