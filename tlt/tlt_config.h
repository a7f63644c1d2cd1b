/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A namespace's configuration of TLT (TLT21), and whether it covers a packet.
 */
#ifndef TLT_CONFIG_H
#define TLT_CONFIG_H

#include <linux/bitops.h>
#include <linux/in6.h>

#include "include/uapi/turnpike.h"
#include "tlt_owner.h"
#include "tlt_packet.h"

#define TLT_DSCPS 64
#define TLT_PORTS 65536

struct tlt_rule {
	struct in6_addr address;	/* of the other end; IPv4: the first word */
	struct in6_addr mask;
	int ifindex;			/* 0: any */
	u16 port_low;			/* 0: any */
	u16 port_high;
	u16 port_span;			/* high less low port; 65535: any */
	u8 family;			/* 0: any, with any address */
	u8 prefix;
	struct tlt_owner owner;
};

/* A configuration never changes; another replaces it (RCU). */
struct tlt_config {
	struct rcu_head rcu;
	u8 dscp[TLT_KINDS];		/* kind -> code point */
	u8 kind[TLT_DSCPS];		/* code point -> kind, TLT_NONE for others */
	u8 clock;			/* enum tlt_clock_mode */
	u8 sender;			/* enum tlt_sender_mode */
	u8 foreign;			/* enum tlt_foreign */
	u32 period;
	/* Ports that some rule names, by their number in a packet: the high byte first. */
	unsigned long ports[BITS_TO_LONGS(TLT_PORTS)];
	u32 rules_count;
	struct tlt_rule rules[];
};

static inline bool tlt_rule_port(const struct tlt_rule *rule, __be16 port)
{
	return (u16)(ntohs(port) - rule->port_low) <= rule->port_span;
}

static inline bool tlt_config_has_port(const struct tlt_config *config, __be16 port)
{
	unsigned long bit = (__force u16)port;

	return config->ports[BIT_WORD(bit)] >> (bit % BITS_PER_LONG) & 1;
}

/* Is there a rule for these ports?  Without any rule all ports count. */
static inline bool tlt_config_has_ports(const struct tlt_config *config, const struct tcphdr *th)
{
	return tlt_config_has_port(config, th->source) || tlt_config_has_port(config, th->dest);
}

struct tlt_config *tlt_config_alloc(unsigned int rules);
void tlt_config_free(struct tlt_config *config);
void tlt_config_index(struct tlt_config *config);
bool tlt_config_matches(const struct tlt_config *config, const struct sk_buff *skb,
			struct sock *sk, const struct tlt_packet *p);

#endif /* TLT_CONFIG_H */
