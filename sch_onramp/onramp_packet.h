/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kind of a packet, and its connection (onramp_packet.c).  Model: On-Ramp (ONRAMP21).
 */
#ifndef ONRAMP_PACKET_H
#define ONRAMP_PACKET_H

#include <linux/in6.h>
#include <net/net_namespace.h>

struct sk_buff;
struct sock;

/* A connection as the socket has it. */
struct onramp_key {
	possible_net_t net;
	struct in6_addr saddr;		/* IPv4 is mapped */
	struct in6_addr daddr;
	__be16 sport;
	__be16 dport;
	u32 pad;
};

enum onramp_kind {
	ONRAMP_PLAIN,			/* fq's rules and nothing else */
	ONRAMP_DATA,			/* held while the path is overloaded */
	ONRAMP_FIN,			/* a FIN: never held, never before its data */
	ONRAMP_AHEAD,			/* a pure ACK or RST: overtakes held data */
};

/* A TCP segment that arrived for this host, without SYN and RST. */
struct onramp_arrival {
	struct onramp_key key;		/* our end is the source */
	u32 seq;
	u32 payload;			/* bytes */
	u8 tos;				/* without ECN */
};

struct onramp_segment {
	u32 seq;
	u32 payload;
};

enum onramp_kind onramp_packet_kind(const struct sk_buff *skb, struct onramp_segment *seg);
void onramp_packet_key(const struct sock *sk, struct onramp_key *key);
struct sock *onramp_packet_socket(const struct onramp_key *key, int ifindex);

#endif /* ONRAMP_PACKET_H */
