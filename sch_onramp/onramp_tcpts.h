/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Feedback of TCP timestamps (onramp_tcpts.c): what a connection has of it.  Model: ONRAMP21.
 */
#ifndef ONRAMP_TCPTS_H
#define ONRAMP_TCPTS_H

#include "include/turnpike_base.h"
#include "include/turnpike_tick.h"
#include "include/turnpike_types.h"
#include "onramp_standing_queue.h"

struct onramp_arrival;
struct tcphdr;

/* In a control block, whose lock guards it. */
struct onramp_tcpts {
	u32 ref_us;			/* raw delay that counts as 0, modulo 2^32 */
	bool known;			/* ref_us is valid */
	struct tp_tick tick;		/* of the peer's timestamps */
	struct tp_base base;
	struct onramp_standing_queue standing;	/* in the base */
};

static inline void onramp_tcpts_begin(struct onramp_tcpts *t)
{
	tp_base_init(&t->base);
}

void onramp_tcpts_arrived(const struct tcphdr *th, const struct onramp_arrival *a);

#endif /* ONRAMP_TCPTS_H */
