// SPDX-License-Identifier: GPL-2.0
/* Is a timer's function given when it is set up? */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer,
	   enum hrtimer_restart (*function)(struct hrtimer *timer));
void probe(struct hrtimer *timer,
	   enum hrtimer_restart (*function)(struct hrtimer *timer))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
