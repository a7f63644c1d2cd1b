/* SPDX-License-Identifier: GPL-2.0 */
/* Options that a kernel may do without, taken from one that has them: for check-modules. */
#include <linux/kconfig.h>
#undef CONFIG_IPV6
#undef CONFIG_IPV6_MULTIPLE_TABLES
#undef CONFIG_MPTCP_IPV6
#undef CONFIG_NET_CLS_ACT
