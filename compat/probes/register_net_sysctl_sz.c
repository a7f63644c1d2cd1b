// SPDX-License-Identifier: GPL-2.0
/* Is the length of a sysctl table an argument, or does a sentinel end it? */
#include <net/net_namespace.h>

struct ctl_table_header *probe(struct net *net, struct ctl_table *table);
struct ctl_table_header *probe(struct net *net, struct ctl_table *table)
{
	return register_net_sysctl_sz(net, "net/turnpike", table, 1);
}
