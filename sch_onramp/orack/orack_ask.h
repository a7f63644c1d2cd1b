/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which hosts we may ask for receipts: near ones, within the operator's prefixes if there are
 * any.  Pure.  Not in ONRAMP21.
 */
#ifndef ORACK_ASK_H
#define ORACK_ASK_H

#include "include/turnpike_types.h"

/* TCP's least RTT to a host of this datacenter, in us.  An empty path takes less than a
 * millisecond.  A flow that begins while 12 MB wait at 10 Gbit/s sees ten.
 */
#define ORACK_NEAR_US		10000U

#define ORACK_PREFIXES_MAX	16
#define ORACK_PREFIX_BITS_MAX	128

struct orack_prefix {
	u8 address[16];			/* IPv4 is mapped */
	u8 bits;
};

struct orack_prefixes {
	u32 count;			/* 0: all hosts */
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
