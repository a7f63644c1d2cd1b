/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to look for the base RTT (minRTT of TIMELY15): remembers when a sample was last near
 * it, and the rate of then.
 */
#ifndef TIMELY_WATCH_H
#define TIMELY_WATCH_H

#include "timely_noise.h"

/* With this window a flow finds in less than a second that its path got longer. */
#define TIMELY_PATH_NEAR_WINDOW_NS	250000000ULL
#define TIMELY_PATH_NEAR_RTTS		128	/* a drain takes about four RTTs */
/* A flow that sends less often than this has no part in the queue. */
#define TIMELY_PATH_SILENCE_NS		(TIMELY_PATH_NEAR_WINDOW_NS / 4)
/* The base is lost only if the rate fell to this part since a sample was near it. */
#define TIMELY_PATH_LOST_RATE		4
/* Two round trips of drain in so many cost less than 1 %. */
#define TIMELY_PATH_DRAIN_WINDOW_NS	1000000000ULL
#define TIMELY_PATH_DRAIN_WINDOW_RTTS	256
#define TIMELY_PATH_DRAIN_WINDOW_MAX_NS	16000000000ULL	/* what fits into a tick, halved */
/*
 * The first drains come sooner, each after four times as long as the one before. After a
 * start in a queue all bases are wrong, and the queue of 400 flows lasts.
 */
#define TIMELY_PATH_FIRST_WINDOW_NS	4000000ULL
#define TIMELY_PATH_FIRST_RTTS		4
#define TIMELY_PATH_DRAINS		4
#define TIMELY_PATH_TICK_SHIFT	20	/* nearly milliseconds */
#define TIMELY_PATH_TICK_MASK	0x3fff
#define TIMELY_DRAIN_TICK_SHIFT	12	/* 4 us */
#define TIMELY_DRAIN_TICK_MASK	0x7fffff
/* A window with fewer samples says nothing about the queue. */
#define TIMELY_PATH_EVENTS	4
/*
 * A sample is near the base within a quarter of t_low_us over it, since a base that is
 * wrong by so much stops no flow; within 1/32 of the base on longer paths.
 */
#define TIMELY_PATH_NEAR_PART	4
#define TIMELY_PATH_NEAR_SHIFT	5
#define TIMELY_BASE_MAX_NS	0xffffffffULL
/*
 * A rack of 20 us has a base of 17 without its own bursts, but its thresholds are those of 20 us.
 * Counted from 17, four patched flows beside forty limited ones (timely-paths) have a Jain index
 * of .72 in one seed of five, and .84 with this. A shorter path of timely gets at most those 3 us
 * more. With 10, a flow of 10 us takes up to six times the rate of one of 50 us (battery/mixed),
 * and with 4 up to 2.5. Patched flows have less room, all of it for the bursts of others, and need
 * the 20 us: with less, two of 5 us stay at 2.6 to 1 (patched-fig9, patched_default).
 */
#define TIMELY_PATH_BASE_MIN_NS	20000
#define TIMELY_PATH_BASE_MORE_NS 3000

/* The base RTT from which thresholds count. */
static inline u64 timely_path_origin_ns(const struct timely_state *s, const struct timely_params *p)
{
	u64 origin_ns = TIMELY_PATH_BASE_MIN_NS;

	if (p->variant == TIMELY_VARIANT_PI)
		return s->base_ns;
	if (p->own_bursts)
		origin_ns = timely_min((u64)s->base_ns + TIMELY_PATH_BASE_MORE_NS, origin_ns);
	return timely_max(s->base_ns, origin_ns);
}

/* base_ns: the handshake's RTT; 0: unknown. */
static inline void timely_path_start(struct timely_state *s, u64 base_ns)
{
	s->base_ns = timely_min(base_ns, TIMELY_BASE_MAX_NS);
	s->draining = 0;
	s->drained = 0;
	s->drain_tick = 0;
	s->near_rate = 0;
	s->path_events = 0;
	s->path_tick = 0;
	s->below = 0;
}

static inline u32 timely_drain_tick(u64 now_ns)
{
	return (now_ns >> TIMELY_DRAIN_TICK_SHIFT) & TIMELY_DRAIN_TICK_MASK;
}

/* Time since this drain began, or the last one ended. */
static inline u64 timely_drain_since_ns(const struct timely_state *s, u64 now_ns)
{
	u32 ticks = (timely_drain_tick(now_ns) - s->drain_tick) & TIMELY_DRAIN_TICK_MASK;

	return (u64)ticks << TIMELY_DRAIN_TICK_SHIFT;
}

static inline u64 timely_path_tick(u64 now_ns)
{
	return (now_ns >> TIMELY_PATH_TICK_SHIFT) & TIMELY_PATH_TICK_MASK;
}

/* A rate in nine bits, to an eighth of it. */
static inline u32 timely_rate_pack(u64 rate_bps)
{
	u32 log = tp_log2(timely_max(rate_bps, 8));

	return 8 * log + ((rate_bps >> (log - 3)) & 7);
}

static inline u64 timely_rate_unpack(u32 packed)
{
	return packed < 24 ? 0 : (8ULL + (packed & 7)) << (packed / 8 - 3);
}

/*
 * A sample is near the base. In a drain the rate before it counts. The rate that is remembered rises
 * by an eighth at most: samples of a climb show the queue of half that rate. Without that bound forty
 * answers every 4 ms need 6.4 ms on average, and 3.1 with it (battery/incast timely,4ms, seed 1).
 * And it rises once in a round trip, or a tick of the watch, as all samples of one round trip may show
 * the path of before the climb: flows on 300 us swing for up to 94 ms after their start without that,
 * and for 21 with it (timely-paths timely,base300).
 */
static inline void timely_path_is_near(struct timely_state *s, u64 now_ns, u64 elapsed_ns)
{
	u32 packed = timely_rate_pack(s->draining ? s->high_rate_bps : s->rate_bps);
	u32 tick = timely_path_tick(now_ns);
	u32 most = s->near_rate + (elapsed_ns >= s->base_ns || tick != s->path_tick);

	s->path_tick = tick;
	s->near_rate = s->near_rate ? timely_min(packed, most) : packed;
}

/* Ticks since a sample was near the base. */
static inline u32 timely_path_near_ticks(const struct timely_state *s, u64 now_ns)
{
	return (timely_path_tick(now_ns) - s->path_tick) & TIMELY_PATH_TICK_MASK;
}

/* From a drain to the next while drains come early. */
static inline u64 timely_path_early_ns(const struct timely_state *s)
{
	return timely_max(TIMELY_PATH_FIRST_WINDOW_NS,
			  (u64)s->base_ns * TIMELY_PATH_FIRST_RTTS) << (2 * s->drained);
}

/*
 * Did no sample come near the base in its window, and did that cost the rate? The
 * handshake's frames are small, so data may never reach its RTT. Hence from the second
 * drain on it is enough that no sample did since the one before.
 */
static inline bool timely_path_is_lost(const struct timely_state *s, u64 now_ns)
{
	u64 ticks = timely_path_near_ticks(s, now_ns);
	u64 window_ns = timely_max(TIMELY_PATH_NEAR_WINDOW_NS,
				   (u64)s->base_ns * TIMELY_PATH_NEAR_RTTS);

	if (s->drained)
		window_ns = timely_min(window_ns, timely_path_early_ns(s));
	return ticks << TIMELY_PATH_TICK_SHIFT >= window_ns &&
	       (u64)s->rate_bps * TIMELY_PATH_LOST_RATE < timely_rate_unpack(s->near_rate);
}

/* A climb goes first: it sees no queue, and it would end with the drain. */
static inline bool timely_path_wants_drain(const struct timely_state *s,
					   u64 now_ns)
{
	u64 window_ns = timely_path_early_ns(s);

	if (s->drained >= TIMELY_PATH_DRAINS)
		window_ns = timely_max(TIMELY_PATH_DRAIN_WINDOW_NS,
				       (u64)s->base_ns * TIMELY_PATH_DRAIN_WINDOW_RTTS);
	window_ns = timely_min(window_ns, TIMELY_PATH_DRAIN_WINDOW_MAX_NS);
	return !s->climb && s->path_events >= TIMELY_PATH_EVENTS &&
	       (timely_drain_since_ns(s, now_ns) >= window_ns ||
		timely_path_is_lost(s, now_ns));
}

#endif /* TIMELY_WATCH_H */
