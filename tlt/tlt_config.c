// SPDX-License-Identifier: GPL-2.0
/*
 * A namespace's configuration of TLT (TLT21): which packets it takes, and what it does with them.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "tlt_config.h"
#include "tlt_owner.h"
#include "tlt_packet.h"

static bool tlt_rule_address(const struct tlt_rule *rule, const struct sk_buff *skb, bool out)
{
	if (rule->family == AF_INET) {
		__be32 other = out ? ip_hdr(skb)->daddr : ip_hdr(skb)->saddr;

		return !((other ^ rule->address.s6_addr32[0]) & rule->mask.s6_addr32[0]);
	}
	return !ipv6_masked_addr_cmp(out ? &ipv6_hdr(skb)->daddr : &ipv6_hdr(skb)->saddr,
				     &rule->mask, &rule->address);
}

static bool tlt_rule_matches(const struct tlt_rule *rule, const struct sk_buff *skb,
			     struct sock *sk, const struct tlt_packet *p)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);

	if (!tlt_rule_port(rule, th->source) && !tlt_rule_port(rule, th->dest))
		return false;
	if (rule->ifindex && rule->ifindex != p->ifindex)
		return false;
	if (rule->family && (rule->family != p->family || !tlt_rule_address(rule, skb, p->out)))
		return false;
	return tlt_owner_matches(&rule->owner, sk);
}

/* @sk: the packet's own socket, whichever way it goes; NULL: none. */
bool tlt_config_matches(const struct tlt_config *config, const struct sk_buff *skb,
			struct sock *sk, const struct tlt_packet *p)
{
	u32 i;

	if (!config->rules_count)
		return true;
	for (i = 0; i < config->rules_count; i++) {
		if (tlt_rule_matches(&config->rules[i], skb, sk, p))
			return true;
	}
	return false;
}

struct tlt_config *tlt_config_alloc(unsigned int rules)
{
	struct tlt_config *config = kvzalloc(struct_size(config, rules, rules),
					     GFP_KERNEL_ACCOUNT);

	if (config)
		config->rules_count = rules;
	return config;
}

void tlt_config_free(struct tlt_config *config)
{
	u32 i;

	for (i = 0; i < config->rules_count; i++)
		tlt_owner_free(&config->rules[i].owner);
	kvfree(config);
}

static void tlt_config_add_ports(struct tlt_config *config, const struct tlt_rule *rule)
{
	u32 port;

	if (rule->port_span == U16_MAX) {
		bitmap_fill(config->ports, TLT_PORTS);
		return;
	}
	for (port = rule->port_low; port <= rule->port_low + rule->port_span; port++)
		__set_bit((__force u16)htons(port), config->ports);
}

/* Enter the ports that its rules name. */
void tlt_config_index(struct tlt_config *config)
{
	u32 i;

	if (!config->rules_count)
		bitmap_fill(config->ports, TLT_PORTS);
	for (i = 0; i < config->rules_count; i++)
		tlt_config_add_ports(config, &config->rules[i]);
}
