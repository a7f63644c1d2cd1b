// SPDX-License-Identifier: GPL-2.0
/*
 * Times of arrival of data by NIC stamps (TIMELY15), for a consumer that asks when the host
 * processes them. Each CPU keeps its own, and finds no frames that another received (RPS).
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/siphash.h>

#include "nicstamp_arrival.h"
#include "nicstamp_arrive.h"
#include "nicstamp_port.h"

static struct nicstamp_arrivals __percpu *nicstamp_arrivals;	/* own CPU, bottom halves off */
static siphash_key_t nicstamp_arrive_key;			/* set at load */

/* Of the consumer that wants arrivals; NULL: none. Writers hold nicstamp_lock, readers use RCU. */
static const atomic_t __rcu *nicstamp_arrive_wanted;

/* Is there a consumer that may want arrivals? */
bool nicstamp_arrive_asked(void)
{
	return rcu_access_pointer(nicstamp_arrive_wanted);
}

/* Does it want some now? RCU read side. */
bool nicstamp_arrive_any(void)
{
	const atomic_t *wanted = rcu_dereference(nicstamp_arrive_wanted);

	return wanted && atomic_read(wanted);
}

static u64 nicstamp_arrive_name(const struct nicstamp_tuple *tuple, u32 end_seq)
{
	struct {
		struct nicstamp_tuple tuple;
		u32 end_seq;
	} what = { .tuple = *tuple, .end_seq = end_seq };

	BUILD_BUG_ON(sizeof(what) != sizeof(*tuple) + sizeof(end_seq));
	return siphash(&what, sizeof(what), &nicstamp_arrive_key);
}

/* A frame with data came. One without a known time is left out. */
void nicstamp_arrive_enter(const struct nicstamp_tuple *tuple, u32 end_seq,
			   const struct nicstamp_stamp *stamp)
{
	if (stamp->error_ns > U32_MAX)
		return;
	local_bh_disable();
	nicstamp_arrival_enter(this_cpu_ptr(nicstamp_arrivals),
			       nicstamp_arrive_name(tuple, end_seq), stamp->sys_ns,
			       stamp->error_ns);
	local_bh_enable();
	nicstamp_count(STAMPS_STAT_ARRIVALS);
}

bool nicstamp_arrive_get(const struct nicstamp_tuple *tuple, u32 end_seq,
			 struct nicstamp_arrived *arrived)
{
	bool found = nicstamp_arrival_get(this_cpu_ptr(nicstamp_arrivals),
					  nicstamp_arrive_name(tuple, end_seq), arrived);

	if (found)
		nicstamp_count(STAMPS_STAT_ARRIVALS_FOUND);
	return found;
}

/* The caller of these two holds nicstamp_lock. */
void nicstamp_arrive_begin(const atomic_t *wanted)
{
	if (!wanted || nicstamp_arrive_asked())
		return;
	rcu_assign_pointer(nicstamp_arrive_wanted, wanted);
	nicstamp_clocks_want();
}

/* The consumer waits for a grace period. */
void nicstamp_arrive_end(const atomic_t *wanted)
{
	if (!wanted || rcu_access_pointer(nicstamp_arrive_wanted) != wanted)
		return;
	RCU_INIT_POINTER(nicstamp_arrive_wanted, NULL);
	nicstamp_clocks_unwant();
}

int __init nicstamp_arrive_init(void)
{
	get_random_bytes(&nicstamp_arrive_key, sizeof(nicstamp_arrive_key));
	nicstamp_arrivals = alloc_percpu(struct nicstamp_arrivals);
	return nicstamp_arrivals ? 0 : -ENOMEM;
}

void nicstamp_arrive_exit(void)
{
	free_percpu(nicstamp_arrivals);
}
