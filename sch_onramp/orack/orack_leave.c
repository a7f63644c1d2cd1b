// SPDX-License-Identifier: GPL-2.0
/*
 * The last qdisc of a namespace goes: we tell the hosts that send us receipts to stop.
 *
 * Not at once.  The operator's command holds RTNL while it takes the qdisc away.  Until the
 * device has another, it drops all that is sent (qdisc_graft()).  A worker waits for the lock.
 * What it needs stays until then: the hosts to tell, and the socket.  Not in ONRAMP21.
 *
 *      last qdisc goes          worker, under RTNL         a qdisc comes first
 *      keep()            -->    tell(), end()              end(): no host is told; it asks
 *                                                          for receipts again with its data
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "orack_acking.h"
#include "orack_leave.h"
#include "orack_pair.h"
#include "orack_round.h"
#include "orack_socket.h"
#include "sch_onramp/onramp_net.h"

/* A datagram is some 6000 instructions (orack_sparse.h), so many less than a million. */
#define ORACK_LEAVE_AT_ONCE	64

/* Frees what was kept, and the socket.  Under RTNL. */
void orack_leave_end(struct onramp_net *on)
{
	kvfree(on->leave.contacts);
	on->leave.contacts = NULL;
	on->leave.count = 0;
	orack_close(on);
}

/* Tells a few of the hosts that are left.  Under RTNL. */
static void orack_leave_tell(struct onramp_net *on)
{
	u32 i;

	for (i = 0; i < ORACK_LEAVE_AT_ONCE && on->leave.count; i++) {
		local_bh_disable();
		rcu_read_lock();
		orack_announce(on, &on->leave.contacts[--on->leave.count], 0);
		rcu_read_unlock();
		local_bh_enable();
	}
}

/* Gives the RTNL back after a few hosts: others need not wait for all.  True: some are left. */
static bool orack_leave_step(struct onramp_net *on)
{
	bool more = false;

	rtnl_lock();
	/* A new user has freed them. */
	if (!on->hook.users) {
		/* The devices of a namespace that goes have gone before. */
		if (check_net(on->net))
			orack_leave_tell(on);
		else
			on->leave.count = 0;
		more = on->leave.count;
		if (!more)
			orack_leave_end(on);
	}
	rtnl_unlock();
	return more;
}

static void orack_leave_work(struct work_struct *work)
{
	struct onramp_net *on = container_of(work, struct onramp_net, leave.work);

	while (orack_leave_step(on))
		cond_resched();
}

/* The last user went, and nothing arrives any more.  Under RTNL.  Without memory no host is told;
 * receipts end when the last announcement expires.
 */
void orack_leave(struct onramp_net *on)
{
	u32 most = orack_peer_count_acking(on);

	if (most)
		on->leave.contacts = kvmalloc_array(most, sizeof(*on->leave.contacts),
						    GFP_KERNEL_ACCOUNT);
	on->leave.count = orack_round_close(on, on->leave.contacts, on->leave.contacts ? most : 0);
	if (on->leave.count)
		schedule_work(&on->leave.work);
	else
		orack_leave_end(on);
}

void orack_leave_open(struct onramp_net *on)
{
	INIT_WORK(&on->leave.work, orack_leave_work);
}

/* The namespace or the module goes. */
void orack_leave_wait(struct onramp_net *on)
{
	flush_work(&on->leave.work);
}
