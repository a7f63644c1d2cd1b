// SPDX-License-Identifier: GPL-2.0
/* Does a snapshot of the time take the number of the clock? */
#include <linux/hrtimer.h>
#include <linux/timekeeping.h>

void probe(struct system_device_crosststamp *both);
void probe(struct system_device_crosststamp *both)
{
	struct system_time_snapshot system;

	ktime_get_snapshot_id(both->clock_id, &system);
	both->sys_systime = system.systime;
}
