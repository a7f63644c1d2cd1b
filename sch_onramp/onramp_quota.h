/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose flows have control blocks, and whose peers are known: the host's own, and those of other
 * namespaces, each of which may be anybody's.  Pure.
 *
 * The host's first namespace has a number of its own.  All others share another: each may have as
 * many as are free beside it, so that one alone takes half, and whoever comes still finds some.
 */
#ifndef ONRAMP_QUOTA_H
#define ONRAMP_QUOTA_H

#include "include/turnpike_types.h"

/* By default for each of the two, of 2.8 KB: 185 MB, which is charged to who sends.  Flows beyond
 * are sent as fq would.
 */
#define ONRAMP_CTL_MAX		(1U << 16)

/* May the namespace, which has @own, have one more of @max?  @others: what all but the first have. */
static inline bool onramp_quota_has(bool first, u32 own, u32 others, u32 max)
{
	if (first)
		return own < max;
	return others < max && own < max - others;
}

#endif /* ONRAMP_QUOTA_H */
