// SPDX-License-Identifier: GPL-2.0
/* Our types of tc beside iproute2's own, member by member. */
#include "utils.h"
#include "tc_util.h"

/* Ours by other names; as iproute2 is included already, only ours are renamed. */
#define qdisc_util ours_qdisc_util
#define output_type ours_output_type
#define PRINT_FP OURS_PRINT_FP
#define PRINT_JSON OURS_PRINT_JSON
#define PRINT_ANY OURS_PRINT_ANY
#define color_attr ours_color_attr
#define COLOR_NONE OURS_COLOR_NONE
#include "tools/tc/tc_types.h"
#undef qdisc_util
#undef output_type
#undef PRINT_FP
#undef PRINT_JSON
#undef PRINT_ANY
#undef color_attr
#undef COLOR_NONE

#define SAME(value, ours) _Static_assert((size_t)(value) == (size_t)(ours), #value " is not " #ours)

SAME(PRINT_FP, OURS_PRINT_FP);
SAME(PRINT_JSON, OURS_PRINT_JSON);
SAME(PRINT_ANY, OURS_PRINT_ANY);
SAME(COLOR_NONE, OURS_COLOR_NONE);
SAME(sizeof(enum output_type), sizeof(enum ours_output_type));
SAME(sizeof(enum color_attr), sizeof(enum ours_color_attr));
SAME(sizeof(struct qdisc_util), sizeof(struct ours_qdisc_util));

#define SAME_PLACE(type, member)								\
	SAME(offsetof(struct type, member), offsetof(struct ours_##type, member));		\
	SAME(sizeof(((struct type *)0)->member), sizeof(((struct ours_##type *)0)->member))

/* A function's first argument is the type itself, since 6.9 a const one. */
#define SAME_FUNCTION(type, member, ...)							\
	SAME_PLACE(type, member);								\
	_Static_assert(_Generic(((struct type *)0)->member,					\
				int (*)(struct type *, __VA_ARGS__): 1,				\
				int (*)(const struct type *, __VA_ARGS__): 1, default: 0) &&	\
		       _Generic(((struct ours_##type *)0)->member,				\
				int (*)(const struct ours_##type *, __VA_ARGS__): 1,		\
				default: 0), #type "." #member " has other arguments")

SAME_PLACE(qdisc_util, next);
SAME_PLACE(qdisc_util, id);
SAME_FUNCTION(qdisc_util, parse_qopt, int, char **, struct nlmsghdr *, const char *);
SAME_FUNCTION(qdisc_util, print_qopt, FILE *, struct rtattr *);
SAME_FUNCTION(qdisc_util, print_xstats, FILE *, struct rtattr *);
SAME_FUNCTION(qdisc_util, parse_copt, int, char **, struct nlmsghdr *, const char *);
SAME_FUNCTION(qdisc_util, print_copt, FILE *, struct rtattr *);
SAME_FUNCTION(qdisc_util, has_block, struct rtattr *, __u32, bool *);
