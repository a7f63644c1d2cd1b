// SPDX-License-Identifier: GPL-2.0
/*
 * What a namespace has: where it is found, and its counters.  Model: On-Ramp (ONRAMP21).
 */
#include <linux/percpu.h>

#include "onramp_net.h"

unsigned int onramp_net_id __read_mostly;

/* The counts of a namespace stay as long as it does.  Under RTNL. */
int onramp_net_count(struct onramp_net *on)
{
	struct orack_counts __percpu *counts;

	if (on->counts)
		return 0;
	counts = alloc_percpu_gfp(struct orack_counts, GFP_KERNEL_ACCOUNT);
	if (!counts)
		return -ENOMEM;
	WRITE_ONCE(on->counts, counts);
	return 0;
}
