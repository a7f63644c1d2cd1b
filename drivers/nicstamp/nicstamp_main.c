// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of nicstamp.ko: NIC timestamps, as TIMELY15 needs them (section 5).
 *
 *   driver --> nicstamp_driver.c        tracepoints --> nicstamp_feed.c (drivers that know
 *                    |                                   |    nothing of nicstamp)
 *                    v                                   v
 *              nicstamp_packet.c <-----------------------+
 *                    |
 *                    +---> flow's records --> nicstamp_sample.c ------> consumer
 *                    |     (nicstamp_match.h)
 *                    +---> arrivals --> nicstamp_arrive.c ------------> consumer
 *                    |     (nicstamp_arrival.h)
 *                    +---> nicstamp_depart.c ----- departures --------> consumer
 *                    +---> nicstamp_follow.c (the NIC's receive stamps, of drivers that know
 *                    |               nothing of nicstamp) <-- program's readings
 *                    +-- raw stamp to ns, and to the system's clock: nicstamp_port.c
 *
 * Files call those below them only:
 *
 *   main, netlink
 *   driver, sample
 *   feed
 *   packet
 *   flow, arrive, depart, follow
 *   port, with the lock and the users of the clocks
 *   stat
 */
#include <linux/module.h>

#include "nicstamp_arrive.h"
#include "nicstamp_feed.h"
#include "nicstamp_flow.h"
#include "nicstamp_followed.h"
#include "nicstamp_main.h"
#include "nicstamp_port.h"
#include "nicstamp_stat.h"

static int __init nicstamp_load(void)
{
	int err = nicstamp_stat_init();

	if (err)
		return err;
	err = nicstamp_flow_init();
	if (err)
		goto fail_stat;
	err = nicstamp_arrive_init();
	if (err)
		goto fail_flow;
	err = nicstamp_feed_init();
	if (err)
		goto fail_arrive;
	err = nicstamp_follow_init();
	if (err)
		goto fail_feed;
	err = nicstamp_genl_init();
	if (err)
		goto fail_follow;
	return 0;

fail_follow:
	nicstamp_follow_exit();
fail_feed:
	nicstamp_feed_exit();
fail_arrive:
	nicstamp_arrive_exit();
fail_flow:
	nicstamp_flow_exit();
fail_stat:
	nicstamp_stat_exit();
	return err;
}

/* Drivers hold the module by its symbols, so no port of theirs is left. */
static void __exit nicstamp_unload(void)
{
	nicstamp_genl_exit();
	nicstamp_follow_exit();
	nicstamp_feed_exit();
	nicstamp_unsubscribe_all();
	nicstamp_arrive_exit();
	nicstamp_flow_exit();
	nicstamp_port_exit();
	nicstamp_stat_exit();
}

module_init(nicstamp_load);
module_exit(nicstamp_unload);

MODULE_AUTHOR("The Turnpike authors");
MODULE_DESCRIPTION("NIC timestamps turned into round-trip times");
MODULE_VERSION(TURNPIKE_VERSION);
MODULE_LICENSE("GPL");
