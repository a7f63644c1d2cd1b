// SPDX-License-Identifier: GPL-2.0
/*
 * What nicstamp asks and tells of the departures of controlled flows, by way of orack_nic.c.  The
 * departure records of data in flight take the times.  Model: On-Ramp (ONRAMP21, section 3.3).
 */
#include <linux/ktime.h>

#include "include/nicstamp_sample.h"
#include "onramp_ctl.h"
#include "onramp_sched.h"

/* RCU read side. */
static struct onramp_ctl *onramp_departure_ctl(const struct sock *sk)
{
	struct onramp_key key;

	onramp_packet_key(sk, &key);
	return onramp_ctl_lookup(&key);
}

static bool onramp_departure_wanted(const struct sock *sk, u32 end_seq)
{
	struct onramp_ctl *ctl = onramp_departure_ctl(sk);
	bool wanted;

	if (!ctl)
		return false;
	spin_lock_bh(&ctl->lock);
	wanted = ctl->sched && onramp_departure_wants(onramp_flight_ending(&ctl->flight, end_seq));
	spin_unlock_bh(&ctl->lock);
	return wanted;
}

static bool onramp_departure_left(const struct sock *sk, u32 end_seq,
				  const struct nicstamp_departed *d)
{
	struct onramp_ctl *ctl = onramp_departure_ctl(sk);
	struct onramp_record *r;
	bool known;

	if (!ctl)
		return false;
	spin_lock_bh(&ctl->lock);
	r = onramp_flight_ending(&ctl->flight, end_seq);
	known = ctl->sched && onramp_departure_wants(r);
	if (known)
		onramp_departure_enter(r, d->at_ns, d->error_ns,
				       onramp_line_ns(&ctl->sched->line, end_seq - d->tx_seq),
				       ktime_get_ns());
	spin_unlock_bh(&ctl->lock);
	return known;
}

const struct nicstamp_departures onramp_departures = {
	.wanted	= onramp_departure_wanted,
	.left	= onramp_departure_left,
};
