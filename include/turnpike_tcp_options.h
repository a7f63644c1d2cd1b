/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of options in a TCP header (RFC 9293, section 3.1) of an untrusted sender: it ends
 * at the first option that is not whole.
 */
#ifndef TURNPIKE_TCP_OPTIONS_H
#define TURNPIKE_TCP_OPTIONS_H

#include "turnpike_types.h"

#define TP_TCP_OPTION_END	0
#define TP_TCP_OPTION_NOP	1
#define TP_TCP_OPTION_SACK	5	/* RFC 2018 */
#define TP_TCP_OPTION_TS	8	/* RFC 7323 */

#define TP_TCP_TS_BYTES		8	/* of value: TSval, TSecr */
#define TP_TCP_BLOCK_BYTES	8	/* of a SACK's: begin, end */

/* The rest of a list; it is valid as long as the header. */
struct tp_tcp_options {
	const u8 *at;
	const u8 *end;
};

struct tp_tcp_option {
	const u8 *value;
	u8 kind;
	u8 bytes;		/* of value */
};

static inline u32 tp_tcp_value32(const u8 *at)
{
	return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

/* False: there is no other option, or the next is malformed.  NOPs are skipped. */
static inline bool tp_tcp_option_next(struct tp_tcp_options *list, struct tp_tcp_option *o)
{
	while (list->at < list->end && *list->at == TP_TCP_OPTION_NOP)
		list->at++;
	if (list->end - list->at < 2 || *list->at == TP_TCP_OPTION_END || list->at[1] < 2 ||
	    list->at[1] > list->end - list->at) {
		list->at = list->end;
		return false;
	}
	o->kind = list->at[0];
	o->bytes = list->at[1] - 2;
	o->value = list->at + 2;
	list->at += list->at[1];
	return true;
}

/* Number of blocks in a SACK option. */
static inline u32 tp_tcp_sack_blocks(const struct tp_tcp_option *o)
{
	return o->bytes / TP_TCP_BLOCK_BYTES;
}

#endif /* TURNPIKE_TCP_OPTIONS_H */
