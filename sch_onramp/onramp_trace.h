/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of sch_onramp: a delay sample with the pausing rule's verdict, and a data packet
 * that leaves.  Model: On-Ramp (ONRAMP21).
 *
 * delay_ns is the queueing delay as feedback told it.  judged_ns is what pause_ns was computed
 * from: the same, but for a flow whose delay is noise (onramp_noise.h), and at most
 * ONRAMP_DELAY_MAX_NS.  lag_ns is P of the packet that judged_ns belongs to.
 *
 *     echo 1 > /sys/kernel/tracing/events/onramp/enable
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM onramp

#if !defined(ONRAMP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ONRAMP_TRACE_H

#include <linux/tracepoint.h>

#include "onramp_ctl.h"

TRACE_EVENT(onramp_sample,

	TP_PROTO(const struct onramp_ctl *ctl, u32 end_seq, u64 delay_ns, u64 rtt_ns,
		 const struct onramp_verdict *v),

	TP_ARGS(ctl, end_seq, delay_ns, rtt_ns, v),

	TP_STRUCT__entry(
		__array(__u8, daddr, sizeof(struct in6_addr))
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u32, end_seq)
		__field(__u64, delay_ns)
		__field(__u64, judged_ns)
		__field(__u64, rtt_ns)
		__field(__u64, lag_ns)
		__field(__u64, pause_ns)
		__field(__u32, beta)
		__field(bool, capped)
	),

	TP_fast_assign(
		memcpy(__entry->daddr, &ctl->key.daddr, sizeof(struct in6_addr));
		__entry->sport = ntohs(ctl->key.sport);
		__entry->dport = ntohs(ctl->key.dport);
		__entry->end_seq = end_seq;
		__entry->delay_ns = delay_ns;
		__entry->judged_ns = ctl->pause.black_delay_ns;
		__entry->rtt_ns = rtt_ns;
		__entry->lag_ns = v->lag_ns;
		__entry->pause_ns = v->pause_ns;
		__entry->beta = ctl->pause.beta;
		__entry->capped = v->capped;
	),

	TP_printk("dst=%pI6c sport=%u dport=%u end_seq=%u delay_ns=%llu judged_ns=%llu rtt_ns=%llu lag_ns=%llu beta_milli=%llu pause_ns=%llu%s",
		  __entry->daddr, __entry->sport, __entry->dport, __entry->end_seq,
		  __entry->delay_ns, __entry->judged_ns, __entry->rtt_ns, __entry->lag_ns,
		  (__entry->beta * 1000ULL) >> ONRAMP_BETA_SHIFT, __entry->pause_ns,
		  __entry->capped ? " capped" : "")
);

TRACE_EVENT(onramp_send,

	TP_PROTO(const struct onramp_ctl *ctl, const struct onramp_record *r, u64 rate),

	TP_ARGS(ctl, r, rate),

	TP_STRUCT__entry(
		__array(__u8, daddr, sizeof(struct in6_addr))
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u32, start_seq)
		__field(__u32, bytes)
		__field(__u32, hold_ns)
		__field(__u64, rate)
	),

	TP_fast_assign(
		memcpy(__entry->daddr, &ctl->key.daddr, sizeof(struct in6_addr));
		__entry->sport = ntohs(ctl->key.sport);
		__entry->dport = ntohs(ctl->key.dport);
		__entry->start_seq = r->start_seq;
		__entry->bytes = r->end_seq - r->start_seq;
		__entry->hold_ns = r->hold_ns;
		__entry->rate = rate;
	),

	TP_printk("dst=%pI6c sport=%u dport=%u start_seq=%u bytes=%u hold_ns=%u pacing_bps=%llu",
		  __entry->daddr, __entry->sport, __entry->dport, __entry->start_seq,
		  __entry->bytes, __entry->hold_ns, __entry->rate * 8)
);

#endif /* ONRAMP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH sch_onramp
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE onramp_trace
#include <trace/define_trace.h>
