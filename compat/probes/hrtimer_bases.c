// SPDX-License-Identifier: GPL-2.0
/* Do the timers' queues have a header of their own, and linked nodes? */
#include <linux/hrtimer_bases.h>

struct timerqueue_linked_node *probe(struct hrtimer_clock_base *base);
struct timerqueue_linked_node *probe(struct hrtimer_clock_base *base)
{
	return timerqueue_linked_first(&base->active);
}
