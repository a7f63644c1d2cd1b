// SPDX-License-Identifier: GPL-2.0
#include <net/net_namespace.h>

struct ctl_table_header *probe(struct net *net, struct ctl_table *table);
struct ctl_table_header *probe(struct net *net, struct ctl_table *table)
{
	return register_net_sysctl(net, "net/turnpike", table);
}
