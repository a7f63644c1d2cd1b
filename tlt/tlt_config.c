// SPDX-License-Identifier: GPL-2.0
/*
 * A namespace's configuration: which packets are TLT's, and what to do with them.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "tlt.h"

static bool tlt_rule_address(const struct tlt_rule *rule, const struct sk_buff *skb, bool out)
{
	if (rule->family == AF_INET) {
		__be32 other = out ? ip_hdr(skb)->daddr : ip_hdr(skb)->saddr;

		return !((other ^ rule->address.s6_addr32[0]) & rule->mask.s6_addr32[0]);
	}
	return !ipv6_masked_addr_cmp(out ? &ipv6_hdr(skb)->daddr : &ipv6_hdr(skb)->saddr,
				     &rule->mask, &rule->address);
}

static int tlt_rule_device(const struct sk_buff *skb, const struct nf_hook_state *state, bool out)
{
	const struct net_device *dev = state->in;

	if (out)
		dev = skb_dst(skb) ? skb_dst(skb)->dev : NULL;
	return dev ? dev->ifindex : 0;
}

static bool tlt_rule_matches(const struct tlt_rule *rule, const struct sk_buff *skb,
			     const struct nf_hook_state *state, const struct tlt_packet *p)
{
	const struct tcphdr *th = tlt_tcp_header(skb, p);
	bool out = state->hook == NF_INET_LOCAL_OUT;

	if (!tlt_rule_port(rule, th->source) && !tlt_rule_port(rule, th->dest))
		return false;
	if (rule->ifindex && rule->ifindex != tlt_rule_device(skb, state, out))
		return false;
	if (!rule->family)
		return true;
	return rule->family == p->family && tlt_rule_address(rule, skb, out);
}

bool tlt_config_matches(const struct tlt_config *config, const struct sk_buff *skb,
			const struct nf_hook_state *state, const struct tlt_packet *p)
{
	u32 i;

	if (!config->rules_count)
		return true;
	for (i = 0; i < config->rules_count; i++) {
		if (tlt_rule_matches(&config->rules[i], skb, state, p))
			return true;
	}
	return false;
}

struct tlt_config *tlt_config_alloc(unsigned int rules)
{
	struct tlt_config *config = kvzalloc(struct_size(config, rules, rules), GFP_KERNEL);

	if (config)
		config->rules_count = rules;
	return config;
}

/* What its rules come to, for those who do not want to go through them. */
static void tlt_config_index(struct tlt_config *config)
{
	u32 i;

	config->by_flow = true;
	if (!config->rules_count)
		bitmap_fill(config->ports, TLT_PORTS);
	for (i = 0; i < config->rules_count; i++) {
		const struct tlt_rule *rule = &config->rules[i];

		bitmap_set(config->ports, rule->port_low, rule->port_span + 1);
		if (rule->ifindex)
			config->by_flow = false;
	}
}

/* Flows remember which rules match them. */
static u32 tlt_config_number(struct tlt_net *tn)
{
	if (!++tn->generation)
		tn->generation = 1;
	return tn->generation;
}

/* @config takes the place of the one before, at once and as a whole. */
int tlt_config_use(struct net *net, struct tlt_config *config)
{
	struct tlt_net *tn = tlt_net(net);
	struct tlt_config *old;
	int err = 0;

	tlt_config_index(config);
	mutex_lock(&tn->mutex);
	if (!tn->hooked) {
		err = tlt_flow_net_use(tn) ?: tlt_hook_add(tn);
		if (err)
			goto unlock;
		tn->hooked = true;
		tlt_flow_start_reaper(tn);
	}
	config->generation = tlt_config_number(tn);
	old = rcu_replace_pointer(tn->config, config, lockdep_is_held(&tn->mutex));
	if (old)
		kvfree_rcu(old, rcu);
unlock:
	mutex_unlock(&tn->mutex);
	return err;
}

void tlt_config_off(struct net *net)
{
	struct tlt_net *tn = tlt_net(net);
	struct tlt_config *old;

	mutex_lock(&tn->mutex);
	old = rcu_replace_pointer(tn->config, NULL, lockdep_is_held(&tn->mutex));
	if (old)
		kvfree_rcu(old, rcu);
	if (tn->hooked)
		tlt_hook_remove(tn);
	tn->hooked = false;
	mutex_unlock(&tn->mutex);
}
