/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TIMELY rate engine: RTT samples in, sending rate out.
 *
 * Sources: TIMELY15, Algorithm 1, and ECNDELAY16 (Patched TIMELY), Algorithm 2.
 * Pure fixed-point arithmetic: no clock, no socket, no lock. The caller
 * serializes access to one state.
 *
 *   timely_noise.h    what of a sample is no queue
 *   timely_watch.h    when to look for the base RTT
 *   timely_drain.h    how it is found anew
 *   timely_return.h   back to the rate before a burst of other flows
 *   timely_base.h     the base RTT
 *   timely_path.h     thresholds of this path
 *   timely_gradient.h how fast the queue grows
 *   timely_step.h     what one event is worth
 *   timely_empty.h    larger steps while a path stays empty
 *   timely_pi.h       the controller of timely_pi
 *   timely_decide.h   Algorithm 1, Algorithm 2, and p in its place
 *   timely_bound.h    what bounds the rate and its changes
 *   timely_loss.h     loss, timeouts, idle times
 *
 *             rtt < low            low..high               rtt > high
 *         +---------------+  +----------------------+  +------------------+
 *  rtt -> | rate += step  |  | timely:   by gradient|  | rate *= 1 - beta |
 *         +---------------+  |   <= 0: += step, HAI |  |  * (1 - high /   |
 *                            |   >  0: *= 1 - b * g |  |         rtt)     |
 *                            | patched: blend of    |  +------------------+
 *                            |   both by w(g)       |
 *                            +----------------------+
 *
 * timely_pi blends at any RTT, by a p that integrates the RTT's error (timely_pi.h).
 *
 * Every departure from the papers' pseudo-code can be switched off in a preset, and
 * "verbatim" has them all off. What the shipped presets do on top of it, and why:
 *
 *  - elapsed_gradient: the slope of the queue is its change over the time in
 *    which it changed. By the event, flows with rare events overstate it, and
 *    flows with many understate it.
 *  - burst_us: bursts follow the rate, so that all flows together never hold
 *    more than burst_us of the link at once, however many they are. They grow
 *    while there is no queue.
 *  - root_step: the step grows as sqrt(rate). Its sum over N flows then
 *    grows as sqrt(N) only, and flows still converge.
 *  - scale_updates, scale_max: growth per RTT, not per event. By the event,
 *    fast flows grow more often and the shares lock at 2:1 and the like.
 *  - decrease_once, max_decrease_milli, max_high_milli: one bounded decrease
 *    per RTT.
 *  - t_high a little over t_low, with its own softer beta_high_milli: bounds
 *    the tail when flows are many and their gradients weak.
 *  - high_drain: no decrease for a queue that is already draining.
 *  - hai_low, hai_us: HAI below t_low too, but only after a time that is much
 *    longer than the oscillation of the queue, equal for slow and fast flows.
 *  - fill_empty: larger steps while the path stays empty. Otherwise the rate that a
 *    cut took for another flow's burst stays free for milliseconds.
 *  - climb_back: after such a burst in some round trips to the rate before it.
 *  - own_bursts: half of a flow's own burst is queue, which others meet.
 *  - noise_max_us: what is independent from sample to sample is no queue. Without
 *    it, noise of t_low's size stops all flows.
 *  - rare_rtts: growth that no sample can stop in time is kept small, without
 *    a step in the weight, which would split equal flows into fast and slow.
 *  - path_law: T_low, T_high and minRTT are of the path: its base RTT, which is
 *    tracked (timely_base.h, timely_drain.h), and room for queue above it
 *    (timely_path.h). Bounds of cuts, HAI and the floor go by round trips.
 *
 * Fixed point of timely_patched (gradient 0, so w = 1/2): the step balances the
 * decrease at rtt = low * (1 + W * step(R) / (beta * R)). W is the weight of an
 * event, R the fair share and low the path's lower threshold. With a fixed step,
 * W = 1 and R = C / N this is eq. 31 of ECNDELAY16.
 */
#ifndef TIMELY_RATE_H
#define TIMELY_RATE_H

#include "timely_loss.h"

static inline void timely_report(const struct timely_state *s,
				 const struct timely_params *p,
				 const struct timely_path *path,
				 enum timely_branch branch,
				 struct timely_outcome *out)
{
	out->branch = branch;
	out->rtt_diff_q = s->rtt_diff_q;
	out->unit_ns = path->unit_ns;
	out->rate_bps = s->rate_bps;
	out->pi_p_q = p->variant == TIMELY_VARIANT_PI ? s->pi_p_q : 0;
}

/*
 * Begin at rate_bps; base_ns is the handshake's RTT. The engine only remembers
 * the first sample.
 */
static inline void timely_rate_start(struct timely_state *s,
				     const struct timely_params *p, u64 rate_bps,
				     u64 base_ns)
{
	s->rate_bps = timely_clamp_rate(p, 0, rate_bps);
	s->high_rate_bps = 0;
	s->round_start_ns = 0;
	s->undo_rate_bps = 0;
	s->last_event_ns = 0;
	s->hai_span_us = 0;
	s->in_round = 0;
	s->jitter_q = 0;
	s->spike_ns = 0;
	s->step_up = 0;
	s->climb = 0;
	s->burst = 0;
	timely_path_start(s, base_ns);
	timely_forget_samples(s, p);
	timely_pi_start(s, p);
}

/* An RTT sample without noise. */
struct timely_reading {
	u64 clean_ns;
	u64 last_ns;	/* of the sample before, elapsed_ns ago */
	u64 level_ns;	/* clean, and the waits for interrupts that thresholds have room for */
	u64 elapsed_ns;
};

/* Take the noise out of a sample, and enter it into the gradient. */
static inline void timely_read(struct timely_state *s, const struct timely_params *p,
			       const struct timely_path *path, u64 rtt_ns, u64 elapsed_ns,
			       struct timely_reading *reading)
{
	u64 floor_ns;

	elapsed_ns = timely_min(elapsed_ns, TIMELY_RTT_MAX_NS);
	floor_ns = timely_noise_floor_ns(s, p, rtt_ns, elapsed_ns, path->low_ns, path->slack_ns);
	reading->elapsed_ns = elapsed_ns;
	reading->last_ns = timely_clean_rtt_ns(s, p, s->prev_rtt_ns);
	timely_track_noise(s, rtt_ns, elapsed_ns, floor_ns);
	reading->clean_ns = timely_clean_rtt_ns(s, p, rtt_ns);
	/* The least of some samples is the luckiest. */
	reading->level_ns = timely_min(rtt_ns, reading->clean_ns + path->waits_ns);
	timely_track_gradient(s, p, path, (s64)reading->clean_ns - (s64)reading->last_ns, elapsed_ns);
	s->prev_rtt_ns = rtt_ns;
}

/* Change the rate as the sample asks for. */
static inline enum timely_branch timely_answer(struct timely_state *s, const struct timely_params *p,
					       const struct timely_path *path,
					       const struct timely_sample *sample,
					       const struct timely_reading *reading)
{
	u64 elapsed_ns = reading->elapsed_ns, level_ns = reading->level_ns;
	s64 low_ns = (s64)path->low_ns;
	struct timely_verdict verdict;

	if (s->draining)
		return TIMELY_BRANCH_DRAIN;
	if (timely_climbing(s, path->low_ns, level_ns) &&
	    timely_may_grow(s, p, sample, elapsed_ns)) {
		timely_climb(s, p, sample->cap_bps, level_ns, elapsed_ns);
		return TIMELY_BRANCH_LOW;
	}
	if (p->variant == TIMELY_VARIANT_PI)
		timely_pi_step(s, p, (s64)reading->clean_ns - low_ns, (s64)reading->last_ns - low_ns,
			       elapsed_ns, timely_pi_is_held(s, p, sample, s->prev_rtt_ns));
	timely_judge(s, p, path, level_ns, elapsed_ns, &verdict);
	timely_apply(s, p, sample, elapsed_ns, level_ns, &verdict);
	return verdict.branch;
}

/* One event. Fills in path, by which the caller reports. */
static inline enum timely_branch timely_enter(struct timely_state *s, const struct timely_params *p,
					      const struct timely_sample *sample,
					      struct timely_path *path)
{
	u64 rtt_ns = timely_max(timely_min(sample->rtt_ns, TIMELY_RTT_MAX_NS), 1);
	u64 elapsed_ns = timely_since_ns(sample->now_ns, s->last_event_ns);
	struct timely_reading reading;

	if (rtt_ns < timely_us_to_ns(p->rtt_floor_us)) {
		timely_path_find(path, s, p, sample);
		return TIMELY_BRANCH_DROPPED;
	}
	s->last_event_ns = sample->now_ns & TIMELY_MOMENT_MASK;
	if (p->path_law)
		timely_path_sample(s, p, sample->now_ns, rtt_ns, elapsed_ns,
				   sample->coalesce_ns);
	timely_path_find(path, s, p, sample);
	timely_path_watch_bursts(s, path, sample, rtt_ns);
	if (timely_is_merged(s, p, sample, elapsed_ns)) {
		timely_merge(s, rtt_ns, elapsed_ns);
		return TIMELY_BRANCH_MERGED;
	}
	if (!s->prev_rtt_ns) {
		s->prev_rtt_ns = rtt_ns;
		s->rate_bps = timely_clamp_rate(p, sample->cap_bps, s->rate_bps);
		return TIMELY_BRANCH_FIRST;
	}
	timely_read(s, p, path, rtt_ns, elapsed_ns, &reading);
	return timely_answer(s, p, path, sample, &reading);
}

/* One completion event. */
static inline void timely_rate_sample(struct timely_state *s,
				      const struct timely_params *p,
				      const struct timely_sample *sample,
				      struct timely_outcome *out)
{
	struct timely_path path;
	enum timely_branch branch = timely_enter(s, p, sample, &path);

	timely_report(s, p, &path, branch, out);
}

/*
 * A burst costs the host as much as tens of segments, and small bursts help only against a queue.
 * So bursts grow by this part of the time without a queue, to a millisecond at most, as TCP's own
 * pacing has. If they grew faster, 400 flows would have a longer queue: their samples are too rare.
 */
#define TIMELY_CALM_PART	512
#define TIMELY_CALM_MAX_US	1000

/* Time that a burst is worth at the flow's rate. */
static inline u32 timely_burst_us(const struct timely_state *s, const struct timely_params *p)
{
	u32 calm_us = timely_min(s->hai_span_us / TIMELY_CALM_PART, TIMELY_CALM_MAX_US);

	if (!p->path_law || p->variant == TIMELY_VARIANT_PI || !s->hai_count)
		return p->burst_us;
	return timely_max(p->burst_us, calm_us);
}

/* Bytes of a burst, which is also a completion event. */
static inline u32 timely_burst_bytes(const struct timely_state *s,
				     const struct timely_params *p, u32 mss)
{
	u32 pair = 2 * mss;
	u64 bytes = p->seg_bytes;

	if (p->burst_us)
		bytes = timely_min(bytes, timely_div((u64)s->rate_bps * timely_burst_us(s, p),
						     8000000));
	/*
	 * Even numbers of segments: a receiver acknowledges every second one
	 * at once, the odd last one only when its delayed-ACK timer says so.
	 */
	if (bytes <= pair || !mss)
		return pair;
	return (u32)timely_div(bytes, pair) * pair;
}

#endif /* TIMELY_RATE_H */
