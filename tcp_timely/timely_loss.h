/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers to loss, timeouts and idle times, which Algorithm 1 of TIMELY15 does not have.
 */
#ifndef TIMELY_LOSS_H
#define TIMELY_LOSS_H

#include "timely_bound.h"

/*
 * Climb from the floor after a timeout: double once a round trip, up to half the
 * former rate, as slow start does up to its threshold. Steps by the event would
 * take seconds at the floor.
 */
static inline void timely_climb(struct timely_state *s,
				const struct timely_params *p, u64 cap_bps,
				u64 rtt_ns, u64 elapsed_ns)
{
	u64 up_bps = s->rate_bps;

	if (elapsed_ns < rtt_ns)
		up_bps = timely_div(up_bps * (elapsed_ns >> 4), (rtt_ns >> 4) + 1);
	s->rate_bps = timely_clamp_rate(p, cap_bps,
					timely_min(s->rate_bps + up_bps,
						   s->high_rate_bps));
}

/* Does the flow still climb at this sample? A queue ends that, as does the top. */
static inline bool timely_climbing(struct timely_state *s,
				   u64 low_ns, u64 rtt_ns)
{
	if (rtt_ns >= low_ns ||
	    s->rate_bps >= s->high_rate_bps)
		s->climb = 0;
	return s->climb;
}

/* Is the queue below the lower threshold, or is there no sample yet? */
static inline bool timely_queue_is_short(const struct timely_state *s,
					 const struct timely_params *p)
{
	u64 origin_ns = p->path_law ? timely_path_origin_ns(s, p) : 0;

	return s->prev_rtt_ns < origin_ns + timely_us_to_ns(p->t_low_us);
}

/*
 * Loss, once per recovery episode; undo_rate_bps remembers the rate before it. Little
 * loss with a short queue shows a bad cable and not congestion: then the cut is
 * loss_milli. Otherwise it is half, as with Reno.
 */
static inline void timely_rate_loss(struct timely_state *s,
				    const struct timely_params *p, u64 now_ns,
				    bool heavy)
{
	u64 cut_milli = p->loss_milli;

	timely_path_leave_drain(s);
	if (heavy || !timely_queue_is_short(s, p))
		cut_milli = 500;
	s->undo_rate_bps = s->rate_bps;
	s->rate_bps = timely_clamp_rate(p, 0, s->rate_bps -
					timely_div(s->rate_bps * cut_milli, 1000));
	s->high_rate_bps = s->rate_bps;
	s->round_start_ns = now_ns & TIMELY_MOMENT_MASK;
	s->in_round = 1;
	s->climb = 0;
	timely_forget_hai(s, p);
}

/*
 * After a loss without a queue: climb to a frame in a round trip, or to cap_bps. Behind a
 * policer no queue makes shares even, and the fast flow leaves an empty bucket to the others.
 * Reno sends two frames at least.
 */
static inline void timely_rate_keep_up(struct timely_state *s,
				       const struct timely_params *p, u64 cap_bps)
{
	u64 least_bps = timely_clamp_rate(p, cap_bps,
					  timely_frame_a_trip_bps(TIMELY_FRAME_BYTES,
								  s->prev_rtt_ns));

	if (!p->path_law || !s->prev_rtt_ns || !timely_queue_is_short(s, p) ||
	    s->rate_bps >= least_bps)
		return;
	s->high_rate_bps = least_bps;
	s->climb = 1;
}

/* Retransmission timeout: begin again from the floor. */
static inline void timely_rate_rto(struct timely_state *s,
				   const struct timely_params *p)
{
	timely_path_leave_drain(s);
	if (!s->undo_rate_bps)
		s->undo_rate_bps = s->rate_bps;
	s->high_rate_bps = s->undo_rate_bps / 2;
	s->in_round = 0;
	s->climb = 1;
	s->rate_bps = p->min_rate_bps;
	timely_forget_samples(s, p);
}

/*
 * An ACK during recovery from a timeout. A retransmission gives no RTT, but it got
 * through, and at the floor the rest of the window would take seconds.
 */
static inline void timely_rate_got_through(struct timely_state *s,
					   const struct timely_params *p,
					   u64 now_ns, u64 rtt_ns, u64 cap_bps)
{
	u64 elapsed_ns = timely_since_ns(now_ns, s->last_event_ns);

	if (!s->climb || s->rate_bps >= s->high_rate_bps)
		return;
	timely_climb(s, p, cap_bps, timely_max(rtt_ns, 1),
		     timely_min(elapsed_ns, TIMELY_RTT_MAX_NS));
	s->last_event_ns = now_ns & TIMELY_MOMENT_MASK;
}

/* The recovery was spurious: give back what it took. */
static inline void timely_rate_undo(struct timely_state *s)
{
	s->rate_bps = timely_max(s->rate_bps, s->undo_rate_bps);
	s->undo_rate_bps = 0;
}

/* Recovery ended for good: there is nothing left to undo. */
static inline void timely_rate_recovered(struct timely_state *s)
{
	s->undo_rate_bps = 0;
}

/* After an idle period: not faster than restart_bps, old gradient forgotten. */
static inline void timely_rate_idle(struct timely_state *s,
				    const struct timely_params *p,
				    u64 restart_bps)
{
	timely_path_leave_drain(s);
	s->rate_bps = timely_clamp_rate(p, 0,
					timely_min(s->rate_bps, restart_bps));
	timely_forget_samples(s, p);
}

#endif /* TIMELY_LOSS_H */
