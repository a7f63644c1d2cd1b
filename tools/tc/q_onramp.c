// SPDX-License-Identifier: GPL-2.0
/*
 * "onramp" for tc(8): options to netlink attributes and back, and statistics.
 *
 * Loaded by the distribution's own tc from its library directory or from TC_LIB_DIR.
 * Options that fq has are spelled as fq spells them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sched.h>

#include "tools/tc/tc_plugin.h"

#include "include/uapi/turnpike.h"

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... onramp [ pause | nopause ] [ mode final | paper | strawman ]\n"
		"                  [ threshold TIME ] [ gain 1/N ] [ pause_max TIME ]\n"
		"                  [ feedback auto | tcpts | orack ] [ feedback_timeout TIME ]\n"
		"                  [ governor | nogovernor ] [ gate auto | on | off ]\n"
		"                  [ line_rate RATE | auto ]\n"
		"and as for fq:    [ limit PACKETS ] [ flow_limit PACKETS ]\n"
		"                  [ quantum BYTES ] [ initial_quantum BYTES ]\n"
		"                  [ maxrate RATE | PERCENT ] [ buckets NUMBER ] [ [no]pacing ]\n"
		"                  [ refill_delay TIME ] [ low_rate_threshold RATE ]\n"
		"                  [ orphan_mask MASK ] [ timer_slack TIME ]\n"
		"                  [ ce_threshold TIME ] [ horizon TIME ]\n"
		"                  [ horizon_cap | horizon_drop ] [ offload_horizon TIME ]\n"
		"                  [ bands 3 priomap P0 P1 ... P15 ] [ weights W0 W1 W2 ]\n");
}

/* -- options ------------------------------------------------------------------- */

enum kind {
	NUMBER,		/* u32 */
	SIZE,		/* u32 bytes */
	TIME_US,	/* u32 microseconds */
	TIME_NS,	/* u32 nanoseconds */
	RATE,		/* u64 bytes per second */
	MAX_RATE,	/* as RATE, or percent of the device's speed */
	WORD,		/* one of words, by its number, u8 */
	FLAG,		/* no argument; value */
	BUCKETS,	/* rounded up to a power of two; u32, its logarithm */
	GAIN,		/* 1/N, N a power of two; u8, its logarithm */
	LINE_RATE,	/* as RATE; 0: auto */
	BANDS,		/* a number that cannot be another; shown with what bands have */
	HORIZON,	/* a switch that JSON has by the word for its state alone */
	IGNORED_RATE,	/* as MAX_RATE: fq's tc takes it, fq does nothing with it */
};

struct option {
	const char *name;
	enum kind kind;
	unsigned int attr;
	unsigned int value;	/* of times: what a number without a unit counts, ns */
	const char *words[4];	/* of switches: what is shown when off, when on */
};

/* In the order they are shown in: those of fq as fq has it, which scripts rely on. */
static const struct option options[] = {
	{ "limit", NUMBER, TCA_ONRAMP_LIMIT },
	{ "flow_limit", NUMBER, TCA_ONRAMP_FLOW_LIMIT },
	{ "buckets", BUCKETS, TCA_ONRAMP_BUCKETS_LOG },
	{ "orphan_mask", NUMBER, TCA_ONRAMP_ORPHAN_MASK },
	{ "pacing", FLAG, TCA_ONRAMP_PACING, 1, { "nopacing" } },
	{ "nopacing", FLAG, TCA_ONRAMP_PACING, 0 },
	{ "bands", BANDS, TCA_ONRAMP_PRIOMAP },
	{ "quantum", SIZE, TCA_ONRAMP_QUANTUM },
	{ "initial_quantum", SIZE, TCA_ONRAMP_INITIAL_QUANTUM },
	{ "maxrate", MAX_RATE, TCA_ONRAMP_MAXRATE },
	{ "low_rate_threshold", RATE, TCA_ONRAMP_LOW_RATE },
	{ "refill_delay", TIME_US, TCA_ONRAMP_REFILL_DELAY, 1000 },
	{ "ce_threshold", TIME_US, TCA_ONRAMP_CE_THRESHOLD, 1000 },
	{ "timer_slack", TIME_NS, TCA_ONRAMP_TIMER_SLACK, 1 },
	{ "horizon", TIME_US, TCA_ONRAMP_HORIZON, 1000 },
	{ "horizon_drop", HORIZON, TCA_ONRAMP_HORIZON_DROP, 1, { "horizon_cap", "horizon_drop" } },
	{ "horizon_cap", HORIZON, TCA_ONRAMP_HORIZON_DROP, 0 },
	{ "offload_horizon", TIME_US, TCA_ONRAMP_OFFLOAD_HORIZON, 1000 },
	{ "defrate", IGNORED_RATE },
	{ "pause", FLAG, TCA_ONRAMP_PAUSE, 1, { "nopause", "pause" } },
	{ "nopause", FLAG, TCA_ONRAMP_PAUSE, 0 },
	{ "mode", WORD, TCA_ONRAMP_MODE, 0, { "strawman", "final", "paper" } },
	{ "threshold", TIME_NS, TCA_ONRAMP_THRESHOLD, 1000 },
	{ "gain", GAIN, TCA_ONRAMP_GAIN_SHIFT },
	{ "pause_max", TIME_US, TCA_ONRAMP_PAUSE_MAX, 1000 },
	{ "feedback", WORD, TCA_ONRAMP_FEEDBACK, 0, { "auto", "tcpts", "orack" } },
	{ "feedback_timeout", TIME_US, TCA_ONRAMP_FEEDBACK_TIMEOUT, 1000 },
	{ "governor", FLAG, TCA_ONRAMP_GOVERNOR, 1, { "nogovernor", "governor" } },
	{ "nogovernor", FLAG, TCA_ONRAMP_GOVERNOR, 0 },
	{ "gate", WORD, TCA_ONRAMP_GATE, 0, { "auto", "on", "off" } },
	{ "line_rate", LINE_RATE, TCA_ONRAMP_LINE_RATE },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct option *find_option(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(options); i++)
		if (!strcmp(name, options[i].name))
			return &options[i];
	return NULL;
}

static int bad(const char *name, const char *value)
{
	fprintf(stderr, "onramp: bad value for %s: \"%s\"\n", name, value);
	return -1;
}

static int put_u32(struct nlmsghdr *n, unsigned int attr, __u32 value)
{
	return addattr32(n, 1024, attr, value);
}

static int put_u64(struct nlmsghdr *n, unsigned int attr, __u64 value)
{
	return addattr64(n, 1024, attr, value);
}

static bool has_unit(const char *text) { return text[strspn(text, "0123456789.")]; }

/* As fq takes them: a number without a unit is microseconds, of timer_slack nanoseconds. */
static int parse_time(const struct option *o, const char *text, struct nlmsghdr *n)
{
	__u64 value;
	__s64 ns;

	if (get_time64(&ns, text) || ns < 0)
		return bad(o->name, text);
	if (!has_unit(text))
		ns = ns > ~0U ? -1 : ns * o->value;
	value = o->kind == TIME_US ? ns / 1000 : ns;
	if (ns < 0 || value > ~0U)
		return bad(o->name, text);
	return put_u32(n, o->attr, value);
}

static int parse_word(const struct option *o, const char *text, struct nlmsghdr *n)
{
	unsigned int i;

	for (i = 0; o->words[i]; i++)
		if (!strcmp(text, o->words[i]))
			return addattr8(n, 1024, o->attr, i);
	return bad(o->name, text);
}

/* As fq's tc: 0 is as if it had not been said. */
static int parse_buckets(const struct option *o, const char *text, struct nlmsghdr *n)
{
	__u32 number, log = 0;

	if (get_u32(&number, text, 0))
		return bad(o->name, text);
	while (1ULL << log < number)
		log++;
	return number ? put_u32(n, o->attr, log) : 0;
}

/* A power of two, by its logarithm. */
static int parse_log(const char *name, const char *text, __u32 *log)
{
	__u32 number;

	if (get_u32(&number, text, 0) || !number || number & (number - 1))
		return bad(name, text);
	*log = __builtin_ctz(number);
	return 0;
}

static int parse_gain(const struct option *o, const char *text, struct nlmsghdr *n)
{
	__u32 log = 0;

	if (strncmp(text, "1/", 2) ? strcmp(text, "1") : parse_log(o->name, text + 2, &log))
		return bad(o->name, text);
	return addattr8(n, 1024, o->attr, log);
}

static int parse_rate(const struct option *o, const char *text, struct nlmsghdr *n)
{
	bool automatic = o->kind == LINE_RATE && !strcmp(text, "auto");
	__u64 rate = 0;

	if (!automatic && (get_rate64(&rate, text) || (o->kind == LINE_RATE && !rate)))
		return bad(o->name, text);
	return put_u64(n, o->attr, rate);
}

/* Of which @dev's speed is 100%. */
static int get_max_rate(__u64 *rate, const char *text, const char *dev)
{
	return strchr(text, '%') ? get_percent_rate64(rate, text, dev) : get_rate64(rate, text);
}

static int parse_max_rate(const struct option *o, const char *text, struct nlmsghdr *n,
			  const char *dev)
{
	__u64 rate;

	if (get_max_rate(&rate, text, dev))
		return bad(o->name, text);
	return put_u64(n, o->attr, rate);
}

static int parse_ignored(const struct option *o, const char *text, const char *dev)
{
	__u64 rate;

	if (get_max_rate(&rate, text, dev))
		return bad(o->name, text);
	fprintf(stderr, "onramp: %s is ignored\n", o->name);
	return 0;
}

static int parse_bands(const struct option *o, const char *text)
{
	__u32 number;

	return get_u32(&number, text, 0) || number != ONRAMP_UAPI_BANDS ? bad(o->name, text) : 0;
}

/* An option with one argument, or none. */
static int parse_simple(const struct option *o, const char *text, struct nlmsghdr *n,
			const char *dev)
{
	__u32 number;

	switch (o->kind) {
	case FLAG:
	case HORIZON:
		return addattr8(n, 1024, o->attr, o->value);
	case WORD:
		return parse_word(o, text, n);
	case NUMBER:
		if (get_u32(&number, text, 0))
			return bad(o->name, text);
		return put_u32(n, o->attr, number);
	case SIZE:
		if (get_size(&number, text))
			return bad(o->name, text);
		return put_u32(n, o->attr, number);
	case RATE:
	case LINE_RATE:
		return parse_rate(o, text, n);
	case MAX_RATE:
		return parse_max_rate(o, text, n, dev);
	case BUCKETS:
		return parse_buckets(o, text, n);
	case GAIN:
		return parse_gain(o, text, n);
	case BANDS:
		return parse_bands(o, text);
	case IGNORED_RATE:
		return parse_ignored(o, text, dev);
	default:
		return parse_time(o, text, n);
	}
}

static int parse_priomap(int *argc, char ***argv, struct nlmsghdr *n)
{
	__u8 map[TC_PRIO_MAX + 1];
	int i;

	for (i = 0; i <= TC_PRIO_MAX; i++) {
		if (--*argc <= 0) {
			fprintf(stderr, "onramp: priomap wants %d bands\n", TC_PRIO_MAX + 1);
			return -1;
		}
		if (get_u8(&map[i], *++*argv, 10))
			return bad("priomap", **argv);
	}
	return addattr_l(n, 1024, TCA_ONRAMP_PRIOMAP, map, sizeof(map));
}

static int parse_weights(int *argc, char ***argv, struct nlmsghdr *n)
{
	__s32 weights[ONRAMP_UAPI_BANDS];
	int i;

	for (i = 0; i < ONRAMP_UAPI_BANDS; i++) {
		if (--*argc <= 0) {
			fprintf(stderr, "onramp: weights wants %d numbers\n", ONRAMP_UAPI_BANDS);
			return -1;
		}
		if (get_s32(&weights[i], *++*argv, 0))
			return bad("weights", **argv);
	}
	return addattr_l(n, 1024, TCA_ONRAMP_WEIGHTS, weights, sizeof(weights));
}

static int parse_one(int *argc, char ***argv, struct nlmsghdr *n, const char *dev)
{
	const char *name = **argv;
	const struct option *o = find_option(name);

	if (!strcmp(name, "priomap"))
		return parse_priomap(argc, argv, n);
	if (!strcmp(name, "weights"))
		return parse_weights(argc, argv, n);
	if (!o) {
		if (strcmp(name, "help"))
			fprintf(stderr, "onramp: what is \"%s\"?\n", name);
		explain();
		return -1;
	}
	if (o->kind == FLAG || o->kind == HORIZON)
		return parse_simple(o, NULL, n, dev);
	if (--*argc <= 0) {
		fprintf(stderr, "onramp: \"%s\" wants a value\n", name);
		return -1;
	}
	return parse_simple(o, *++*argv, n, dev);
}

static int onramp_parse_opt(const struct qdisc_util *qu, int argc, char **argv,
			    struct nlmsghdr *n, const char *dev)
{
	struct rtattr *tail = addattr_nest(n, 1024, TCA_OPTIONS | NLA_F_NESTED);

	for (; argc > 0; argc--, argv++)
		if (parse_one(&argc, &argv, n, dev))
			return -1;
	addattr_nest_end(n, tail);
	return 0;
}

/* -- printing ------------------------------------------------------------------ */

/* In JSON times are numbers, in the unit of the attribute, as fq prints them. */
static void print_time(const char *name, __u64 value, bool us)
{
	char format[64], text[64];

	print_u64(PRINT_JSON, name, NULL, value);
	snprintf(format, sizeof(format), "%s %%s ", name);
	print_string(PRINT_FP, NULL, format, sprint_time64(us ? value * 1000 : value, text));
}

static void print_number(const char *name, __u64 value, const char *unit)
{
	char format[64];

	snprintf(format, sizeof(format), "%s %%llu%s ", name, unit);
	print_lluint(PRINT_ANY, name, format, value);
}

static void print_one_rate(const char *name, __u64 rate)
{
	char format[64];

	snprintf(format, sizeof(format), "%s %%s ", name);
	tc_print_rate(PRINT_ANY, name, format, rate);
}

/* What has no word for a state is shown in the other one alone, as fq shows pacing. */
static void print_flag(const struct option *o, bool on)
{
	if (!o->words[on])
		return;
	print_bool(PRINT_JSON, o->name, NULL, on);
	print_string(PRINT_FP, NULL, "%s ", o->words[on]);
}

static void print_horizon(const struct option *o, bool drop)
{
	print_null(PRINT_JSON, o->words[drop], NULL, NULL);
	print_string(PRINT_FP, NULL, "%s ", o->words[drop]);
}

static void print_word(const char *name, const struct option *o, __u8 value)
{
	const char *word = value < COUNT(o->words) && o->words[value] ? o->words[value] : "unknown";
	char format[64];

	snprintf(format, sizeof(format), "%s %%s ", name);
	print_string(PRINT_ANY, name, format, word);
}

static bool has(struct rtattr *tb[], unsigned int attr, size_t bytes)
{
	return tb[attr] && RTA_PAYLOAD(tb[attr]) >= bytes;
}

static void print_gain(const char *name, __u8 log)
{
	unsigned int n = 1U << (log & 31);

	print_float(PRINT_JSON, name, NULL, 1.0 / n);
	print_string(PRINT_FP, NULL, "%s ", name);
	print_uint(PRINT_FP, NULL, "1/%u ", n);
}

/* All ones is how the kernel says "none", 0 how it says "auto". */
static void print_rate_option(const struct option *o, __u64 rate)
{
	if (o->kind == LINE_RATE && !rate)
		print_string(PRINT_ANY, o->name, "line_rate %s ", "auto");
	else if (o->kind == MAX_RATE ? rate != ~0ULL : rate)
		print_one_rate(o->name, rate);
}

static void print_array(const char *name, const __s32 *values, unsigned int count)
{
	unsigned int i;

	open_json_array(PRINT_ANY, name);
	for (i = 0; i < count; i++)
		print_int(PRINT_ANY, NULL, "%d ", values[i]);
	close_json_array(PRINT_ANY, "");
}

/* JSON of fq has the space of the text in these two names. Both are there, with and without. */
static void print_band_array(const char *name, const __s32 *values, unsigned int count)
{
	char spaced[32];

	snprintf(spaced, sizeof(spaced), "%s ", name);
	print_array(spaced, values, count);
	if (is_json_context())
		print_array(name, values, count);
}

static void print_bands(struct rtattr *tb[])
{
	__s32 map[TC_PRIO_MAX + 1];
	unsigned int i;

	if (!has(tb, TCA_ONRAMP_PRIOMAP, TC_PRIO_MAX + 1) ||
	    !has(tb, TCA_ONRAMP_WEIGHTS, ONRAMP_UAPI_BANDS * sizeof(__s32)))
		return;
	print_uint(PRINT_ANY, "bands", "bands %u ", ONRAMP_UAPI_BANDS);
	for (i = 0; i <= TC_PRIO_MAX; i++)
		map[i] = ((__u8 *)RTA_DATA(tb[TCA_ONRAMP_PRIOMAP]))[i];
	print_band_array("priomap", map, COUNT(map));
	print_band_array("weights", RTA_DATA(tb[TCA_ONRAMP_WEIGHTS]), ONRAMP_UAPI_BANDS);
}

/* Those whose attribute is a u32. */
static void print_u32_option(const struct option *o, __u32 number)
{
	char format[32];

	switch (o->kind) {
	case NUMBER:
		print_number(o->name, number, strstr(o->name, "limit") ? "p" : "");
		return;
	case BUCKETS:
		print_number(o->name, 1ULL << (number & 31), "");
		return;
	case SIZE:
		snprintf(format, sizeof(format), "%s %%s ", o->name);
		print_size(PRINT_ANY, o->name, format, number);
		return;
	default:
		/* All ones is how the kernel says "none". */
		if (o->attr != TCA_ONRAMP_CE_THRESHOLD || number != ~0U)
			print_time(o->name, number, o->kind == TIME_US);
	}
}

static void print_option(const struct option *o, struct rtattr *tb[])
{
	switch (o->kind) {
	case RATE:
	case MAX_RATE:
	case LINE_RATE:
		if (has(tb, o->attr, 8))
			print_rate_option(o, rta_getattr_u64(tb[o->attr]));
		return;
	case WORD:
		if (has(tb, o->attr, 1))
			print_word(o->name, o, rta_getattr_u8(tb[o->attr]));
		return;
	case FLAG:
		/* Its opposite has an entry, too. */
		if (o->value && has(tb, o->attr, 1))
			print_flag(o, rta_getattr_u8(tb[o->attr]));
		return;
	case HORIZON:
		if (o->value && has(tb, o->attr, 1))
			print_horizon(o, rta_getattr_u8(tb[o->attr]));
		return;
	case IGNORED_RATE:
		return;
	case GAIN:
		if (has(tb, o->attr, 1))
			print_gain(o->name, rta_getattr_u8(tb[o->attr]));
		return;
	case BANDS:
		print_bands(tb);
		return;
	default:
		if (has(tb, o->attr, 4))
			print_u32_option(o, rta_getattr_u32(tb[o->attr]));
	}
}

static int onramp_print_opt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_ONRAMP_MAX + 1];
	size_t i;

	if (!opt)
		return 0;
	parse_rtattr_nested(tb, TCA_ONRAMP_MAX, opt);
	for (i = 0; i < COUNT(options); i++)
		print_option(&options[i], tb);
	return 0;
}

/* -- statistics ----------------------------------------------------------------- */

static void print_count(const char *name, __u64 value)
{
	char format[64];

	snprintf(format, sizeof(format), " %s %%llu", name);
	print_lluint(PRINT_ANY, name, format, value);
}

static void print_ns(const char *name, __s64 ns)
{
	char key[64], format[64], text[64];

	snprintf(key, sizeof(key), "%s_ns", name);
	print_s64(PRINT_JSON, key, NULL, ns);
	snprintf(format, sizeof(format), " %s %%s", name);
	print_string(PRINT_FP, NULL, format, sprint_time64(ns, text));
}

static void print_onramp(const struct tc_onramp_stats *st)
{
	static const char * const bql[] = { "unknown", "yes", "no" };

	print_nl();
	print_uint(PRINT_ANY, "controlled", "  controlled %u", st->controlled_flows);
	print_uint(PRINT_ANY, "tcpts", " (tcpts %u", st->controlled_tcpts);
	print_uint(PRINT_ANY, "orack", " orack %u)", st->controlled_orack);
	print_count("samples", st->samples);
	print_count("samples_orack", st->samples_orack);
	print_count("samples_wire", st->samples_wire);
	print_count("samples_noisy", st->samples_noisy);
	print_ns("delay_p50", st->delay_p50_ns);
	print_ns("delay_p99", st->delay_p99_ns);
	print_nl();
	print_lluint(PRINT_ANY, "pauses", "  pauses %llu", st->pauses);
	print_count("capped", st->pauses_capped);
	print_count("recalled", st->pauses_recalled);
	print_count("drains", st->drains);
	print_count("timeouts", st->timeouts);
	print_count("held", st->held_packets);
	print_ns("held_time", st->held_ns);
	print_count("bypassed", st->bypassed);
	print_nl();
	print_lluint(PRINT_ANY, "ignored_unknown", "  ignored_unknown %llu", st->ignored_unknown);
	print_count("ignored_late", st->ignored_late);
	print_count("ignored_unstamped", st->ignored_unstamped);
	print_count("base_steps", st->base_steps);
	print_count("coarse", st->coarse);
	print_count("burst_cuts", st->burst_cuts);
	print_nl();
	print_string(PRINT_ANY, "gate_active", "  gate_active %s", st->gate_active ? "yes" : "no");
	print_count("gated", st->gated);
	print_string(PRINT_ANY, "bql", " bql %s", bql[st->bql < COUNT(bql) ? st->bql : 0]);
	if (st->line_rate)
		tc_print_rate(PRINT_ANY, "line_rate", " line_rate %s", st->line_rate);
}

/* Text has what fq's has, which leaves out what is 0; JSON has it all, by fq's names. */
static void print_rare(const char *name, __u64 value)
{
	char format[64];

	print_lluint(PRINT_JSON, name, NULL, value);
	if (!value)
		return;
	snprintf(format, sizeof(format), " %s %%llu", name);
	print_lluint(PRINT_FP, NULL, format, value);
}

static void print_rare_time(const char *name, __u64 ns)
{
	char format[64], text[64];

	print_lluint(PRINT_JSON, name, NULL, ns);
	if (!ns)
		return;
	snprintf(format, sizeof(format), " %s %%s", name);
	print_string(PRINT_FP, NULL, format, sprint_time64(ns, text));
}

static void print_of_band(unsigned int band, const char *what, __u64 value,
			  void (*print)(const char *name, __u64 value))
{
	char name[32];

	snprintf(name, sizeof(name), "band%u_%s", band, what);
	print(name, value);
}

static void print_fq_flows(const struct tc_onramp_stats *st)
{
	unsigned int i;

	print_uint(PRINT_ANY, "flows", "  flows %u", st->flows);
	print_uint(PRINT_ANY, "inactive", " (inactive %u", st->inactive_flows);
	print_uint(PRINT_ANY, "throttled_flows", " throttled %u)", st->throttled_flows);
	for (i = 0; i < ONRAMP_UAPI_BANDS; i++)
		print_of_band(i, "pkts", st->band_packets[i], print_count);
	if (st->time_next_delayed_ns > 0)
		print_rare_time("next_packet_delay", st->time_next_delayed_ns);
}

static void print_fq_counts(const struct tc_onramp_stats *st)
{
	print_nl();
	print_lluint(PRINT_ANY, "gc", "  gc %llu", st->gc_flows);
	print_count("highprio", st->highprio_packets);
	print_rare("fastpath", st->fastpath_packets);
	print_count("throttled", st->throttled);
	print_rare_time("latency", st->unthrottle_latency_ns);
	print_rare("ce_mark", st->ce_mark);
	print_rare("flows_plimit", st->flows_plimit);
}

/* On a line of their own, if there are any. */
static void print_fq_losses(const struct tc_onramp_stats *st)
{
	bool any = st->pkts_too_long || st->allocation_errors || st->horizon_drops || st->horizon_caps;
	unsigned int i;

	for (i = 0; i < ONRAMP_UAPI_BANDS; i++)
		any |= !!st->band_drops[i];
	if (any)
		print_nl();
	print_rare("pkts_too_long", st->pkts_too_long);
	print_rare("alloc_errors", st->allocation_errors);
	print_rare("horizon_drops", st->horizon_drops);
	print_rare("horizon_caps", st->horizon_caps);
	for (i = 0; i < ONRAMP_UAPI_BANDS; i++)
		print_of_band(i, "drops", st->band_drops[i], print_rare);
}

static int onramp_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_onramp_stats st = { 0 };
	size_t length;

	if (!xstats)
		return 0;
	length = RTA_PAYLOAD(xstats);
	memcpy(&st, RTA_DATA(xstats), length < sizeof(st) ? length : sizeof(st));
	print_fq_flows(&st);
	print_fq_counts(&st);
	print_fq_losses(&st);
	print_onramp(&st);
	return 0;
}

/* tc writes its "next". */
struct qdisc_util onramp_qdisc_util = {
	.id = "onramp",
	.parse_qopt = onramp_parse_opt,
	.print_qopt = onramp_print_opt,
	.print_xstats = onramp_print_xstats,
};
