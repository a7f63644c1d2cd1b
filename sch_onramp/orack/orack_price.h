/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The price: p of timely_pi (ECNDELAY16, equation 32), on which all flows to one receiver agree.
 * Pure, both ends.
 *
 *   flow -> price of this host's flows --- report: mean of a window ---> receiver: mean of all
 *    ^                  |                                                     |
 *    +---- gap = (host's mean - own) + (mean of all - mean reported) <--answer+
 *
 * Both means of the second difference are of the same time, so that it grows old as slowly as
 * flows drift apart, not as fast as the load changes. No paper has this: with p at a switch all
 * flows have one (ECNDELAY16, section 5.2), and here no switch takes part.
 */
#ifndef ORACK_PRICE_H
#define ORACK_PRICE_H

#include "include/turnpike_types.h"
#include "orack_wire.h"

/*
 * How long prices are added up before they are told, at either end. Flows agree within ten
 * milliseconds (timely_agree.h), and an answer is two of these old. A host's reports take
 * 0.2 Mbit/s.
 */
#define ORACK_PRICE_WINDOW_NS	4000000ULL
/* Without an answer for so long a host goes by its own flows. */
#define ORACK_PRICE_STALE_NS	(4 * ORACK_PRICE_WINDOW_NS)
/*
 * After so many reports without an answer windows grow, to a second: the receiver's On-Ramp may
 * be gone.
 */
#define ORACK_PRICE_TRIES	4
#define ORACK_PRICE_PATIENCE	8
/* The mean of a host's flows is over the last 2^3 of what they say. */
#define ORACK_PRICE_LIVE_SHIFT	3

/* Prices added up, each with its weight, until the window ends. */
struct orack_price_window {
	u64 end_ns;
	u64 sum_q;
	u32 weight;
};

static inline void orack_price_add(struct orack_price_window *w, u32 price_q, u32 weight)
{
	/* 2^31 * 2^28 fits; no window of honest hosts has as much. */
	if (w->weight >= 1U << 31)
		return;
	w->sum_q += (u64)price_q * weight;
	w->weight += weight;
}

/* Begins another window if this one has ended.  Returns the weight of the one that ended, and its
 * mean; 0: none did, or it is too old.
 */
static inline u32 orack_price_next_window(struct orack_price_window *w, u64 now_ns, u32 *mean_q)
{
	u32 weight = now_ns < w->end_ns + ORACK_PRICE_STALE_NS ? w->weight : 0;

	if (now_ns < w->end_ns)
		return 0;
	if (weight)
		*mean_q = (u32)tp_div(w->sum_q, weight);
	w->end_ns = now_ns + ORACK_PRICE_WINDOW_NS;
	w->sum_q = 0;
	w->weight = 0;
	return weight;
}

/* -- the sender ------------------------------------------------------------------------- */

/* Prices of this host's flows to a receiver. */
struct orack_price {
	struct orack_price_window window;
	u64 told_ns;			/* time of the report that has no answer yet; 0: none */
	u64 answered_ns;		/* when the last answer came; 0: never */
	u32 told_q;			/* in that report */
	u32 unanswered;			/* reports since the last answer */
	u32 live_q;			/* mean of what flows said last; 0: none */
	s32 gap_q;			/* of the last answer */
};

static inline u64 orack_price_window_ns(u32 unanswered)
{
	u32 more = unanswered < ORACK_PRICE_TRIES ? 0 : unanswered - ORACK_PRICE_TRIES;

	return ORACK_PRICE_WINDOW_NS << (more < ORACK_PRICE_PATIENCE ? more : ORACK_PRICE_PATIENCE);
}

/* A flow says its price.  True: *report is due. */
static inline bool orack_price_said(struct orack_price *p, u32 price_q, u64 now_ns,
				    struct orack_price_entry *report)
{
	bool begins = now_ns >= p->window.end_ns + ORACK_PRICE_STALE_NS;

	report->weight = orack_price_next_window(&p->window, now_ns, &report->price_q);
	if (report->weight) {
		p->told_q = report->price_q;
		p->told_ns = now_ns;
		p->unanswered++;
		p->window.end_ns = now_ns + orack_price_window_ns(p->unanswered - 1);
	}
	if (p->window.weight < ORACK_WEIGHT_MAX)
		orack_price_add(&p->window, price_q, 1);
	if (begins)
		p->live_q = price_q;
	else
		p->live_q += (s32)(price_q - p->live_q) / (1 << ORACK_PRICE_LIVE_SHIFT);
	return report->weight;
}

/* How much higher the price of all is than the flow's. */
static inline s32 orack_price_gap_q(const struct orack_price *p, u32 price_q, u64 now_ns)
{
	s32 gap_q = (s32)(p->live_q - price_q);

	if (p->answered_ns && now_ns - p->answered_ns < ORACK_PRICE_STALE_NS)
		gap_q += p->gap_q;
	return gap_q;
}

/* An answer came to the report of @told_ns.  False: to none that waits for one. */
static inline bool orack_price_answered(struct orack_price *p, u64 told_ns,
					const struct orack_price_entry *answer, u64 now_ns)
{
	if (!p->told_ns || told_ns != p->told_ns || answer->told_q != p->told_q)
		return false;
	p->told_ns = 0;
	p->unanswered = 0;
	p->answered_ns = now_ns;
	p->gap_q = (s32)(answer->price_q - answer->told_q);
	return true;
}

/* -- the receiver ----------------------------------------------------------------------- */

/* Prices that hosts report for one of our addresses. */
struct orack_price_all {
	struct orack_price_window window;
	u32 mean_q;			/* of the window before, */
	u32 weight;			/* and how much was in it; 0: nothing */
};

/*
 * A report came.  The answer is the mean of the window before; without one, the report itself: it
 * moves nothing, and tells a host that waited in vain, and so reports seldom, that we answer.
 */
static inline void orack_price_reported(struct orack_price_all *a,
					const struct orack_price_entry *report, u64 now_ns,
					struct orack_price_entry *answer)
{
	u32 weight;

	if (now_ns >= a->window.end_ns)
		a->weight = orack_price_next_window(&a->window, now_ns, &a->mean_q);
	orack_price_add(&a->window, report->price_q, report->weight);
	weight = a->weight ? a->weight : report->weight;
	answer->price_q = a->weight ? a->mean_q : report->price_q;
	answer->weight = weight < ORACK_WEIGHT_MAX ? weight : ORACK_WEIGHT_MAX;
	answer->told_q = report->price_q;
}

#endif /* ORACK_PRICE_H */
