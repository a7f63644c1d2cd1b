// SPDX-License-Identifier: GPL-2.0
/* Compiles on every supported kernel: proof that KDIR can build anything. */
#include <linux/module.h>
#include <net/tcp.h>

MODULE_LICENSE("GPL");
