// SPDX-License-Identifier: GPL-2.0
/*
 * A TCP packet of either family at the IP boundary: TLT (TLT21) writes its code point and finds
 * its socket.
 */
#include "compat/connection.h"
#include "tlt_packet.h"

/* The ECN bits stay. */
int tlt_packet_mark(struct sk_buff *skb, const struct tlt_packet *p, u8 dscp)
{
	if (p->dscp == dscp)
		return 0;
	/* TCP's own packets are clones that leave the headers to those who send them. */
	if (skb_cloned(skb) && !skb_clone_writable(skb, p->network_bytes) &&
	    skb_ensure_writable(skb, p->network_bytes))
		return -ENOMEM;
	if (p->family == AF_INET)
		ipv4_change_dsfield(ip_hdr(skb), INET_ECN_MASK, dscp << 2);
	else
		ipv6_change_dsfield(ipv6_hdr(skb), INET_ECN_MASK, dscp << 2);
	return 0;
}

/*
 * The socket of a received packet, with a reference, if no lookup was made yet.
 * @port is the device below @ifindex if that is a VRF.
 */
struct sock *tlt_packet_lookup(struct net *net, struct sk_buff *skb, const struct tlt_packet *p,
			       int ifindex, int port)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);

	if (p->family == AF_INET)
		return tp_inet_lookup(net, ip_hdr(skb)->saddr, th->source, ip_hdr(skb)->daddr,
				      ntohs(th->dest), ifindex, port);
#if IS_ENABLED(CONFIG_IPV6)
	return tp_inet6_lookup(net, &ipv6_hdr(skb)->saddr, th->source, &ipv6_hdr(skb)->daddr,
			       ntohs(th->dest), ifindex, port);
#else
	return NULL;
#endif
}
