// SPDX-License-Identifier: GPL-2.0
#include <net/inet_hashtables.h>

struct sock *probe(struct net *net);
struct sock *probe(struct net *net)
{
	return __inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, 0, 0, 0, 0, 0, 0);
}
