/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pausing rule of On-Ramp (ONRAMP21, section 3), for one flow.
 *
 *      O > T                     pause until now + O - T                     strawman, eq. 2
 *      O - b P > T               pause until now + O - T - b P               paper, eq. 3, 4
 *      O - (1/4 + b) / 4 P > T   pause until now + O - T - (1/4 + b) / 4 P   final
 *      b <- (1 - g) b + g clamp((O_B - O_G) / P_BG, 0, 1)                    eq. 3, if P_BG > 0
 *
 * The modes have the names that tc has.  The default, "final", is no equation of ONRAMP21, whose
 * "final On-Ramp" is eq. 4.  It has more of P for a flow alone and on a far path (below).
 *
 * O is the delay of the packet just acknowledged, the green one; B is the one acknowledged before
 * it.  P is the time that the flow was paused since the green packet left.  P_BG is the time it
 * was paused between the departures of the two.  One counter of all time paused serves for both:
 * each departure notes it, and P and P_BG are differences of such notes.
 *
 *      pause                  ____           ________
 *      asserted        ______|    |_________|        |____
 *      counter         000000 12344444444444 5678...
 *      departures         B          G                 ack of G: P = now - note of G
 *
 * What b measures depends on the flow's share.  Pauses of a flow with nearly all of the link
 * empty the queue; those of a flow with little do not.  By eq. 4 the large flow forgives nearly
 * all of its P, so it is paused less and gets larger.  Two flows on a path of half their own
 * lines ended at 85 and 15 %, with a b of .74 and .06.  Shares become equal when flows are paused
 * for the same part of the time (onramp_release.h).  So in mode final b counts for a quarter,
 * beside a sixteenth.
 *
 * Where the round trip is longer than 2 T, much of P is younger than the delay that the packet saw.
 * Flows that stop together then stop for too long, and the line idles: four CUBIC flows had 67 % of
 * it at 220 us, and four BBR flows 71 % at 1 ms.  So more of P counts there, and in the end all
 * of it (onramp_pause_far()): 95 and 98 %.
 *
 * A flow alone on its own line takes no share from others.  Its pauses are mostly for the queue
 * of its own host, and eq. 4 serves it best.  That matters most where a window bounds what could
 * make up for a pause.
 *
 * The rule takes one-way delay or queueing delay, as long as T is of the same kind; the callers
 * here give queueing delay.
 * State in, event in, state out; nothing else is read or written.
 */
#ifndef ONRAMP_PAUSE_H
#define ONRAMP_PAUSE_H

#include "include/turnpike_types.h"

/* beta in [0, 1], scaled by this. */
#define ONRAMP_BETA_SHIFT	30
#define ONRAMP_BETA_ONE		(1U << ONRAMP_BETA_SHIFT)

/* Of mode final: log2 of the 4 there.  With less of b and more beside it shares meet sooner, and
 * queues are longer.  1/8 and b/8 have a 99th percentile of 88 us for 12 flows where 1/16 and b/4
 * have 87 and eq. 4 has 89.  With b/4 and no 1/16 beside it flows by receipts leave 3.5 % of the
 * link, as receipts come less often than ACKs.
 */
#define ONRAMP_FINAL_SHIFT	2

/* No delay of a path within a datacenter is longer; keeps the arithmetic in range. */
#define ONRAMP_DELAY_MAX_NS	(1ULL << 32)

/* g = 1/16 (section 5); T of a fabric of 10 Gbit/s and more (section 3.2). */
#define ONRAMP_GAIN_SHIFT		4
#define ONRAMP_GAIN_SHIFT_MAX		16
#define ONRAMP_THRESHOLD_NS		50000ULL
#define ONRAMP_THRESHOLD_MAX_NS		1000000000ULL

/* A common switch builds no deeper queue: half of 12 MB shared (alpha 1) into a port of 1 Gbit/s
 * drains in 48 ms.  A pause must be able to outlast it.  It stays well below TCP's least
 * retransmission timeout, 200 ms.
 */
#define ONRAMP_PAUSE_MAX_NS		50000000ULL
#define ONRAMP_PAUSE_LIMIT_NS		1000000000ULL

/* In the order of ONRAMP_UAPI_STRAWMAN and so on (onramp_option.c). */
enum onramp_mode {
	ONRAMP_MODE_STRAWMAN,
	ONRAMP_MODE_FINAL,
	ONRAMP_MODE_PAPER,
};

struct onramp_pause_params {
	u64 threshold_ns;	/* T */
	u64 max_ns;		/* longest time a flow is held without sending */
	u8 gain_shift;		/* g = 2^-gain_shift */
	u8 mode;		/* enum onramp_mode */
};

static inline void onramp_pause_params_init(struct onramp_pause_params *c)
{
	c->threshold_ns = ONRAMP_THRESHOLD_NS;
	c->max_ns = ONRAMP_PAUSE_MAX_NS;
	c->gain_shift = ONRAMP_GAIN_SHIFT;
	c->mode = ONRAMP_MODE_FINAL;
}

struct onramp_pause {
	u64 until_ns;		/* t_next: the flow may send from here on */
	u64 counted_ns;		/* up to here the counter is right */
	u64 paused_ns;		/* the counter: all time paused */
	u64 began_ns;		/* when the hold that max_ns bounds began */
	u64 drain_ns;		/* no sample ends a pause before this */
	u64 black_delay_ns;	/* of the sample before; valid if black */
	u64 black_note_ns;	/* counter when its packet left */
	u32 beta;
	bool black;
	bool sent;		/* a packet left since the hold began */
	bool alone;		/* alone on its own line: final is paper */
	u32 far;		/* onramp_pause_far() of the path, for mode final */
};

/* What one sample did, for counters and trace. */
struct onramp_verdict {
	u64 lag_ns;		/* P, the pause since the packet left */
	u64 pause_ns;		/* from now; 0: the sample asked for none */
	bool capped;		/* max_ns cut it */
};

static inline void onramp_pause_init(struct onramp_pause *p, u64 now_ns)
{
	p->until_ns = 0;
	p->counted_ns = now_ns;
	p->paused_ns = 0;
	p->began_ns = 0;
	p->drain_ns = 0;
	p->black_delay_ns = 0;
	p->black_note_ns = 0;
	p->beta = 0;
	p->black = false;
	p->sent = true;
	p->alone = false;
	p->far = 0;
}

/* How far away the far end is, as a part of one: nothing up to a round trip of 2 T, one from 3.5 to
 * 5 T on: 3 T more, rounded down to a power of two, which spares a division.  The first 2 T do not count, since a host may know the path only with a queue of T in it: the p99 of
 * twelve CUBIC flows by receipts is 122 us, and 195 us if T alone does not count.
 */
static inline u32 onramp_pause_far(const struct onramp_pause_params *c, u64 rtt_ns)
{
	u32 log = tp_log2(3 * c->threshold_ns | 1);
	u64 near_ns = 2 * c->threshold_ns;
	u64 over_ns = rtt_ns > near_ns ? rtt_ns - near_ns : 0;

	if (over_ns >> log)
		return ONRAMP_BETA_ONE;
	return (u32)((over_ns << ONRAMP_BETA_SHIFT) >> log);
}

/* Bring the counter up to now. */
static inline void onramp_pause_count(struct onramp_pause *p, u64 now_ns)
{
	u64 end_ns = p->until_ns < now_ns ? p->until_ns : now_ns;

	if (end_ns > p->counted_ns)
		p->paused_ns += end_ns - p->counted_ns;
	if (now_ns > p->counted_ns)
		p->counted_ns = now_ns;
}

/* A packet leaves.  Returns the note to keep with it. */
static inline u64 onramp_pause_sent(struct onramp_pause *p, u64 now_ns)
{
	onramp_pause_count(p, now_ns);
	p->sent = true;
	return p->paused_ns;
}

/* Ends a pause early: its reason does not hold any more. */
static inline void onramp_pause_release(struct onramp_pause *p, u64 now_ns)
{
	onramp_pause_count(p, now_ns);
	p->until_ns = 0;
	p->drain_ns = 0;
	p->black = false;
}

/* eq. 3.  @note_ns: the counter when the green packet left. */
static inline void onramp_pause_learn(struct onramp_pause *p,
				      const struct onramp_pause_params *c, u64 delay_ns,
				      u64 note_ns)
{
	u64 between_ns = note_ns - p->black_note_ns, fall_ns, measured = 0;

	/* Reordered: the black packet left after the green one. */
	if (!p->black || note_ns <= p->black_note_ns)
		return;
	if (p->black_delay_ns > delay_ns) {
		fall_ns = p->black_delay_ns - delay_ns;
		measured = fall_ns < between_ns ?
			   tp_div(fall_ns << ONRAMP_BETA_SHIFT, between_ns) : ONRAMP_BETA_ONE;
	}
	if (measured >= p->beta)
		p->beta += (u32)(measured - p->beta) >> c->gain_shift;
	else
		p->beta -= (p->beta - (u32)measured) >> c->gain_shift;
}

/* Pauses for @pause_ns from now, as far as the bound on the whole hold allows.  The bound starts
 * anew only after a packet left.  So no stream of samples, not even a forged one, holds a flow
 * for longer than max_ns.
 */
static inline void onramp_pause_assert(struct onramp_pause *p,
				       const struct onramp_pause_params *c, u64 now_ns,
				       u64 pause_ns, struct onramp_verdict *v)
{
	u64 end_ns, until_ns = now_ns + pause_ns;

	if (until_ns < p->drain_ns)
		until_ns = p->drain_ns;
	if (p->until_ns <= now_ns && p->sent) {
		p->began_ns = now_ns;
		p->sent = false;
	}
	end_ns = p->began_ns + c->max_ns;
	v->capped = until_ns > end_ns;
	p->until_ns = v->capped ? end_ns : until_ns;
	v->pause_ns = p->until_ns > now_ns ? p->until_ns - now_ns : 0;
}

/* Takes over the pause that another flow's sample of the same path called for. */
static inline void onramp_pause_adopt(struct onramp_pause *p,
				      const struct onramp_pause_params *c, u64 now_ns,
				      u64 until_ns)
{
	struct onramp_verdict v;

	if (until_ns > now_ns && p->until_ns <= now_ns) {
		onramp_pause_count(p, now_ns);
		onramp_pause_assert(p, c, now_ns, until_ns - now_ns, &v);
	}
}

/* Pauses for @pause_ns whatever samples say meanwhile, so that a queue empties. */
static inline void onramp_pause_drain(struct onramp_pause *p,
				      const struct onramp_pause_params *c, u64 now_ns,
				      u64 pause_ns)
{
	struct onramp_verdict v;

	onramp_pause_count(p, now_ns);
	p->drain_ns = now_ns + pause_ns;
	onramp_pause_assert(p, c, now_ns, 0, &v);
}

/* The part of the pause @lag_ns since a packet left that its delay does not show yet. */
static inline u64 onramp_pause_forgiven(const struct onramp_pause *p,
					const struct onramp_pause_params *c, u64 lag_ns)
{
	u32 part = p->beta;

	if (c->mode == ONRAMP_MODE_STRAWMAN)
		return 0;
	if (c->mode == ONRAMP_MODE_FINAL && !p->alone)
		part = ((ONRAMP_BETA_ONE >> ONRAMP_FINAL_SHIFT) + p->beta) >> ONRAMP_FINAL_SHIFT;
	if (c->mode == ONRAMP_MODE_FINAL)
		part += tp_mul_shr(ONRAMP_BETA_ONE - part, p->far, ONRAMP_BETA_SHIFT);
	return tp_mul_shr(lag_ns, part, ONRAMP_BETA_SHIFT);
}

/* Takes the delay of an acknowledged packet.  onramp_pause_sent() gave @note_ns when it left. */
static inline void onramp_pause_sample(struct onramp_pause *p,
				       const struct onramp_pause_params *c, u64 now_ns,
				       u64 delay_ns, u64 note_ns, struct onramp_verdict *v)
{
	u64 over_ns, own_ns;

	v->pause_ns = 0;
	v->capped = false;
	if (delay_ns > ONRAMP_DELAY_MAX_NS)
		delay_ns = ONRAMP_DELAY_MAX_NS;
	onramp_pause_count(p, now_ns);
	v->lag_ns = p->paused_ns - note_ns;
	onramp_pause_learn(p, c, delay_ns, note_ns);
	p->black = true;
	p->black_delay_ns = delay_ns;
	p->black_note_ns = note_ns;
	own_ns = onramp_pause_forgiven(p, c, v->lag_ns);
	if (delay_ns <= c->threshold_ns + own_ns)
		return;
	over_ns = delay_ns - c->threshold_ns - own_ns;
	onramp_pause_assert(p, c, now_ns, over_ns, v);
}

#endif /* ONRAMP_PAUSE_H */
