// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of tcp_timely (TIMELY15, ECNDELAY16) in a network namespace, which
 * /proc/net/tcp_timely shows as "name value" lines.  They only grow.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "timely_completion.h"
#include "timely_net.h"
#include "timely_stat.h"

unsigned int timely_net_id;

static const char * const timely_stat_names[TIMELY_STATS] = {
	[TIMELY_STAT_FLOWS] = "flows",
	[TIMELY_STAT_IDLE_RESTARTS] = "idle_restarts",
	[TIMELY_STAT_LOSSES] = "losses",
	[TIMELY_STAT_CWRS] = "cwrs",
	[TIMELY_STAT_RTOS] = "rtos",
	[TIMELY_STAT_UNDOS] = "undos",
	[TIMELY_STAT_NO_FORWARD] = "forward_unknown",
	[TIMELY_STAT_NO_HOPS] = "hops_unknown",
	[TIMELY_STAT_SPEED_READS] = "speed_reads",

	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_FIRST] = "events_first",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_DROPPED] = "events_below_floor",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_MERGED] = "events_merged",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_LOW] = "events_low",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_HIGH] = "events_high",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_INC] = "events_increase",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_HAI] = "events_hai",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_DEC] = "events_decrease",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_BLEND] = "events_blend",
	[TIMELY_STAT_BRANCH + TIMELY_BRANCH_DRAIN] = "events_drain",

	[TIMELY_STAT_VERDICT + TIMELY_ACK_SAMPLE] = "samples",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_NODEV] = "dropped_no_device",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_RETRANS] = "dropped_retransmitted",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_SACK] = "dropped_sack_hole",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_TIME] = "dropped_no_time",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_DELACK] = "dropped_delayed_ack",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_FLOOR] = "dropped_too_fast",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_STAMP] = "dropped_no_stamp",
	[TIMELY_STAT_VERDICT + TIMELY_DROP_HOPS] = "dropped_no_hops",

	[TIMELY_STAT_SOURCE + TIMELY_SRC_TCP_US] = "source_tcp_us",
	[TIMELY_STAT_SOURCE + TIMELY_SRC_TCP_NS] = "source_tcp_ns",
	[TIMELY_STAT_SOURCE + TIMELY_SRC_DRIVER] = "source_driver",
	[TIMELY_STAT_SOURCE + TIMELY_SRC_NIC] = "source_nic",
	[TIMELY_STAT_SOURCE + TIMELY_SRC_FORWARD] = "source_forward",
	[TIMELY_STAT_SOURCE + TIMELY_SRC_HOPS] = "source_hops",
};

static unsigned long timely_stat_sum(const struct timely_net *tn, int stat)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(tn->stats, cpu)->count[stat]);
	return sum;
}

static int timely_stat_show(struct seq_file *seq, void *v)
{
	const struct timely_net *tn = timely_net(seq_file_single_net(seq));
	int i;

	for (i = 0; i < TIMELY_STATS; i++) {
		if (timely_stat_names[i])
			seq_printf(seq, "%s %lu\n", timely_stat_names[i],
				   timely_stat_sum(tn, i));
	}
	return 0;
}

int timely_stat_init(struct net *net)
{
	struct timely_net *tn = timely_net(net);

	tn->stats = alloc_percpu_gfp(struct timely_stats, GFP_KERNEL_ACCOUNT);
	if (!tn->stats)
		return -ENOMEM;
	if (proc_create_net_single("tcp_timely", 0444, net->proc_net, timely_stat_show, NULL))
		return 0;
	free_percpu(tn->stats);
	return -ENOMEM;
}

void timely_stat_exit(struct net *net)
{
	remove_proc_entry("tcp_timely", net->proc_net);
	free_percpu(timely_net(net)->stats);
}
