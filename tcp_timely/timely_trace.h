/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace event of tcp_timely: one for each decision of the rate engine (TIMELY15, ECNDELAY16).
 *
 *     echo 1 > /sys/kernel/tracing/events/timely/timely_decision/enable
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM timely

#if !defined(TIMELY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TIMELY_TRACE_H

#include <linux/tracepoint.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <trace/events/net_probe_common.h>

#include "timely_completion.h"
#include "timely_rate.h"

#define timely_show_branch(branch)				\
	__print_symbolic(branch,				\
		{ TIMELY_BRANCH_FIRST,		"first" },	\
		{ TIMELY_BRANCH_DROPPED,	"below_floor" },\
		{ TIMELY_BRANCH_LOW,		"low" },	\
		{ TIMELY_BRANCH_HIGH,		"high" },	\
		{ TIMELY_BRANCH_INC,		"increase" },	\
		{ TIMELY_BRANCH_HAI,		"hai" },	\
		{ TIMELY_BRANCH_DEC,		"decrease" },	\
		{ TIMELY_BRANCH_BLEND,		"blend" },	\
		{ TIMELY_BRANCH_DRAIN,		"drain" },	\
		{ TIMELY_BRANCH_MERGED,		"merged" })

#define timely_show_source(source)				\
	__print_symbolic(source,				\
		{ TIMELY_SRC_TCP_US,		"tcp_us" },	\
		{ TIMELY_SRC_TCP_NS,		"tcp_ns" },	\
		{ TIMELY_SRC_DRIVER,		"driver" },	\
		{ TIMELY_SRC_NIC,		"nic" },	\
		{ TIMELY_SRC_FORWARD,		"forward" },	\
		{ TIMELY_SRC_HOPS,		"hops" })

TRACE_EVENT(timely_decision,

	TP_PROTO(struct sock *sk, const struct timely_event *ev,
		 const struct timely_outcome *out, u32 cwnd_segs),

	TP_ARGS(sk, ev, out, cwnd_segs),

	TP_STRUCT__entry(
		__array(__u8, saddr, sizeof(struct sockaddr_in6))
		__array(__u8, daddr, sizeof(struct sockaddr_in6))
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u64, rate_bps)
		__field(__u64, rtt_ns)
		__field(__s64, gradient_micro)
		__field(__u32, acked_bytes)
		__field(__u32, cwnd_segs)
		__field(__u32, p_milli)
		__field(__u8, branch)
		__field(__u8, source)
	),

	TP_fast_assign(
		const struct inet_sock *inet = inet_sk(sk);

		memset(__entry->saddr, 0, sizeof(struct sockaddr_in6));
		memset(__entry->daddr, 0, sizeof(struct sockaddr_in6));
		TP_STORE_ADDR_PORTS(__entry, inet, sk);
		__entry->sport = ntohs(inet->inet_sport);
		__entry->dport = ntohs(inet->inet_dport);
		__entry->rate_bps = out->rate_bps;
		__entry->rtt_ns = ev->rtt_ns;
		__entry->gradient_micro = timely_gradient_micro(out->rtt_diff_q, out->unit_ns);
		__entry->acked_bytes = ev->acked_bytes;
		__entry->cwnd_segs = cwnd_segs;
		__entry->p_milli = timely_mul_shr(out->pi_p_q, 1000, TIMELY_PI_SHIFT);
		__entry->branch = out->branch;
		__entry->source = ev->source;
	),

	TP_printk("src=%pISpc dst=%pISpc rate_bps=%llu rtt_ns=%llu gradient_micro=%lld branch=%s source=%s acked_bytes=%u cwnd_segs=%u p_milli=%u",
		  __entry->saddr, __entry->daddr,
		  __entry->rate_bps, __entry->rtt_ns, __entry->gradient_micro,
		  timely_show_branch(__entry->branch), timely_show_source(__entry->source),
		  __entry->acked_bytes, __entry->cwnd_segs, __entry->p_milli)
);

#endif /* TIMELY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tcp_timely
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE timely_trace
#include <trace/define_trace.h>
