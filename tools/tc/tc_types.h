/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tc and its plugin hand to each other. A plugin is built for no release of tc: iproute2
 * installs no header for it, and these have been the same since 5.11. The check check-tc-plugin
 * compares them with iproute2's source.
 */
#ifndef TURNPIKE_TC_TYPES_H
#define TURNPIKE_TC_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/types.h>

/*
 * One kind of queueing discipline; tc finds it by the name of the variable, NAME_qdisc_util.
 * The functions that are NULL are those of a qdisc without classes. Before 6.9 tc called them
 * with a pointer to what is not const, which is passed alike.
 */
struct qdisc_util {
	struct qdisc_util *next;	/* tc's list; tc writes it */
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *util, int argc, char **argv,
			  struct nlmsghdr *message, const char *dev);
	int (*print_qopt)(const struct qdisc_util *util, FILE *out, struct rtattr *options);
	int (*print_xstats)(const struct qdisc_util *util, FILE *out, struct rtattr *stats);
	int (*parse_copt)(const struct qdisc_util *util, int argc, char **argv,
			  struct nlmsghdr *message, const char *dev);
	int (*print_copt)(const struct qdisc_util *util, FILE *out, struct rtattr *options);
	int (*has_block)(const struct qdisc_util *util, struct rtattr *options, __u32 block,
			 bool *has);
};

/* In which of tc's two outputs something is printed: plain text, JSON (tc -j), either. */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

/* Plugins print without colour; the numbers before it are those of colours. */
enum color_attr {
	COLOR_NONE = 6,
};

#endif
