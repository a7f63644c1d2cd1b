// SPDX-License-Identifier: GPL-2.0
/*
 * The action "tlt" for tc(8), loaded as q_onramp.c is.  It has no options of its own: what
 * TLT does is set by turnpike-tlt(1).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/tc_act/tc_gact.h>

#include "tools/tc/tc_plugin.h"

#include "include/uapi/turnpike.h"

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... tlt [ CONTROL ] [ index INDEX ]\n"
		"CONTROL := reclassify | pipe | drop | continue | ok | goto chain CHAIN\n"
		"           (default: pipe)\n"
		"What TLT does with its packets: turnpike tlt set --attach tc ...\n");
}

static int parse_index(int *argc, char ***argv, __u32 *index)
{
	if (--*argc <= 0 || get_u32(index, *++*argv, 10)) {
		fprintf(stderr, "tlt: \"index\" wants a number\n");
		return -1;
	}
	--*argc;
	++*argv;
	return 0;
}

static int tlt_parse_aopt(const struct action_util *a, int *argc, char ***argv, int code,
			  struct nlmsghdr *n)
{
	struct tc_gact options = { };
	struct rtattr *tail;

	/* The name of the action is the first word. */
	--*argc;
	++*argv;
	if (*argc > 0 && !strcmp(**argv, "help")) {
		explain();
		return -1;
	}
	parse_action_control_dflt(argc, argv, &options.action, false, TC_ACT_PIPE);
	if (*argc > 0 && !strcmp(**argv, "index") && parse_index(argc, argv, &options.index))
		return -1;
	tail = addattr_nest(n, TC_MAX_MESSAGE_BYTES, code | NLA_F_NESTED);
	addattr_l(n, TC_MAX_MESSAGE_BYTES, TCA_TLT_PARMS, &options, sizeof(options));
	addattr_nest_end(n, tail);
	return 0;
}

static void print_works(struct rtattr *attr)
{
	bool works = attr && rta_getattr_u8(attr);

	print_bool(PRINT_JSON, "attached", NULL, works);
	print_string(PRINT_FP, NULL, "%s", works ? "" : " (not attached: turnpike tlt show)");
}

/*
 * tc prints both for its own actions, by functions that have other arguments in other
 * releases of it (6.1, 6.15): a plugin must do without.
 */
static const char *control_name(__u32 action)
{
	static const char *const names[] = {
		[TC_ACT_OK] = "pass",
		[TC_ACT_RECLASSIFY] = "reclassify",
		[TC_ACT_SHOT] = "drop",
		[TC_ACT_PIPE] = "pipe",
		[TC_ACT_TRAP] = "trap",
	};

	if (action == (__u32)TC_ACT_UNSPEC)
		return "continue";
	if (TC_ACT_EXT_CMP(action, TC_ACT_GOTO_CHAIN))
		return "goto";
	if (TC_ACT_EXT_CMP(action, TC_ACT_JUMP))
		return "jump";
	return action < sizeof(names) / sizeof(names[0]) && names[action] ? names[action] : "unknown";
}

static void print_control(__u32 action)
{
	__u32 value = action & TC_ACT_EXT_VAL_MASK;

	open_json_object("control_action");
	print_string(PRINT_ANY, "type", "%s", control_name(action));
	if (TC_ACT_EXT_CMP(action, TC_ACT_GOTO_CHAIN))
		print_uint(PRINT_ANY, "chain", " chain %u", value);
	if (TC_ACT_EXT_CMP(action, TC_ACT_JUMP))
		print_uint(PRINT_ANY, "jump", " %u", value);
	close_json_object();
}

static void print_times(const struct tcf_t *times)
{
	long hz = sysconf(_SC_CLK_TCK);

	print_u64(PRINT_ANY, "installed", " installed %llu sec", times->install / hz);
	print_u64(PRINT_ANY, "last_used", " used %llu sec", times->lastuse / hz);
	if (times->firstuse)
		print_u64(PRINT_ANY, "first_used", " firstused %llu sec", times->firstuse / hz);
}

static int tlt_print_aopt(const struct action_util *a, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_TLT_MAX + 1];
	const struct tc_gact *options;

	print_string(PRINT_ANY, "kind", "%s ", "tlt");
	if (!opt)
		return 0;
	parse_rtattr_nested(tb, TCA_TLT_MAX, opt);
	if (!tb[TCA_TLT_PARMS] || RTA_PAYLOAD(tb[TCA_TLT_PARMS]) < sizeof(*options)) {
		fprintf(stderr, "tlt: the kernel's answer has no parameters\n");
		return -1;
	}
	options = RTA_DATA(tb[TCA_TLT_PARMS]);
	print_control(options->action);
	print_works(tb[TCA_TLT_WORKS]);
	print_nl();
	print_uint(PRINT_ANY, "index", "\t index %u", options->index);
	print_int(PRINT_ANY, "ref", " ref %d", options->refcnt);
	print_int(PRINT_ANY, "bind", " bind %d", options->bindcnt);
	if (show_stats && tb[TCA_TLT_TM] && RTA_PAYLOAD(tb[TCA_TLT_TM]) >= sizeof(struct tcf_t))
		print_times(RTA_DATA(tb[TCA_TLT_TM]));
	print_nl();
	return 0;
}

struct action_util tlt_action_util = {
	.id = "tlt",
	.parse_aopt = tlt_parse_aopt,
	.print_aopt = tlt_print_aopt,
};
