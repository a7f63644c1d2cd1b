// SPDX-License-Identifier: GPL-2.0
/*
 * Times of departure of data by NIC stamps (TIMELY15), for a consumer that says which data it
 * means and keeps the times itself: this file records nothing.
 *
 *   to the driver --> wanted()?     stamp --> system's clock --> left()
 */
#include <linux/rcupdate.h>

#include "nicstamp_depart.h"
#include "nicstamp_port.h"

/* Of the consumer of departures; NULL: none. Writers hold nicstamp_lock, readers use RCU. */
static const struct nicstamp_departures __rcu *nicstamp_departures;

/* Is there a consumer that may want departures? */
bool nicstamp_depart_asked(void)
{
	return rcu_access_pointer(nicstamp_departures);
}

/* RCU read side, as the next. */
bool nicstamp_depart_wanted(const struct sock *sk, u32 end_seq)
{
	const struct nicstamp_departures *departures = rcu_dereference(nicstamp_departures);

	return departures && departures->wanted(sk, end_seq);
}

/* A stamp came, of the last byte before @tx_seq. If its time is not known, error_ns is U32_MAX. */
bool nicstamp_depart_sent(const struct sock *sk, u32 end_seq, u32 tx_seq,
			  const struct nicstamp_stamp *stamp)
{
	const struct nicstamp_departures *departures = rcu_dereference(nicstamp_departures);
	struct nicstamp_departed departed = {
		.at_ns = stamp->sys_ns,
		.error_ns = min_t(u64, stamp->error_ns, U32_MAX),
		.tx_seq = tx_seq,
	};

	return departures && departures->left(sk, end_seq, &departed);
}

/* The caller of these two holds nicstamp_lock. */
void nicstamp_depart_begin(const struct nicstamp_departures *departures)
{
	if (!departures || nicstamp_depart_asked())
		return;
	rcu_assign_pointer(nicstamp_departures, departures);
	nicstamp_clocks_want();
}

/* The consumer waits for a grace period. */
void nicstamp_depart_end(const struct nicstamp_departures *departures)
{
	if (!departures || rcu_access_pointer(nicstamp_departures) != departures)
		return;
	RCU_INIT_POINTER(nicstamp_departures, NULL);
	nicstamp_clocks_unwant();
}
