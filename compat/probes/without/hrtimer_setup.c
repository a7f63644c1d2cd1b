// SPDX-License-Identifier: GPL-2.0
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer);
void probe(struct hrtimer *timer)
{
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = NULL;
}
