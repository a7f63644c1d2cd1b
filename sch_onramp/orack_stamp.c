// SPDX-License-Identifier: GPL-2.0
/*
 * Receive stamps of the whole host, on while a peer wants all receipts.
 *
 * The kernel patches its code to begin stamping and to end it, which stops all processors.  What
 * peers want comes by the network, as often as they like.  So a worker switches, and switches
 * off no sooner than a second after the last one stopped to want it: twice a second at most,
 * whatever comes, and of however many namespaces.
 */
#include <linux/workqueue.h>

#include "orack.h"

#define ORACK_STAMP_KEPT	HZ

static void orack_stamp_switch(struct work_struct *work);

static atomic_t orack_stamp_wanted;	/* peers that want all, of all namespaces */
static bool orack_stamp_on;		/* the worker's alone */
static DECLARE_DELAYED_WORK(orack_stamp_work, orack_stamp_switch);

static void orack_stamp_switch(struct work_struct *work)
{
	bool wanted = atomic_read(&orack_stamp_wanted);

	if (wanted == orack_stamp_on)
		return;
	orack_stamp_on = wanted;
	if (wanted)
		net_enable_timestamp();
	else
		net_disable_timestamp();
}

/* A peer begins to want all receipts, or stops. */
void orack_stamp_want(bool wants)
{
	if (wants && atomic_inc_return(&orack_stamp_wanted) == 1)
		queue_delayed_work(system_highpri_wq, &orack_stamp_work, 0);
	else if (!wants && atomic_dec_and_test(&orack_stamp_wanted))
		queue_delayed_work(system_highpri_wq, &orack_stamp_work, ORACK_STAMP_KEPT);
}

/* There are no peers any more. */
void orack_stamp_exit(void)
{
	cancel_delayed_work_sync(&orack_stamp_work);
	orack_stamp_switch(NULL);
}
