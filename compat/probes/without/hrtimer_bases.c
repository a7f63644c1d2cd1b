// SPDX-License-Identifier: GPL-2.0
#include <linux/hrtimer.h>
#include <linux/timerqueue.h>

struct timerqueue_node *probe(struct hrtimer_clock_base *base);
struct timerqueue_node *probe(struct hrtimer_clock_base *base)
{
	return timerqueue_getnext(&base->active);
}
