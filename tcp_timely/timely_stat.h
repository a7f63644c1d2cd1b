/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a namespace (TIMELY15, ECNDELAY16), which timely_stat.c prints.
 */
#ifndef TIMELY_STAT_H
#define TIMELY_STAT_H

#include <linux/percpu.h>

#include "timely_completion.h"
#include "timely_net.h"
#include "timely_state.h"

/* Branches, verdicts and sources have counters of their own, at these offsets. */
enum timely_stat {
	TIMELY_STAT_FLOWS,		/* flows started */
	TIMELY_STAT_IDLE_RESTARTS,	/* rate decayed over an idle time */
	TIMELY_STAT_LOSSES,		/* recovery episodes */
	TIMELY_STAT_CWRS,		/* ECN marks and drops in the host: the same decrease */
	TIMELY_STAT_RTOS,
	TIMELY_STAT_UNDOS,
	TIMELY_STAT_NO_FORWARD,		/* signal=forward, but the sample is an RTT */
	TIMELY_STAT_NO_HOPS,		/* a signal of hops, but the sample is an RTT */
	TIMELY_STAT_SPEED_READS,	/* reads of the speed of the namespace's devices */
	TIMELY_STAT_BRANCH,
	TIMELY_STAT_VERDICT = TIMELY_STAT_BRANCH + TIMELY_BRANCH_COUNT,
	TIMELY_STAT_SOURCE = TIMELY_STAT_VERDICT + TIMELY_VERDICTS,
	TIMELY_STATS = TIMELY_STAT_SOURCE + TIMELY_SOURCES,
};

struct timely_stats {
	unsigned long count[TIMELY_STATS];
};

static inline void timely_stat_inc(const struct net *net, int stat)
{
	this_cpu_inc(timely_net(net)->stats->count[stat]);
}

int timely_stat_init(struct net *net);
void timely_stat_exit(struct net *net);

#endif /* TIMELY_STAT_H */
