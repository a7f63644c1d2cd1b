// SPDX-License-Identifier: GPL-2.0
/* Do the bases of timers have a header of their own? */
#include <linux/hrtimer_bases.h>

struct hrtimer_clock_base *probe(struct hrtimer_cpu_base *base);
struct hrtimer_clock_base *probe(struct hrtimer_cpu_base *base)
{
	return &base->clock_base[0];
}
