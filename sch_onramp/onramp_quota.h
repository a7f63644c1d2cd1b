/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose flows have control blocks: the host's own, and those of other namespaces, each of which
 * may be anybody's.  Pure.
 *
 * The host's first namespace has a number of its own.  All others share another: each may have as
 * many as are free beside it, so that one alone takes half, and whoever comes still finds some.
 */
#ifndef ONRAMP_QUOTA_H
#define ONRAMP_QUOTA_H

#include "include/turnpike_types.h"

/* For each of the two, of 2.8 KB: 185 MB, which is charged to who sends.  Flows beyond are sent as
 * fq would.
 */
#define ONRAMP_CTL_MAX		(1U << 16)

/* May the namespace, which has @own, have one more?  @others: what all but the first have. */
static inline bool onramp_quota_has(bool first, u32 own, u32 others)
{
	if (first)
		return own < ONRAMP_CTL_MAX;
	return others < ONRAMP_CTL_MAX && own < ONRAMP_CTL_MAX - others;
}

#endif /* ONRAMP_QUOTA_H */
