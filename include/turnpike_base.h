/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From raw delay to queueing delay, with clocks that are not synchronized.
 *
 * A raw delay is a time read at the receiver less one read at the sender: the true
 * delay plus an unknown offset, which drifts.  Queueing only adds, so the smallest raw
 * delays are those of the empty path, the base delay (the idea is RFC 6817's).
 *
 *   raw |      .  :            .
 *       |   . .:. : .   . :  .: .          queueing delay = raw - line
 *       |  ._:_.:..__:.__.:__._:_          line: under all minima of the last eight
 *       |                                  half seconds, through those about the middle
 *       +------------------------> time
 *
 * The line is the lower convex hull's edge over the middle of the window.  It follows
 * drift, and a queue that stands for less than half the window does not move it.  A raw
 * delay below the line moves the line down at once.
 *
 * Only a step moves it up at once: an offset that was set, a longer route.  Samples that
 * do not vary show a step: for a whole tenth of a second none comes near the line, and all
 * are about the same.  A queue that On-Ramp or TIMELY regulates varies all the time.
 *
 * sch_onramp (ONRAMP21) uses this for the way there, by timestamps and by OR-ACKs, and
 * tcp_timely (TIMELY15) for the way back.
 */
#ifndef TURNPIKE_BASE_H
#define TURNPIKE_BASE_H

#include "include/turnpike_types.h"

/* Half the window is longer than queues stand.  The whole is short enough that drift shows
 * after three slots: 1.5 s, in which 20 us/s make 30 us.
 */
#define TP_BASE_SLOTS	8
#define TP_BASE_SLOT_NS	500000000ULL
#define TP_BASE_FIT_SLOTS	3

/* Two free-running crystals of 100 ppm each. */
#define TP_BASE_DRIFT_PPB	200000

/* A line older than this says nothing about now: in 16 s an unseen change of drift by 1 us/s
 * makes 16 us.
 */
#define TP_BASE_IDLE_NS	16000000000ULL

/* A step below 40 us pauses no flow at any threshold in use, and is less than t_low. */
#define TP_BASE_STEP_NS		40000
#define TP_BASE_STEP_TIME_NS	100000000ULL
#define TP_BASE_STEP_SAMPLES	16

struct tp_base_point {
	u64 time_ns;
	s64 raw_ns;
};

struct tp_base {
	struct tp_base_point min[TP_BASE_SLOTS];	/* newest first */
	u64 slot_end_ns;	/* of min[0] */
	u64 line_time_ns;	/* the line goes through (line_time_ns, line_raw_ns) */
	s64 line_raw_ns;
	u64 newest_ns;		/* time of the newest sample */
	u64 step_end_ns;	/* end of the tenth of a second watched for a step */
	u64 step_low_ns;	/* smallest queueing delay in it */
	u64 step_high_ns;	/* largest queueing delay in it */
	u32 step_samples;	/* samples in it */
	s32 drift_ppb;
	u32 slots;		/* entries of min[] in use; 0: no sample yet */
	u32 steps;		/* steps seen; for statistics */
};

static inline void tp_base_init(struct tp_base *b)
{
	b->slots = 0;
	b->steps = 0;
	b->drift_ppb = 0;
}

static inline s64 tp_base_drifted(s32 drift_ppb, s64 elapsed_ns)
{
	u64 elapsed = elapsed_ns < 0 ? -elapsed_ns : elapsed_ns;
	u64 rate = drift_ppb < 0 ? -(s64)drift_ppb : drift_ppb;
	u64 drifted;

	/* 2^50 / 10^9, for a division by 10^9: wrong by less than 10^-6. */
	drifted = tp_mul_shr(elapsed * rate, 1125900, 50);
	return (elapsed_ns < 0) == (drift_ppb < 0) ? (s64)drifted : -(s64)drifted;
}

static inline s64 tp_base_at(const struct tp_base *b, u64 now_ns)
{
	return b->line_raw_ns +
	       tp_base_drifted(b->drift_ppb, (s64)(now_ns - b->line_time_ns));
}

static inline void tp_base_restart(struct tp_base *b, u64 now_ns, s64 raw_ns)
{
	b->min[0].time_ns = now_ns;
	b->min[0].raw_ns = raw_ns;
	b->slots = 1;
	b->slot_end_ns = now_ns + TP_BASE_SLOT_NS;
	b->line_time_ns = now_ns;
	b->line_raw_ns = raw_ns;
	b->newest_ns = now_ns;
	b->step_samples = 0;
}

/* Slope of the lower hull's edge over the middle of the window: of all lines from a point
 * before the middle to one after it, that edge is the lowest at the middle.
 */
static inline s32 tp_base_slope_ppb(const struct tp_base *b)
{
	const struct tp_base_point *last = &b->min[b->slots - 1];
	s64 middle_ns = (s64)(b->min[0].time_ns - last->time_ns) / 2;
	s64 lowest_ns = 0, best_ppb = 0, slope, height_ns;
	bool found = false;
	u32 i, j;

	for (i = 0; i < b->slots; i++) {
		for (j = i + 1; j < b->slots; j++) {
			s64 from_ns = (s64)(b->min[j].time_ns - last->time_ns);
			s64 to_ns = (s64)(b->min[i].time_ns - last->time_ns);
			s64 rise_ns = b->min[i].raw_ns - b->min[j].raw_ns;
			u64 run_us = tp_div(to_ns - from_ns, 1000);
			u64 size;

			if (from_ns > middle_ns || to_ns <= middle_ns || !run_us)
				continue;
			/* ns per us is 10^6 ppb; more than 1 s is no drift anyway. */
			size = rise_ns < 0 ? -rise_ns : rise_ns;
			if (size > 1000000000)
				size = 1000000000;
			slope = (s64)tp_div(size * 1000000, run_us);
			if (slope > TP_BASE_DRIFT_PPB)
				slope = TP_BASE_DRIFT_PPB;
			if (rise_ns < 0)
				slope = -slope;
			height_ns = b->min[j].raw_ns - last->raw_ns +
				    tp_base_drifted((s32)slope, middle_ns - from_ns);
			if (!found || height_ns < lowest_ns) {
				found = true;
				lowest_ns = height_ns;
				best_ppb = slope;
			}
		}
	}
	return (s32)best_ppb;
}

/* Lay the line under all minima, as high as it goes. */
static inline void tp_base_fit(struct tp_base *b)
{
	u32 i;

	b->drift_ppb = b->slots >= TP_BASE_FIT_SLOTS ? tp_base_slope_ppb(b) : 0;
	b->line_time_ns = b->min[0].time_ns;
	b->line_raw_ns = b->min[0].raw_ns;
	for (i = 1; i < b->slots; i++) {
		s64 above_ns = b->min[i].raw_ns - tp_base_at(b, b->min[i].time_ns);

		if (above_ns < 0)
			b->line_raw_ns += above_ns;
	}
}

static inline void tp_base_next_slot(struct tp_base *b, u64 now_ns, s64 raw_ns)
{
	u32 i;

	if (b->slots < TP_BASE_SLOTS)
		b->slots++;
	for (i = b->slots - 1; i; i--)
		b->min[i] = b->min[i - 1];
	tp_base_fit(b);
	b->min[0].time_ns = now_ns;
	b->min[0].raw_ns = raw_ns;
	b->slot_end_ns = now_ns + TP_BASE_SLOT_NS;
}

/* True: the samples watched show a step up, by step_low_ns. */
static inline bool tp_base_is_step(struct tp_base *b, u64 now_ns, u64 queue_ns)
{
	bool step;

	if (!b->step_samples) {
		b->step_end_ns = now_ns + TP_BASE_STEP_TIME_NS;
		b->step_low_ns = queue_ns;
		b->step_high_ns = queue_ns;
	}
	if (queue_ns < b->step_low_ns)
		b->step_low_ns = queue_ns;
	if (queue_ns > b->step_high_ns)
		b->step_high_ns = queue_ns;
	b->step_samples++;
	if (b->step_low_ns < TP_BASE_STEP_NS) {
		b->step_samples = 0;
		return false;
	}
	if (now_ns < b->step_end_ns || b->step_samples < TP_BASE_STEP_SAMPLES)
		return false;
	step = b->step_high_ns - b->step_low_ns < b->step_low_ns / 4;
	b->step_samples = 0;
	return step;
}

/* The caller knows that the empty path is shorter than the line says, by @by_ns
 * (onramp_standing_queue.h).  The minima stay as seen: drift is measured between like and like.
 */
static inline void tp_base_lower(struct tp_base *b, s64 by_ns)
{
	b->line_raw_ns -= by_ns;
}

/* The queueing delay in a raw delay. */
static inline u64 tp_base_sample(struct tp_base *b, u64 now_ns, s64 raw_ns)
{
	s64 queue_ns;

	if (!b->slots || now_ns - b->newest_ns > TP_BASE_IDLE_NS) {
		tp_base_restart(b, now_ns, raw_ns);
		return 0;
	}
	b->newest_ns = now_ns;
	if (now_ns >= b->slot_end_ns) {
		tp_base_next_slot(b, now_ns, raw_ns);
	} else if (raw_ns < b->min[0].raw_ns) {
		b->min[0].time_ns = now_ns;
		b->min[0].raw_ns = raw_ns;
	}
	queue_ns = raw_ns - tp_base_at(b, now_ns);
	if (queue_ns < -TP_BASE_STEP_NS) {
		/* All samples before this are of another clock, path or standing queue. */
		tp_base_restart(b, now_ns, raw_ns);
		b->drift_ppb = 0;
		return 0;
	}
	if (queue_ns < 0) {
		b->line_raw_ns += queue_ns;
		queue_ns = 0;
	}
	if (tp_base_is_step(b, now_ns, (u64)queue_ns)) {
		tp_base_restart(b, now_ns, raw_ns - queue_ns + (s64)b->step_low_ns);
		b->steps++;
		queue_ns -= (s64)b->step_low_ns;
	}
	return (u64)queue_ns;
}

/* Queue and round trip are measured in ticks of a microsecond, at both ends. */
#define TP_BASE_TICKS_NS	2000

/* As tp_base_sample(), for a packet whose round trip is known: its queueing delay cannot be
 * longer.  If it is longer by little, the base was too short.  If by much, the clock or the
 * path has changed.
 */
static inline u64 tp_base_sample_rtt(struct tp_base *b, u64 now_ns, s64 raw_ns, u64 rtt_ns)
{
	u64 queue_ns = tp_base_sample(b, now_ns, raw_ns);
	u64 most_ns = rtt_ns + TP_BASE_TICKS_NS;

	if (queue_ns <= most_ns)
		return queue_ns;
	if (queue_ns - most_ns < TP_BASE_STEP_NS) {
		b->line_raw_ns += (s64)(queue_ns - most_ns);
		return most_ns;
	}
	tp_base_restart(b, now_ns, raw_ns);
	b->drift_ppb = 0;
	b->steps++;
	return 0;
}

#endif /* TURNPIKE_BASE_H */
