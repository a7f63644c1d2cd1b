// SPDX-License-Identifier: GPL-2.0
/* Are qdisc modules loaded by an alias of their own? */
#include <linux/module.h>
#include <net/pkt_sched.h>

MODULE_ALIAS_NET_SCH("probe");
MODULE_LICENSE("GPL");
