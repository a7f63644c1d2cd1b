/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The thresholds T_low and T_high of TIMELY15 on this path.
 *
 *   RTT  0        base      low            high
 *        |---------|---------|--------------|------->
 *                     room        gap
 *
 * The papers' law has constants for one rack: T_low, T_high, minRTT. This law has the
 * same three for each path: base + room, base + room + gap, base. The base of a short
 * path counts as timely_path_origin_ns() for the thresholds.
 */
#ifndef TIMELY_PATH_H
#define TIMELY_PATH_H

#include "timely_base.h"

/*
 * Room for a burst of each neighbour: in TIMELY15 (section 6.3) T_low grows with the
 * segment, and 8 frames are the 12 KB of a 10 Gbit/s line's shipped burst.
 */
#define TIMELY_LINE_FRAMES	8
/*
 * A port on the path may be slower than the line, but not slower than this flow. Two
 * frames at the flow's rate are its smallest burst, of which the second waits for the
 * first. The base contains the frame times of a slow port, so the base is room enough,
 * less the 25 us that a rack's path takes by itself with noise.
 */
#define TIMELY_OWN_FRAMES	2
#define TIMELY_OWN_LESS_NS	25000
/*
 * Rates answer to the queue of one round trip ago. So the queue of a longer path swings wider, and if
 * flows swing together, the link idles at its lowest point. A 64th part of the base beyond 40 us is
 * room for that: the worst of five runs of four flows on 100, 200 and 300 us has 95.6, 97.9 and 97.3 %
 * of the link with it, and 95.0, 95.3 and 94.9 without (timely-paths). With a 32nd, a flow of 200 us
 * takes up to 4.7 times the rate of one of 10 us, and 3.1 with this (battery/mixed). Patched flows
 * have no such room: four hundred of them do not have the 99th percentile that rack_sim_test allows
 * with it.
 */
#define TIMELY_SWING_PART	64
#define TIMELY_SWING_LESS_NS	40000
#define TIMELY_SWING_MAX_NS	200000
/*
 * A flow meets the bursts of others in the queue and never its own. So the flow with the largest
 * bursts sees the shortest queue, and one of 6 Gbit/s among seven of .8 would keep what it has. On
 * average half a burst is still there when another comes.
 */
#define TIMELY_OWN_BURSTS	2
/*
 * If the link to this host is busy, ACKs wait behind the data of others, in a queue as long as this
 * flow keeps its own. That needs more room: all of it from a load of 5/16 on, and none below 1/16,
 * which ACKs alone make.
 */
#define TIMELY_BACK_ROOMS	3
#define TIMELY_BACK_FREE	(1U << (TIMELY_LOAD_SHIFT - 4))
#define TIMELY_BACK_FULL	(1U << (TIMELY_LOAD_SHIFT - 2))
/*
 * A NIC that coalesces interrupts holds each ACK, and the peer's NIC, which most often is alike, the
 * data: for half the coalescing time each on average, and a sample in two of that has more.
 */
#define TIMELY_WAITS_MORE	2
/* Bursts of a neighbour move RTTs by microseconds on the shortest path, too. */
#define TIMELY_UNIT_MIN_NS	10000

/* Mean of what TCP's least RTT loses to whole microseconds. */
#define TIMELY_HANDSHAKE_ROUND_NS 500

/* Where the thresholds are for one sample; RTTs in ns. */
struct timely_path {
	u64 base_ns;
	u64 low_ns;
	u64 high_ns;
	u64 unit_ns;		/* of the gradient */
	u64 slack_ns;		/* jitter that the bursts of others make */
	u64 waits_ns;		/* of a sample for interrupts, for which the thresholds have room */
};

/* Room for the swing of a longer path's queue. */
static inline u64 timely_path_swing_ns(u64 base_ns)
{
	return timely_less(timely_min(base_ns, TIMELY_SWING_MAX_NS), TIMELY_SWING_LESS_NS) /
	       TIMELY_SWING_PART;
}

/* Room for queue below the lower threshold. */
static inline u64 timely_path_room_ns(const struct timely_state *s,
				      const struct timely_params *p,
				      const struct timely_sample *sample)
{
	u64 bytes = sample->frame_bytes ? sample->frame_bytes : TIMELY_FRAME_BYTES;
	u64 room_ns = timely_max(timely_us_to_ns(p->t_low_us),
				 TIMELY_LINE_FRAMES * (u64)sample->frame_ns);
	u64 most_ns = timely_less(s->base_ns, TIMELY_OWN_LESS_NS);

	if (most_ns <= room_ns)
		return room_ns;
	return timely_max(room_ns, timely_min(most_ns,
					      timely_div(TIMELY_OWN_FRAMES * bytes * 8000000000ULL,
							 timely_max(s->rate_bps, 1))));
}

/* Part of the room that the flow's own bursts take, beyond the smallest, which all have. */
static inline u64 timely_path_own_ns(const struct timely_sample *sample)
{
	u64 least_ns = TIMELY_OWN_FRAMES * (u64)sample->frame_ns;

	return timely_less(sample->burst_ns, least_ns) / TIMELY_OWN_BURSTS;
}

/* More room for the queue of the way back. */
static inline u64 timely_path_back_ns(const struct timely_sample *sample, u64 room_ns)
{
	u64 load = timely_min(timely_less(sample->back_load, TIMELY_BACK_FREE), TIMELY_BACK_FULL);

	return TIMELY_BACK_ROOMS * room_ns * load / TIMELY_BACK_FULL;
}

/*
 * The queue at which timely_pi holds a sample. The base is mostly the handshake's RTT: in whole
 * microseconds, rounded down, and of frames that a port takes no time to send.
 */
static inline u64 timely_path_reference_ns(const struct timely_params *p,
					   const struct timely_sample *sample)
{
	return timely_us_to_ns(p->t_low_us) + sample->frame_ns + TIMELY_HANDSHAKE_ROUND_NS;
}

/* Mean wait of a sample for the interrupts of both NICs. timely_pi holds the least sample. */
static inline u64 timely_path_wait_ns(const struct timely_params *p,
				      const struct timely_sample *sample)
{
	return p->variant == TIMELY_VARIANT_PI ? 0 : sample->coalesce_ns;
}

static inline void timely_path_find(struct timely_path *path,
				    const struct timely_state *s,
				    const struct timely_params *p,
				    const struct timely_sample *sample)
{
	u64 gap_ns = timely_us_to_ns(p->t_high_us - p->t_low_us);
	u64 wait_ns, more_ns, room_ns;

	path->waits_ns = 0;
	if (!p->path_law) {
		path->base_ns = 0;
		path->low_ns = timely_us_to_ns(p->t_low_us);
		path->high_ns = timely_us_to_ns(p->t_high_us);
		path->unit_ns = timely_us_to_ns(p->min_rtt_us);
		path->slack_ns = TIMELY_NOISE_SLACK_NS;
		return;
	}
	wait_ns = timely_path_wait_ns(p, sample);
	path->waits_ns = wait_ns + wait_ns / TIMELY_WAITS_MORE;
	more_ns = timely_max(timely_max(sample->coalesce_ns, path->waits_ns),
			     timely_noise_shift_ns(s, p));
	if (p->variant == TIMELY_VARIANT_PI)
		room_ns = timely_path_reference_ns(p, sample);
	else
		room_ns = timely_path_room_ns(s, p, sample);
	if (p->own_bursts) {
		room_ns = timely_less(room_ns, timely_path_own_ns(sample));
		more_ns = timely_max(more_ns, timely_path_swing_ns(s->base_ns));
	}
	room_ns += timely_path_back_ns(sample, room_ns);
	room_ns += more_ns;
	path->base_ns = s->base_ns + wait_ns;
	path->low_ns = timely_path_origin_ns(s, p) + room_ns;
	path->high_ns = path->low_ns + timely_max(gap_ns, room_ns / 2);
	path->unit_ns = timely_max(path->base_ns, TIMELY_UNIT_MIN_NS);
	/* Another flow's burst of two frames is no jitter, and jumbo frames are longer. */
	path->slack_ns = timely_max(TIMELY_NOISE_SLACK_NS, 2 * (u64)sample->frame_ns);
}

/*
 * A queue above the upper threshold of a flow without bursts is a burst's of others. What shorter ones
 * take makes shares even: flows that return from these, too, have shares of 3.8 to 1, and less than a
 * tenth of the mean behind a policer (battery/mixed, all, 10 us and 50 us; timely-policed).
 */
static inline void timely_path_watch_bursts(struct timely_state *s, const struct timely_path *path,
					    const struct timely_sample *sample, u64 rtt_ns)
{
	if (rtt_ns > path->high_ns + timely_path_own_ns(sample))
		s->burst = 1;
}

/* The RTT that a window allows: the upper threshold, and the wait for one interrupt. */
static inline u64 timely_path_window_ns(const struct timely_path *path,
					const struct timely_sample *sample)
{
	return path->high_ns + sample->coalesce_ns;
}

#endif /* TIMELY_PATH_H */
