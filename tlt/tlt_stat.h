/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of TLT (TLT21): of a namespace, and of a flow (tlt_stat.c).
 */
#ifndef TLT_STAT_H
#define TLT_STAT_H

#include "tlt_flow.h"
#include "tlt_net.h"

/* Each packet of a burst has headers.  @flow: NULL for a packet without a flow. */
static inline void tlt_count_sent(const struct tlt_net *tn, struct tlt_flow *flow,
				  enum tlt_kind kind, u32 segments, u32 bytes, u32 header_bytes)
{
	bytes += (segments - 1) * header_bytes;
	tlt_count_add(tn, TLT_STAT_PACKETS + kind, segments);
	tlt_count_add(tn, TLT_STAT_BYTES + kind, bytes);
	if (!flow)
		return;
	flow->sent[kind].packets += segments;
	flow->sent[kind].bytes += bytes;
}

int tlt_stat_init(struct tlt_net *tn);
void tlt_stat_exit(struct tlt_net *tn);
u64 tlt_stat_sum(const struct tlt_net *tn, int stat);

#endif /* TLT_STAT_H */
