/* SPDX-License-Identifier: GPL-2.0 */
/* Headers of a TCP segment over IPv4, for frames that no stack has made. */
#ifndef TCP_FRAME_H
#define TCP_FRAME_H

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>

struct tcp_frame {
	struct ether_header ether;
	struct iphdr ip;
	struct tcphdr tcp;
} __attribute__((packed));

/* Addresses and ports in network order; @bytes: of the payload, and of TCP's options. */
static inline void tcp_frame_init(struct tcp_frame *f, uint32_t saddr, uint32_t daddr,
				  uint16_t sport, uint16_t dport, unsigned int bytes)
{
	memset(f, 0, sizeof(*f));
	memset(f->ether.ether_dhost, 2, ETH_ALEN);
	memset(f->ether.ether_shost, 4, ETH_ALEN);
	f->ether.ether_type = htons(ETHERTYPE_IP);
	f->ip.version = 4;
	f->ip.ihl = sizeof(f->ip) / 4;
	f->ip.tot_len = htons(sizeof(f->ip) + sizeof(f->tcp) + bytes);
	f->ip.frag_off = htons(IP_DF);
	f->ip.ttl = 64;
	f->ip.protocol = IPPROTO_TCP;
	f->ip.saddr = saddr;
	f->ip.daddr = daddr;
	f->tcp.source = sport;
	f->tcp.dest = dport;
	f->tcp.doff = sizeof(f->tcp) / 4;
	f->tcp.ack = 1;
}

#endif /* TCP_FRAME_H */
