/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rate of DCQCN's sender (ECNDELAY16 section 3, equations 1 and 2, and DCQCN's own paper).
 *
 *   mark, at most one in cnp_ns:  R_T = R_C, R_C -= R_C alpha / 2, alpha += g (1 - alpha)
 *   alpha_ns without one:         alpha -= g alpha
 *   timer_ns, or count_bytes:     a stage; R_C = (R_C + R_T) / 2, and before that
 *
 *      stage <= 5 of both counters   nothing          "fast recovery"
 *      one beyond                    R_T += ai_bps    "additive increase"
 *      both beyond                   R_T += hai_bps   "hyper increase"
 *
 * A flow begins at line rate.  The limit of a mark in cnp_ns is that of the receiver's messages
 * (CNPs); here the sender keeps it, as TCP's ACKs tell of every mark.
 */
#ifndef DCQCN_RATE_H
#define DCQCN_RATE_H

#include "include/turnpike_types.h"

#define DCQCN_ALPHA_ONE		(1U << 30)
#define DCQCN_G_SHIFT		8	/* g is 1/256 */
#define DCQCN_STAGES		5	/* of fast recovery: F */

/* After so many steps at once, 55 ms of the paper's timers, alpha is 2 % of what it was. */
#define DCQCN_STEPS_MAX		1000

struct dcqcn_params {
	u64 line_bps;		/* of the NIC */
	u64 floor_bps;		/* no flow sends slower */
	u64 ai_bps;
	u64 hai_bps;
	u64 cnp_ns;		/* tau */
	u64 alpha_ns;		/* tau' */
	u64 timer_ns;		/* T */
	u64 count_bytes;	/* B */
};

struct dcqcn_state {
	u64 current_bps;	/* R_C */
	u64 target_bps;		/* R_T */
	u64 cut_ns;		/* the last decrease, */
	u64 aged_ns;		/* the last step of alpha, */
	u64 ticked_ns;		/* and of the timer */
	u64 counted_bytes;	/* since the byte counter's last stage */
	u32 alpha;		/* of DCQCN_ALPHA_ONE */
	u8 timer_stage;
	u8 byte_stage;
};

static inline void dcqcn_start(struct dcqcn_state *s, const struct dcqcn_params *p, u64 now_ns)
{
	s->current_bps = p->line_bps;
	s->target_bps = p->line_bps;
	s->cut_ns = now_ns - p->cnp_ns;
	s->aged_ns = now_ns;
	s->ticked_ns = now_ns;
	s->counted_bytes = 0;
	s->alpha = DCQCN_ALPHA_ONE;
	s->timer_stage = 0;
	s->byte_stage = 0;
}

/* A stage of one of the counters is over. */
static inline void dcqcn_stage(struct dcqcn_state *s, const struct dcqcn_params *p, u8 *stage)
{
	if (*stage <= DCQCN_STAGES)
		(*stage)++;
	if (s->timer_stage > DCQCN_STAGES && s->byte_stage > DCQCN_STAGES)
		s->target_bps += p->hai_bps;
	else if (s->timer_stage > DCQCN_STAGES || s->byte_stage > DCQCN_STAGES)
		s->target_bps += p->ai_bps;
	if (s->target_bps > p->line_bps)
		s->target_bps = p->line_bps;
	s->current_bps = (s->current_bps + s->target_bps) / 2;
}

/* Steps of @step_ns that are over since *@last_ns, which moves on by them. */
static inline u32 dcqcn_steps(u64 *last_ns, u64 step_ns, u64 now_ns)
{
	u64 steps = tp_div(now_ns - *last_ns, step_ns);

	*last_ns += steps * step_ns;
	return steps < DCQCN_STEPS_MAX ? (u32)steps : DCQCN_STEPS_MAX;
}

/* What the time and the @bytes since the last call without a mark are worth. */
static inline void dcqcn_advance(struct dcqcn_state *s, const struct dcqcn_params *p, u32 bytes,
				 u64 now_ns)
{
	u32 steps;

	for (steps = dcqcn_steps(&s->aged_ns, p->alpha_ns, now_ns); steps; steps--)
		s->alpha -= s->alpha >> DCQCN_G_SHIFT;
	for (steps = dcqcn_steps(&s->ticked_ns, p->timer_ns, now_ns); steps; steps--)
		dcqcn_stage(s, p, &s->timer_stage);
	s->counted_bytes += bytes;
	if (s->counted_bytes >= p->count_bytes) {
		s->counted_bytes = 0;
		dcqcn_stage(s, p, &s->byte_stage);
	}
}

/* A mark came back. */
static inline void dcqcn_marked(struct dcqcn_state *s, const struct dcqcn_params *p, u64 now_ns)
{
	if (now_ns - s->cut_ns < p->cnp_ns)
		return;
	s->target_bps = s->current_bps;
	s->current_bps -= tp_mul_shr(s->current_bps, s->alpha, 31);
	if (s->current_bps < p->floor_bps)
		s->current_bps = p->floor_bps;
	s->alpha += (DCQCN_ALPHA_ONE - s->alpha) >> DCQCN_G_SHIFT;
	s->cut_ns = now_ns;
	s->aged_ns = now_ns;
	s->ticked_ns = now_ns;
	s->counted_bytes = 0;
	s->timer_stage = 0;
	s->byte_stage = 0;
}

#endif /* DCQCN_RATE_H */
