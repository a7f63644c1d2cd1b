/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of nicstamp (TIMELY15), in all and by port (nicstamp_stat.c). */
#ifndef NICSTAMP_STAT_H
#define NICSTAMP_STAT_H

#include <linux/irqflags.h>	/* percpu.h of 6.1 needs it, and does not say so */
#include <linux/percpu.h>
#include <linux/types.h>

#include "include/uapi/turnpike.h"

struct nicstamp_stats {
	u64 count[STAMPS_STATS];
};

extern struct nicstamp_stats __percpu *nicstamp_stats;

static inline void nicstamp_count(enum stamps_stat stat)
{
	this_cpu_inc(nicstamp_stats->count[stat]);
}

int nicstamp_stat_init(void);
void nicstamp_stat_exit(void);
u64 nicstamp_stat_sum(const struct nicstamp_stats __percpu *stats, int stat);

#endif /* NICSTAMP_STAT_H */
