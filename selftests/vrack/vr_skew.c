// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts of the rack with clocks of their own, as far as OR-ACKs and TCP's timestamps tell.
 *
 * All hosts are namespaces of one kernel and have its one clock.  What another host's clock has
 * to do with it is told by datagrams (Documentation/onramp-wire.rst) and timestamps alone: a
 * clock that is ahead makes all times that its host writes greater by that, and all that it
 * reads smaller beside its own.  So the time in each packet is moved on its way, out of a
 * namespace and into it, and the modules under test know nothing of it.  Of a timestamp, what
 * the host wrote moves out, and its echo moves in.  What is left out is the drift within the
 * microseconds that a host measures by its own clock alone: 10^-5 of them.
 *
 *      net.vrack.clock_offset_ns   how far the namespace's clock is ahead, at its beginning
 *      net.vrack.clock_drift_ppb   and by how much it gains
 *      net.vrack.clock_sigma_ns    a random part of that, drawn when this is written
 *      net.vrack.clock_nic         1: by what its NIC's PTP clock says, besides, as if phc2sys
 *                                  followed that without an error of its own
 *      net.vrack.clock_tcp         1: TCP's timestamps are by it, too, and in microseconds
 *                                  (turnpike usec-ts); switched before there are connections
 *
 * vrack_skew.ko: not for datagrams with a MAC, which is not made anew.
 */
#include <linux/ip.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "include/uapi/turnpike.h"
#include "sch_onramp/orack/orack_wire.h"
#include "vr.h"

#define TIME_OFFSET	8	/* of the time, in a datagram */
#define GAUSS_TERMS	12	/* so many uniform numbers, of variance 1/12 each */

struct skew_net {
	int offset_ns;
	int drift_ppb;
	int sigma_ns;
	int nic;
	int tcp;
	s64 random_ns;
	u64 begin_ns;
	struct ctl_table *table;
	struct ctl_table_header *header;
};

static unsigned int skew_net_id;

static s64 nic_ahead_ns(const struct net *net)
{
	u64 ns;

	return vr_phc_of_net(net, &ns) ? (s64)(ns - ktime_get_ns()) : 0;
}

/* How far the namespace's clock is ahead now. */
static s64 ahead_ns(const struct net *net)
{
	const struct skew_net *sn = net_generic(net, skew_net_id);
	s64 elapsed_us = div_u64(ktime_get_ns() - sn->begin_ns, NSEC_PER_USEC);

	return READ_ONCE(sn->offset_ns) + READ_ONCE(sn->random_ns) +
	       (READ_ONCE(sn->nic) ? nic_ahead_ns(net) : 0) +
	       div_s64(elapsed_us * READ_ONCE(sn->drift_ppb), USEC_PER_SEC);
}

/* The rack's NICs do checksums; on the way in there is no use for one any more. */
static void moved(struct sk_buff *skb, int sign)
{
	if (sign < 0)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
}

/* Where the option begins that has the timestamp, in @length bytes; NULL: nowhere. */
static u8 *timestamp(u8 *at, int length)
{
	while (length >= 2 && *at != TCPOPT_EOL) {
		int size = *at == TCPOPT_NOP ? 1 : at[1];

		if (*at == TCPOPT_TIMESTAMP && size == TCPOLEN_TIMESTAMP && size <= length)
			return at;
		if (!size || size > length)
			return NULL;
		at += size;
		length -= size;
	}
	return NULL;
}

/* @offset: of the TCP header. */
static void move_tcp(struct sk_buff *skb, const struct net *net, int offset, int sign)
{
	const struct skew_net *sn = net_generic(net, skew_net_id);
	const struct tcphdr *th;
	struct tcphdr copy;
	int length;
	u8 *at;
	u32 us;

	if (!READ_ONCE(sn->tcp))
		return;
	th = skb_header_pointer(skb, offset, sizeof(copy), &copy);
	if (!th)
		return;
	length = th->doff * 4;
	if (length < (int)sizeof(copy) || skb_ensure_writable(skb, offset + length))
		return;
	at = timestamp(skb_network_header(skb) + offset + sizeof(copy), length - sizeof(copy));
	if (!at)
		return;
	/* TSval is first, its echo second, 0 until there is one. */
	at += sign > 0 ? 2 : 6;
	us = get_unaligned_be32(at);
	if (sign < 0 && !us)
		return;
	put_unaligned_be32(us + sign * (s32)div_s64(ahead_ns(net), NSEC_PER_USEC), at);
	moved(skb, sign);
}

/* @offset: of the UDP header. */
static void move_udp(struct sk_buff *skb, const struct net *net, int offset, int sign)
{
	int end = offset + sizeof(struct udphdr) + ORACK_HEADER_BYTES;
	struct udphdr *uh;
	u8 *at;

	if (skb->len < end || skb_ensure_writable(skb, end))
		return;
	uh = (struct udphdr *)(skb_network_header(skb) + offset);
	if (uh->dest != htons(ONRAMP_UAPI_PORT))
		return;
	at = (u8 *)(uh + 1) + TIME_OFFSET;
	orack_put64(at, orack_get64(at) + (u64)(sign * ahead_ns(net)));
	moved(skb, sign);
}

static void move(struct sk_buff *skb, const struct net *net, u8 protocol, int offset, int sign)
{
	if (protocol == IPPROTO_UDP)
		move_udp(skb, net, offset, sign);
	else if (protocol == IPPROTO_TCP)
		move_tcp(skb, net, offset, sign);
}

static void move_ipv4(struct sk_buff *skb, const struct nf_hook_state *state, int sign)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (!ip_is_fragment(ip))
		move(skb, state->net, ip->protocol, ip->ihl * 4, sign);
}

static void move_ipv6(struct sk_buff *skb, const struct nf_hook_state *state, int sign)
{
	move(skb, state->net, ipv6_hdr(skb)->nexthdr, sizeof(struct ipv6hdr), sign);
}

static unsigned int out_ipv4(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	move_ipv4(skb, state, 1);
	return NF_ACCEPT;
}

static unsigned int in_ipv4(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	move_ipv4(skb, state, -1);
	return NF_ACCEPT;
}

static unsigned int out_ipv6(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	move_ipv6(skb, state, 1);
	return NF_ACCEPT;
}

static unsigned int in_ipv6(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	move_ipv6(skb, state, -1);
	return NF_ACCEPT;
}

static const struct nf_hook_ops hooks[] = {
	{ .hook = out_ipv4, .pf = NFPROTO_IPV4, .hooknum = NF_INET_POST_ROUTING },
	{ .hook = in_ipv4, .pf = NFPROTO_IPV4, .hooknum = NF_INET_PRE_ROUTING },
	{ .hook = out_ipv6, .pf = NFPROTO_IPV6, .hooknum = NF_INET_POST_ROUTING },
	{ .hook = in_ipv6, .pf = NFPROTO_IPV6, .hooknum = NF_INET_PRE_ROUTING },
};

/* -- settings ---------------------------------------------------------------------------- */

/* splitmix64 (Steele et al. 2014) from the rack's seed: drawing takes none of its numbers. */
static u32 draw(void)
{
	static u64 drawn;
	u64 x = READ_ONCE(vrack.rng) + ++drawn * 0x9E3779B97F4A7C15ULL;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
	return (x ^ (x >> 31)) >> 32;
}

/* A number of about standard normal distribution, in thousandths. */
static s64 gauss_milli(void)
{
	s64 sum = 0;
	int i;

	for (i = 0; i < GAUSS_TERMS; i++)
		sum += ((u64)draw() * 1000) >> 32;
	return sum - GAUSS_TERMS * 500;
}

static int set_sigma(TP_CTL_CONST struct ctl_table *entry, int write, void *buffer, size_t *length,
		     loff_t *position)
{
	struct skew_net *sn = container_of(entry->data, struct skew_net, sigma_ns);
	int err = proc_dointvec(entry, write, buffer, length, position);

	if (!err && write)
		WRITE_ONCE(sn->random_ns, div_s64(gauss_milli() * sn->sigma_ns, 1000));
	return err;
}

static const struct ctl_table entries[] = {
	{ .procname = "clock_offset_ns", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = proc_dointvec },
	{ .procname = "clock_drift_ppb", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = proc_dointvec },
	{ .procname = "clock_sigma_ns", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = set_sigma },
	{ .procname = "clock_nic", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = proc_dointvec_minmax, .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE },
	{ .procname = "clock_tcp", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = proc_dointvec_minmax, .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE },
	{ }
};

static int __net_init skew_net_begin(struct net *net)
{
	struct skew_net *sn = net_generic(net, skew_net_id);
	int err = -ENOMEM;

	sn->begin_ns = ktime_get_ns();
	sn->table = kmemdup(entries, sizeof(entries), GFP_KERNEL);
	if (!sn->table)
		return err;
	sn->table[0].data = &sn->offset_ns;
	sn->table[1].data = &sn->drift_ppb;
	sn->table[2].data = &sn->sigma_ns;
	sn->table[3].data = &sn->nic;
	sn->table[4].data = &sn->tcp;
	sn->header = tp_register_net_sysctl(net, "net/vrack", sn->table, ARRAY_SIZE(entries) - 1);
	if (!sn->header)
		goto no_header;
	err = nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
	if (!err)
		return 0;
	unregister_net_sysctl_table(sn->header);
no_header:
	kfree(sn->table);
	return err;
}

static void __net_exit skew_net_end(struct net *net)
{
	struct skew_net *sn = net_generic(net, skew_net_id);

	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
	unregister_net_sysctl_table(sn->header);
	kfree(sn->table);
}

static struct pernet_operations skew_net_ops = {
	.init	= skew_net_begin,
	.exit	= skew_net_end,
	.id	= &skew_net_id,
	.size	= sizeof(struct skew_net),
};

static int __init skew_load(void)
{
	return register_pernet_subsys(&skew_net_ops);
}

static void __exit skew_unload(void)
{
	unregister_pernet_subsys(&skew_net_ops);
}

module_init(skew_load);
module_exit(skew_unload);

MODULE_DESCRIPTION("Clocks of hosts that are wrong, for the virtual rack");
MODULE_LICENSE("GPL");
