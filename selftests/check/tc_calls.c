// SPDX-License-Identifier: GPL-2.0
/*
 * Our declarations of tc's functions after iproute2's own: the compiler refuses those that
 * differ. That tc has all of them is seen when it loads the plugin.
 */
#include "utils.h"
#include "tc_util.h"

/* The one that has changed, see tc_calls.h. */
_Static_assert(_Generic(&print_color_size,
			int (*)(enum output_type, enum color_attr, const char *, const char *, __u32): 1,
			int (*)(enum output_type, enum color_attr, const char *, const char *, __u64): 1,
			default: 0), "print_color_size() takes neither __u32 nor __u64");
#define print_color_size ours_print_color_size
#include "tools/tc/tc_calls.h"
