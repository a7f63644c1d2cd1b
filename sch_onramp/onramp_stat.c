// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics: struct tc_onramp_stats, what `tc -s' shows.  Model: fq, and On-Ramp (ONRAMP21).
 */
#include <linux/percpu.h>
#include <net/gen_stats.h>

#include "onramp_sched.h"

/* Sums the counts of all processors, which may go on meanwhile. */
static u64 onramp_stat_sum(const struct onramp_sched *q, size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*(u64 *)((char *)per_cpu_ptr(q->counts, cpu) + offset));
	return sum;
}

#define onramp_stat_of(q, name)	onramp_stat_sum(q, offsetof(struct onramp_counts, name))

static void onramp_stat_fill_delay(struct tc_onramp_stats *st, const struct onramp_sched *q)
{
	u64 count[ONRAMP_HIST_BUCKETS], total = 0;
	struct onramp_percentiles p;
	u32 i;

	for (i = 0; i < ONRAMP_HIST_BUCKETS; i++) {
		count[i] = onramp_stat_sum(q, offsetof(struct onramp_counts, delay) +
					      i * sizeof(u64));
		total += count[i];
	}
	onramp_hist_percentiles(count, total, &p);
	st->delay_p50_ns = p.p50_ns;
	st->delay_p99_ns = p.p99_ns;
}

static void onramp_stat_fill_counts(struct tc_onramp_stats *st, const struct onramp_sched *q)
{
	st->samples = onramp_stat_of(q, samples);
	st->pauses = onramp_stat_of(q, pauses);
	st->pauses_capped = onramp_stat_of(q, capped);
	st->pauses_recalled = onramp_stat_of(q, recalled);
	st->ignored_unknown = onramp_stat_of(q, unknown);
	st->ignored_late = onramp_stat_of(q, late);
	st->base_steps = onramp_stat_of(q, steps);
	st->controlled_tcpts = atomic_read(&q->controlled_by[ONRAMP_SOURCE_TCPTS]);
	st->controlled_orack = atomic_read(&q->controlled_by[ONRAMP_SOURCE_ORACK]);
	st->controlled_flows = st->controlled_tcpts + st->controlled_orack;
	st->samples_orack = onramp_stat_of(q, samples_orack);
	st->drains = onramp_stat_of(q, drains);
	st->coarse = onramp_stat_of(q, coarse);
	st->samples_wire = onramp_stat_of(q, samples_wire);
	st->samples_noisy = onramp_stat_of(q, noisy);
	st->ignored_unstamped = onramp_stat_of(q, unstamped);
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
	onramp_stat_fill_counts(&st, q);
	onramp_stat_fill_delay(&st, q);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}
