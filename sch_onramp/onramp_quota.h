/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many control blocks and peers the host's namespace may have, and all others, which may be
 * unprivileged users'.  Pure; not in ONRAMP21.
 *
 * The first namespace has a quota of its own.  All others share another: each may have as many as
 * are free beside it.  So one alone takes half, and others still find some.
 */
#ifndef ONRAMP_QUOTA_H
#define ONRAMP_QUOTA_H

#include "include/turnpike_types.h"

/* The default for each of the two, of 2.8 KB: 185 MB, charged to the sender.  The qdisc sends
 * flows beyond that as fq would.
 */
#define ONRAMP_CTL_MAX		(1U << 16)

/* May a namespace with @own have one more of @max?  @others: those of all but the first. */
static inline bool onramp_quota_has(bool first, u32 own, u32 others, u32 max)
{
	if (first)
		return own < max;
	return others < max && own < max - others;
}

#endif /* ONRAMP_QUOTA_H */
