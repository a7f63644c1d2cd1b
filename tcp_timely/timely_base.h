/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The base RTT of the path (minRTT of TIMELY15): the least that samples agree on, or that
 * a drain finds (timely_drain.h). The excess of a sample over it is queue.
 */
#ifndef TIMELY_BASE_H
#define TIMELY_BASE_H

#include "timely_return.h"

/*
 * If a NIC coalesces interrupts, any sample may be a lucky one. So two halves of the noise filter's
 * window lower the base, and by a part only, as the luck of one flow is not that of the others. Of
 * four flows with 50 us of coalescing the least has .43 of the mean in the worst of five runs, and .18
 * if the base falls at once (timely-paths). By pairs of samples a fast flow would have the longer base
 * and keep the larger share: of its samples in one interrupt only the last waits for little.
 */
#define TIMELY_LUCK_PART	4
#define TIMELY_LUCK_NICS	2	/* the peer's, too */
/*
 * Mean spikes of 20 us of noise, a sixth, under which pairs of samples do. If the peer's NIC alone
 * coalesces for 50 us, the least of four flows has .52 of the mean in the worst of five runs, and .09
 * without (timely-paths). From 1.5 us on, flows behind a policer would have .17 (timely-policed).
 */
#define TIMELY_LUCK_SPIKE_NS	3500

/*
 * How much less than others a sample may have waited. The peer's NIC tells nothing of its interrupts,
 * but the spikes of samples do.
 */
static inline u32 timely_path_luck_ns(const struct timely_state *s, u32 coalesce_ns)
{
	u64 spikes_ns = TIMELY_NOISE_NEAR * timely_less(s->spike_ns, TIMELY_LUCK_SPIKE_NS);

	return (u32)timely_max(TIMELY_LUCK_NICS * coalesce_ns, spikes_ns);
}

static inline void timely_path_lower_slowly(struct timely_state *s)
{
	u64 least_ns = timely_max(s->low_old_ns, s->low_new_ns);

	if (s->low_events != TIMELY_NOISE_EVENTS || least_ns >= TIMELY_LOW_MAX_NS)
		return;
	s->base_ns -= timely_less(s->base_ns, least_ns) / TIMELY_LUCK_PART;
	s->low_events++;
}

/*
 * Two samples in a row lower the base: a single one may be a mistake, and a drain has no more than
 * two. luck_ns: how much less than the others a sample may wait for interrupts. What is more than that
 * below the base is below the path's, as with a base from a start in a queue.
 */
static inline void timely_path_lower(struct timely_state *s, u64 rtt_ns, u32 luck_ns)
{
	if (luck_ns)
		timely_path_lower_slowly(s);
	if (rtt_ns + luck_ns >= s->base_ns) {
		s->below = 0;
		return;
	}
	if (!s->below) {
		s->below = 1;
		return;
	}
	s->base_ns = timely_min(s->base_ns, timely_max(rtt_ns, s->prev_rtt_ns) + luck_ns);
}

/*
 * How far from the base a sample counts as near it. timely_pi keeps a queue of its reference up, so
 * there a queue of that length says nothing against the base. Otherwise flows with little of the
 * link would take it for the path, each one more of it than the flow before.
 */
static inline u64 timely_path_near_ns(const struct timely_state *s, const struct timely_params *p)
{
	u64 near_ns = timely_us_to_ns(p->t_low_us) / TIMELY_PATH_NEAR_PART;

	if (p->variant == TIMELY_VARIANT_PI)
		near_ns += timely_us_to_ns(p->t_low_us);
	return timely_max(near_ns, s->base_ns >> TIMELY_PATH_NEAR_SHIFT);
}

/*
 * Enter a sample, elapsed_ns after the one before it, which is still in prev_rtt_ns. The
 * watch begins again after a silence, which says nothing of the path.
 */
static inline void timely_path_sample(struct timely_state *s,
				      const struct timely_params *p, u64 now_ns,
				      u64 rtt_ns, u64 elapsed_ns, u32 coalesce_ns)
{
	u64 near_ns = timely_path_near_ns(s, p);

	rtt_ns = timely_min(rtt_ns, TIMELY_BASE_MAX_NS);
	if (!s->path_tick && !s->drain_tick) {
		s->drain_tick = timely_drain_tick(now_ns);
		timely_path_is_near(s, now_ns, elapsed_ns);
	} else if (elapsed_ns > TIMELY_PATH_SILENCE_NS && !s->draining) {
		timely_path_is_near(s, now_ns, elapsed_ns);
		s->path_events = 0;
	}
	if (!s->base_ns)
		s->base_ns = rtt_ns;
	if (rtt_ns <= s->base_ns + near_ns) {
		timely_return(s, p, now_ns, near_ns, rtt_ns, elapsed_ns);
		timely_path_is_near(s, now_ns, elapsed_ns);
	}
	timely_path_lower(s, rtt_ns, timely_path_luck_ns(s, coalesce_ns));
	if (s->path_events < TIMELY_PATH_EVENTS)
		s->path_events++;
	if (s->draining)
		timely_path_drain(s, p, now_ns, rtt_ns);
	else if (timely_path_wants_drain(s, now_ns))
		timely_path_begin_drain(s, p, now_ns, rtt_ns);
}

#endif /* TIMELY_BASE_H */
