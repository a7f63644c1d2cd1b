// SPDX-License-Identifier: GPL-2.0
/*
 * The way to nicstamp.ko, which knows when a NIC had data that came, and when data left one
 * (include/nicstamp_find.h).  It may come and go at any time.  Model: ONRAMP21, section 3.3.
 *
 *   orack_nic_ops:  NULL --attach--> nicstamp's --detach, grace period--> NULL
 */
#include <linux/rcupdate.h>

#include "include/nicstamp_find.h"
#include "orack_nic.h"
#include "orack_stamper.h"
#include "sch_onramp/onramp_departure.h"
#include "sch_onramp/onramp_packet.h"

DEFINE_STATIC_KEY_FALSE(orack_nic_attached);
static const struct nicstamp_ops __rcu *orack_nic_ops;

/* Peers of all namespaces that want receipts: while there are any, nicstamp keeps times. */
static atomic_t orack_nic_hearing;

/* nicstamp holds its lock around both. */
static void orack_nic_attach(const struct nicstamp_ops *ops)
{
	rcu_assign_pointer(orack_nic_ops, ops);
	static_branch_enable(&orack_nic_attached);
}

static void orack_nic_detach(void)
{
	static_branch_disable(&orack_nic_attached);
	RCU_INIT_POINTER(orack_nic_ops, NULL);
	synchronize_rcu();
}

static struct nicstamp_finder orack_nic_finder = {
	.subscriber = {
		.attach = orack_nic_attach,
		.detach = orack_nic_detach,
		.detached = COMPLETION_INITIALIZER(orack_nic_finder.subscriber.detached),
		.arrivals = &orack_nic_hearing,
		.departures = &onramp_departures,
	},
};

void orack_nic_set_hears(bool hears)
{
	atomic_add(hears ? 1 : -1, &orack_nic_hearing);
}

/* When the NIC had the last byte of @a, if its stamp is good; RCU read side, bottom halves off. */
bool __orack_nic_arrival(const struct onramp_arrival *a, u64 now_ns, u64 *rx_ns)
{
	const struct nicstamp_ops *ops = rcu_dereference(orack_nic_ops);
	struct nicstamp_tuple tuple = {
		.local = a->key.saddr, .remote = a->key.daddr,
		.local_port = a->key.sport, .remote_port = a->key.dport,
	};
	struct nicstamp_arrived arrived;

	if (!ops || !ops->arrival(&tuple, a->seq + a->payload, &arrived) ||
	    !orack_stamp_is_good(now_ns, arrived.at_ns, arrived.error_ns))
		return false;
	*rx_ns = arrived.at_ns;
	return true;
}

int orack_nic_init(void)
{
	return nicstamp_find_begin(&orack_nic_finder);
}

void orack_nic_exit(void)
{
	nicstamp_find_end(&orack_nic_finder);
}
