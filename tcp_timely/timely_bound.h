/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bounds of the rate and of its changes, which Algorithm 1 of TIMELY15 does not have.
 */
#ifndef TIMELY_BOUND_H
#define TIMELY_BOUND_H

#include "timely_decide.h"

static inline u64 timely_clamp_rate(const struct timely_params *p, u64 cap_bps,
				    u64 rate_bps)
{
	u64 top_bps = p->max_rate_bps;

	if (cap_bps)
		top_bps = timely_min(top_bps, cap_bps);
	return timely_max(timely_min(rate_bps, top_bps), p->min_rate_bps);
}

/*
 * The lowest rate: a frame in eight round trips, so that a flow gets samples of the path
 * behind any queue. The round trip counts a tenth of a millisecond longer: at 20 us the
 * floors of 400 flows must not fill 10 Gbit/s.
 */
#define TIMELY_FLOOR_RTTS	8
#define TIMELY_FLOOR_NS		100000

/* A frame of @bytes in a round trip that counts TIMELY_FLOOR_NS longer. */
static inline u64 timely_frame_a_trip_bps(u64 bytes, u64 rtt_ns)
{
	return timely_div(bytes * 8000000000ULL, rtt_ns + TIMELY_FLOOR_NS);
}

/* The rate, or the floor if that is higher. */
static inline u64 timely_above_floor(const struct timely_params *p,
				     const struct timely_sample *sample,
				     u64 rate_bps, u64 rtt_ns)
{
	u64 bytes = sample->frame_bytes ? sample->frame_bytes : TIMELY_FRAME_BYTES;

	/* Even an RTT of 0 gives no higher floor than this. */
	if (!p->path_law ||
	    rate_bps >= bytes * (8000000000ULL / (TIMELY_FLOOR_NS * TIMELY_FLOOR_RTTS)))
		return rate_bps;
	return timely_max(rate_bps,
			  timely_frame_a_trip_bps(bytes, rtt_ns) / TIMELY_FLOOR_RTTS);
}

/* timely_pi's p cannot take more from a flow at its floor, nor from one without data. */
static inline bool timely_pi_is_held(const struct timely_state *s,
				     const struct timely_params *p,
				     const struct timely_sample *sample, u64 rtt_ns)
{
	return sample->app_limited || s->rate_bps <= p->min_rate_bps ||
	       timely_above_floor(p, sample, s->rate_bps - 1, rtt_ns) >= s->rate_bps;
}

/* Did the application use enough of the rate to deserve more? */
static inline bool timely_may_grow(const struct timely_state *s,
				   const struct timely_params *p,
				   const struct timely_sample *sample,
				   u64 elapsed_ns)
{
	u64 acked_bytes = timely_min(sample->acked_bytes, 1U << 30);
	u64 sent_bps;

	if (!sample->app_limited || !p->app_limit_milli || !elapsed_ns)
		return true;
	sent_bps = timely_div(acked_bytes * 8000000000ULL, elapsed_ns);
	return sent_bps >= timely_div((u64)s->rate_bps * p->app_limit_milli, 1000);
}

/*
 * One decrease per round trip takes as much as the worst sample of that round trip
 * asks. Samples of bursts sent before the decrease show the same overload, so they count
 * from the rate before it.
 */
static inline u64 timely_round_cut_bps(struct timely_state *s, u64 now_ns,
				       u64 rtt_ns,
				       const struct timely_verdict *v)
{
	u64 most_bps = timely_mul_shr(s->rate_bps,
				      timely_bounded_q(TIMELY_ONE,
						       v->bound_milli),
				      TIMELY_Q);
	u64 goal_bps;

	if (!s->in_round || timely_since_ns(now_ns, s->round_start_ns) > rtt_ns) {
		s->high_rate_bps = s->rate_bps;
		s->round_start_ns = now_ns & TIMELY_MOMENT_MASK;
		s->in_round = 1;
	}
	goal_bps = timely_less(s->high_rate_bps,
			       timely_mul_shr(s->high_rate_bps, v->down_q,
					      TIMELY_Q));
	return timely_min(timely_less(s->rate_bps, goal_bps), most_bps);
}

/* The decrease of one event, scaled by its weight. */
static inline u64 timely_event_cut_bps(const struct timely_state *s,
				       const struct timely_verdict *v,
				       u64 weight_q)
{
	u64 down_q = timely_mul_shr(v->down_q, timely_min(weight_q, TIMELY_ONE),
				    TIMELY_Q);

	return timely_mul_shr(s->rate_bps,
			      timely_bounded_q(down_q, v->bound_milli),
			      TIMELY_Q);
}

static inline void timely_apply(struct timely_state *s,
				const struct timely_params *p,
				const struct timely_sample *sample,
				u64 elapsed_ns, u64 rtt_ns,
				const struct timely_verdict *v)
{
	u64 up_bps = 0, cut_bps = 0, weight_q = 0, rate_bps;

	if (v->up_bps || !p->decrease_once)
		weight_q = timely_update_weight(p, elapsed_ns, rtt_ns);
	if (v->down_q && p->decrease_once)
		cut_bps = timely_round_cut_bps(s, sample->now_ns, rtt_ns, v);
	else if (v->down_q)
		cut_bps = timely_event_cut_bps(s, v, weight_q);
	if (v->up_bps && timely_may_grow(s, p, sample, elapsed_ns))
		up_bps = timely_mul_shr(v->up_bps, weight_q, TIMELY_Q);
	rate_bps = timely_less(s->rate_bps + up_bps, cut_bps);
	rate_bps = timely_above_floor(p, sample, rate_bps, rtt_ns);
	s->rate_bps = timely_clamp_rate(p, sample->cap_bps, rate_bps);
}

#endif /* TIMELY_BOUND_H */
