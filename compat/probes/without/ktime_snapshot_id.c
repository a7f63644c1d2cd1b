// SPDX-License-Identifier: GPL-2.0
#include <linux/hrtimer.h>
#include <linux/timekeeping.h>

void probe(struct system_device_crosststamp *both);
void probe(struct system_device_crosststamp *both)
{
	struct system_time_snapshot system;

	ktime_get_snapshot(&system);
	both->sys_realtime = system.real;
	both->sys_monoraw = system.raw;
}
