// SPDX-License-Identifier: GPL-2.0
/*
 * TLT's counters (TLT21) of a namespace.
 */
#include "tlt_net.h"
#include "tlt_stat.h"

int tlt_stat_init(struct tlt_net *tn)
{
	tn->stats = alloc_percpu_gfp(struct tlt_stats, GFP_KERNEL_ACCOUNT);
	return tn->stats ? 0 : -ENOMEM;
}

void tlt_stat_exit(struct tlt_net *tn)
{
	free_percpu(tn->stats);
}

u64 tlt_stat_sum(const struct tlt_net *tn, int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(tn->stats, cpu)->count[stat]);
	return sum;
}
