// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a network namespace: net.ipv4.tcp_timely.* for "timely" (TIMELY15),
 * net.ipv4.tcp_timely_patched.* for "timely_patched" and net.ipv4.tcp_timely_pi.* for "timely_pi"
 * (ECNDELAY16). Each knob has a file, and "preset" sets all knobs of the engine at once.
 *
 * A write makes a copy of the settings, changes it, checks the whole and publishes
 * it.  A copy that does not pass the check changes nothing.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "compat/compat.h"
#include "timely_config.h"
#include "timely_dev.h"
#include "timely_host.h"
#include "timely_host_knobs.h"
#include "timely_net.h"
#include "timely_presets.h"
#include "timely_rate.h"

#define TIMELY_KNOBS_ALL	(TIMELY_KNOB_COUNT + TIMELY_HOST_KNOB_COUNT)
#define TIMELY_ENTRIES		(TIMELY_KNOBS_ALL + 1)	/* and the preset */
#define TIMELY_ENTRIES_MAX	(TIMELY_ENTRIES + TIMELY_PI_KNOB_COUNT)

/* Longest value written: a preset's name or 20 digits. */
#define TIMELY_VALUE_MAX	32

static const char * const timely_paths[TIMELY_VARIANTS] = {
	[TIMELY_VARIANT_TIMELY] = "net/ipv4/tcp_timely",
	[TIMELY_VARIANT_PATCHED] = "net/ipv4/tcp_timely_patched",
	[TIMELY_VARIANT_PI] = "net/ipv4/tcp_timely_pi",
};

/* Behind the entries of a table; their extra1 points to it. */
struct timely_table {
	struct net *net;
	int variant;
	struct ctl_table entries[TIMELY_ENTRIES_MAX + 1];
};

static bool timely_knob_is_host(const struct timely_knob *k)
{
	return k >= timely_host_knobs && k < timely_host_knobs + TIMELY_HOST_KNOB_COUNT;
}

/* Knobs address a structure of plain integers by offset, whichever it is. */
static void *timely_knob_base(const struct timely_knob *k, struct timely_config *config)
{
	return timely_knob_is_host(k) ? (void *)&config->host : (void *)&config->params;
}

static u64 timely_config_get(const struct timely_knob *k, struct timely_config *config)
{
	return timely_knob_get(k, timely_knob_base(k, config));
}

static void timely_config_publish(struct timely_net *tn, int variant,
				  struct timely_config *config)
{
	const struct timely_host *host = &config->host;
	struct timely_config *old;

	config->line_wire_mult = 0;
	if (host->line_rate_mbps)
		config->line_wire_mult = timely_wire_mult(host->line_rate_mbps * 1000000);
	config->default_wire_mult = timely_wire_mult(host->default_line_rate_mbps * 1000000);
	old = rcu_replace_pointer(tn->config[variant], config, lockdep_is_held(&tn->lock));
	if (old)
		kfree_rcu(old, rcu);
}

static const struct timely_preset *timely_preset_find(int variant, const char *name)
{
	int i;

	for (i = 0; i < TIMELY_PRESET_COUNT; i++) {
		if (timely_presets[i].variant == variant && !strcmp(timely_presets[i].name, name))
			return &timely_presets[i];
	}
	return NULL;
}

static bool timely_knobs_equal(const struct timely_knob *knobs, size_t count,
			       const struct timely_params *p, const struct timely_params *q)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (timely_knob_get(&knobs[i], p) != timely_knob_get(&knobs[i], q))
			return false;
	}
	return true;
}

static bool timely_preset_is(const struct timely_preset *preset, const struct timely_params *p)
{
	const struct timely_params *own = &preset->params;

	return timely_knobs_equal(timely_knobs, TIMELY_KNOB_COUNT, own, p) &&
	       timely_knobs_equal(timely_pi_knobs, TIMELY_PI_KNOB_COUNT, own, p) &&
	       timely_knobs_equal(timely_constants, TIMELY_CONSTANT_COUNT, own, p);
}

/* The preset that has these values, also if the operator set them one by one. */
static const char *timely_preset_name(int variant, const struct timely_params *p)
{
	int i;

	for (i = 0; i < TIMELY_PRESET_COUNT; i++) {
		if (timely_presets[i].variant == variant &&
		    timely_preset_is(&timely_presets[i], p))
			return timely_presets[i].name;
	}
	return "custom";
}

/* The value that a text stands for. */
static int timely_knob_parse(const struct timely_knob *k, const char *text, u64 *value,
			     const char **why)
{
	int word;

	if (k->words) {
		word = match_string(k->words, k->max + 1, text);
		*why = "not one of the words";
		*value = word;
		return word < 0 ? -EINVAL : 0;
	}
	if (kstrtou64(text, 0, value)) {
		*why = "not an unsigned integer";
		return -EINVAL;
	}
	if (*value < k->min || *value > k->max) {
		*why = "out of range";
		return -EINVAL;
	}
	return 0;
}

/* Put one written value into a copy of the settings. */
static int timely_config_change(struct timely_config *config, int variant,
				const struct timely_knob *k, const char *text, const char **why)
{
	const struct timely_preset *preset;
	u64 value;
	int err;

	if (!k) {
		preset = timely_preset_find(variant, text);
		if (!preset) {
			*why = "no preset of that name";
			return -EINVAL;
		}
		config->params = preset->params;
	} else {
		err = timely_knob_parse(k, text, &value, why);
		if (err)
			return err;
		timely_knob_set(k, timely_knob_base(k, config), value);
	}
	return timely_params_check(&config->params, why);
}

static int timely_config_write(const struct timely_table *table, const struct timely_knob *k,
			       const char *text)
{
	struct timely_net *tn = timely_net(table->net);
	const char *why = "", *name = k ? k->name : "preset";
	struct timely_config *config;
	int err;

	config = kmalloc(sizeof(*config), GFP_KERNEL_ACCOUNT);
	if (!config)
		return -ENOMEM;
	mutex_lock(&tn->lock);
	*config = *rcu_dereference_protected(tn->config[table->variant],
					     lockdep_is_held(&tn->lock));
	err = timely_config_change(config, table->variant, k, text, &why);
	if (!err)
		timely_config_publish(tn, table->variant, config);
	mutex_unlock(&tn->lock);
	if (err)
		kfree(config);
	/* Not from other namespaces, whose owners could fill the host's log. */
	if (err && net_eq(table->net, &init_net))
		pr_warn_ratelimited("%s/%s: '%s' refused: %s\n", timely_paths[table->variant],
				    name, text, why);
	return err;
}

static void timely_config_read(const struct timely_table *table, const struct timely_knob *k,
			       char *text)
{
	struct timely_net *tn = timely_net(table->net);
	struct timely_config *config;

	rcu_read_lock();
	config = rcu_dereference(tn->config[table->variant]);	/* set while registered */
	if (k && k->words)
		strscpy(text, k->words[timely_config_get(k, config)], TIMELY_VALUE_MAX);
	else if (k)
		snprintf(text, TIMELY_VALUE_MAX, "%llu", timely_config_get(k, config));
	else
		strscpy(text, timely_preset_name(table->variant, &config->params),
			TIMELY_VALUE_MAX);
	rcu_read_unlock();
}

static int timely_sysctl(TP_CTL_CONST struct ctl_table *ctl, int write, void *buffer,
			 size_t *lenp, loff_t *ppos)
{
	const struct timely_table *table = ctl->extra1;
	const struct timely_knob *k = ctl->extra2;
	char text[TIMELY_VALUE_MAX] = "";
	struct ctl_table string = { .data = text, .maxlen = sizeof(text) };
	int err;

	if (!write) {
		timely_config_read(table, k, text);
		return proc_dostring(&string, 0, buffer, lenp, ppos);
	}
	/* A value comes in one write; one too long would be cut to another value. */
	if (*ppos || *lenp >= sizeof(text))
		return -EINVAL;
	err = proc_dostring(&string, 1, buffer, lenp, ppos);
	return err ?: timely_config_write(table, k, strim(text));
}

/* Only timely_pi has the settings that are its own. */
static int timely_table_entries(const struct timely_table *table)
{
	return table->variant == TIMELY_VARIANT_PI ? TIMELY_ENTRIES_MAX : TIMELY_ENTRIES;
}

/* The setting of an entry; NULL: the preset. */
static const struct timely_knob *timely_table_knob(int i)
{
	if (i < TIMELY_KNOB_COUNT)
		return &timely_knobs[i];
	if (i < TIMELY_KNOBS_ALL)
		return &timely_host_knobs[i - TIMELY_KNOB_COUNT];
	return i == TIMELY_KNOBS_ALL ? NULL : &timely_pi_knobs[i - TIMELY_ENTRIES];
}

static void timely_table_fill(struct timely_table *table)
{
	int i;

	for (i = 0; i < timely_table_entries(table); i++) {
		struct ctl_table *ctl = &table->entries[i];
		const struct timely_knob *k = timely_table_knob(i);

		ctl->procname = k ? k->name : "preset";
		ctl->mode = 0644;
		ctl->proc_handler = timely_sysctl;
		ctl->extra1 = table;
		ctl->extra2 = (void *)k;
	}
}

static int timely_sysctl_init_variant(struct net *net, int variant)
{
	static const struct timely_host host = TIMELY_HOST_DEFAULT;
	struct timely_net *tn = timely_net(net);
	struct timely_config *config;
	struct timely_table *table;

	config = kzalloc(sizeof(*config), GFP_KERNEL_ACCOUNT);
	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!config || !table)
		goto fail;
	config->params = timely_preset_find(variant, "default")->params;
	config->host = host;
	mutex_lock(&tn->lock);
	timely_config_publish(tn, variant, config);
	mutex_unlock(&tn->lock);

	table->net = net;
	table->variant = variant;
	timely_table_fill(table);
	tn->header[variant] = tp_register_net_sysctl(net, timely_paths[variant],
						     table->entries, timely_table_entries(table));
	if (tn->header[variant]) {
		tn->table[variant] = table;
		return 0;
	}
	RCU_INIT_POINTER(tn->config[variant], NULL);
fail:
	kfree(table);
	kfree(config);
	return -ENOMEM;
}

/* A kernel socket may outlive this: from here on it finds no settings. */
void timely_sysctl_exit(struct net *net)
{
	struct timely_net *tn = timely_net(net);
	struct timely_config *config;
	int i;

	for (i = 0; i < TIMELY_VARIANTS; i++) {
		if (!tn->header[i])
			continue;
		unregister_net_sysctl_table(tn->header[i]);
		kfree(tn->table[i]);
		config = rcu_replace_pointer(tn->config[i], NULL, true);
		kfree_rcu(config, rcu);
	}
}

int timely_sysctl_init(struct net *net)
{
	struct timely_net *tn = timely_net(net);
	int i, err;

	mutex_init(&tn->lock);
	for (i = 0; i < TIMELY_VARIANTS; i++) {
		err = timely_sysctl_init_variant(net, i);
		if (err) {
			timely_sysctl_exit(net);
			return err;
		}
	}
	return 0;
}
