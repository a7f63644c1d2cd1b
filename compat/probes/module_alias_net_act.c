// SPDX-License-Identifier: GPL-2.0
/* Are modules of tc's actions loaded by an alias of their own? */
#include <linux/module.h>
#include <net/act_api.h>

MODULE_ALIAS_NET_ACT("probe");
MODULE_LICENSE("GPL");
