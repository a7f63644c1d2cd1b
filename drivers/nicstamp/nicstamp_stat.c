// SPDX-License-Identifier: GPL-2.0
/* Counters of nicstamp (TIMELY15), one copy per CPU; they only grow. */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/percpu.h>

#include "nicstamp_stat.h"

struct nicstamp_stats __percpu *nicstamp_stats;

u64 nicstamp_stat_sum(const struct nicstamp_stats __percpu *stats, int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->count[stat]);
	return sum;
}

int __init nicstamp_stat_init(void)
{
	nicstamp_stats = alloc_percpu(struct nicstamp_stats);
	return nicstamp_stats ? 0 : -ENOMEM;
}

void nicstamp_stat_exit(void)
{
	free_percpu(nicstamp_stats);
}
