// SPDX-License-Identifier: GPL-2.0
/*
 * The UDP socket of OR-ACKs, one in each namespace where a qdisc pauses.  Model: ONRAMP21.
 *
 * It keeps the port from others, and takes datagrams before any socket queue does.  So no
 * application gets one, and no ICMP error goes back.
 */
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "compat/compat.h"
#include "compat/udp_encap.h"
#include "orack_receive.h"
#include "orack_socket.h"
#include "orack_xmit.h"
#include "sch_onramp/onramp_net.h"

/* -- in ------------------------------------------------------------------------------ */

static void orack_addresses(const struct sk_buff *skb, struct orack_packet *p)
{
	if (skb->protocol == htons(ETH_P_IPV6)) {
		p->maced.from = ipv6_hdr(skb)->saddr;
		p->maced.to = ipv6_hdr(skb)->daddr;
		return;
	}
	ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &p->maced.from);
	ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &p->maced.to);
}

/* UDP has checked lengths and checksum; its header is still in front. */
static int orack_receive_skb(struct sock *sk, struct sk_buff *skb)
{
	struct onramp_net *on = rcu_dereference_sk_user_data(sk);
	u32 bytes = skb->len - sizeof(struct udphdr);
	struct orack_packet p;

	if (!on)
		goto out;
	/* The peer's kernel has this port, so an unprivileged user of the peer sends from
	 * another.
	 */
	if (udp_hdr(skb)->source != htons(READ_ONCE(on->socket.port))) {
		orack_count(on, ONRAMP_STAT_REFUSED_PORT);
		goto out;
	}
	if (bytes > ORACK_BYTES_MAX) {
		orack_count(on, ONRAMP_STAT_REFUSED_LENGTH);
		goto out;
	}
	if (skb_copy_bits(skb, sizeof(struct udphdr), p.maced.data, bytes))
		goto out;
	orack_addresses(skb, &p);
	p.bytes = bytes;
	p.oif = skb->dev->ifindex;
	p.tos = 0;
	orack_receive(on, &p);
out:
	consume_skb(skb);
	return 0;
}

/* -- the socket ----------------------------------------------------------------------- */

static int orack_bind(struct socket *sock, u16 family, u16 port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (family == AF_INET)
		return kernel_bind(sock, (struct tp_sockaddr *)&four, sizeof(four));
	/* Both families, whatever net.ipv6.bindv6only says. */
	sock->sk->sk_ipv6only = false;
	return kernel_bind(sock, (struct tp_sockaddr *)&six, sizeof(six));
}

static int orack_open_family(struct onramp_net *on, u16 family)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(on->net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	sock->sk->sk_allocation = GFP_ATOMIC;
	rcu_assign_sk_user_data(sock->sk, on);
	udp_sk(sock->sk)->encap_rcv = orack_receive_skb;
	WRITE_ONCE(udp_sk(sock->sk)->encap_type, 1);
	tp_udp_encap_enable(sock->sk);
	err = orack_bind(sock, family, on->socket.port);
	if (err) {
		sock_release(sock);
		return err;
	}
	rcu_assign_pointer(on->socket.sk, sock->sk);
	return 0;
}

/* Under RTNL. */
int orack_open(struct onramp_net *on)
{
	int err = -EAFNOSUPPORT;

	if (IS_ENABLED(CONFIG_IPV6))
		err = orack_open_family(on, AF_INET6);
	/* IPv6 may be switched off at boot. */
	if (err == -EAFNOSUPPORT)
		err = orack_open_family(on, AF_INET);
	return err;
}

/* Ignores arrivals, once the present RCU read sides have ended.  Under RTNL. */
void orack_deafen(struct onramp_net *on)
{
	struct sock *sk = rtnl_dereference(on->socket.sk);

	if (sk)
		rcu_assign_sk_user_data(sk, NULL);
}

/* On return no reader is in the socket, nor sends by it.  Under RTNL. */
void orack_close(struct onramp_net *on)
{
	struct sock *sk = rtnl_dereference(on->socket.sk);

	if (!sk)
		return;
	RCU_INIT_POINTER(on->socket.sk, NULL);
	rcu_assign_sk_user_data(sk, NULL);
	synchronize_net();
	sock_release(sk->sk_socket);
}
