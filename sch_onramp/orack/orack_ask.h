/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may be asked for receipts: a host that is near, and in a prefix of the operator's if there
 * are any.  Pure.
 */
#ifndef ORACK_ASK_H
#define ORACK_ASK_H

#include "include/turnpike_types.h"

/* TCP's least round trip to a host of this datacenter, in us: what is empty takes less than one
 * millisecond, and a flow that begins while 12 MB wait at 10 Gbit/s sees ten.
 */
#define ORACK_NEAR_US		10000U

#define ORACK_PREFIXES_MAX	16
#define ORACK_PREFIX_BITS_MAX	128

struct orack_prefix {
	u8 address[16];			/* IPv4 is mapped */
	u8 bits;
};

struct orack_prefixes {
	u32 count;			/* 0: everybody */
	struct orack_prefix prefix[ORACK_PREFIXES_MAX];
};

static inline bool orack_prefix_has(const struct orack_prefix *p, const u8 *address)
{
	u32 whole = p->bits / 8, rest = p->bits % 8, i;

	for (i = 0; i < whole; i++) {
		if (p->address[i] != address[i])
			return false;
	}
	return !rest || !((p->address[i] ^ address[i]) >> (8 - rest));
}

static inline bool orack_may_ask(const struct orack_prefixes *p, const u8 *address)
{
	u32 i;

	for (i = 0; i < p->count; i++) {
		if (orack_prefix_has(&p->prefix[i], address))
			return true;
	}
	return !p->count;
}

#endif /* ORACK_ASK_H */
