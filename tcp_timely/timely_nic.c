// SPDX-License-Identifier: GPL-2.0
/*
 * The way to nicstamp.ko (TIMELY15's NIC stamps), which may load and unload while flows live
 * (nicstamp_find.h).
 *
 *   timely_nic_ops:  NULL --attach--> nicstamp's --detach, grace period--> NULL
 */
#include <linux/rcupdate.h>
#include <net/tcp.h>

#include "include/nicstamp_find.h"
#include "timely_completion.h"
#include "timely_config.h"
#include "timely_nic.h"
#include "timely_stamp.h"

static const struct nicstamp_ops __rcu *timely_nic_ops;

/* nicstamp holds its lock around both. */
static void timely_nic_attach(const struct nicstamp_ops *ops)
{
	rcu_assign_pointer(timely_nic_ops, ops);
}

static void timely_nic_detach(void)
{
	RCU_INIT_POINTER(timely_nic_ops, NULL);
	synchronize_rcu();
}

static struct nicstamp_finder timely_nic_finder = {
	.subscriber = {
		.attach = timely_nic_attach,
		.detach = timely_nic_detach,
		.detached = COMPLETION_INITIALIZER(timely_nic_finder.subscriber.detached),
	},
};

/* RCU read side: puts the stamps' times into an event, instead of TCP's. */
void timely_nic_event(struct sock *sk, const struct timely_config *c, const struct timely_ack *a,
		      struct timely_event *ev)
{
	const struct nicstamp_ops *ops = rcu_dereference(timely_nic_ops);
	bool usable = ev->verdict == TIMELY_ACK_SAMPLE;
	u32 mode = c->host.source;
	struct nicstamp_sample s = { .missed = U32_MAX };

	if (mode == TIMELY_STAMP_TCP)
		return;
	if (ops && ops->sample(sk, a->una, usable ? ev->rtt_ns : 0, &s) &&
	    timely_stamp_is_welcome(mode, &s)) {
		if (usable)
			timely_stamp_use(ev, &s, a);
	} else if (usable && !timely_stamp_leaves_tcp(mode, s.missed)) {
		ev->verdict = TIMELY_DROP_STAMP;
	}
}

void timely_nic_forget(struct sock *sk)
{
	const struct nicstamp_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(timely_nic_ops);
	if (ops)
		ops->forget(sk);
	rcu_read_unlock();
}

int timely_nic_init(void)
{
	return nicstamp_find_begin(&timely_nic_finder);
}

void timely_nic_exit(void)
{
	nicstamp_find_end(&timely_nic_finder);
}
