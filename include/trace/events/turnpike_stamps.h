/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace event of nicstamp (TIMELY15, section 5): one for each sample that a consumer gets.
 *
 *     echo 1 > /sys/kernel/tracing/events/stamps/nicstamp_sample/enable
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM stamps

#if !defined(TRACE_TURNPIKE_STAMPS_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_TURNPIKE_STAMPS_H

#include <linux/in6.h>
#include <linux/tracepoint.h>

#include "include/nicstamp_sample.h"

TRACE_EVENT(nicstamp_sample,

	TP_PROTO(const struct in6_addr *local, const struct in6_addr *remote,
		 __be16 local_port, __be16 remote_port, u32 una, u64 tcp_rtt_ns,
		 const struct nicstamp_sample *s),

	TP_ARGS(local, remote, local_port, remote_port, una, tcp_rtt_ns, s),

	TP_STRUCT__entry(
		__array(__u8, local, sizeof(struct in6_addr))
		__array(__u8, remote, sizeof(struct in6_addr))
		__field(__u16, local_port)
		__field(__u16, remote_port)
		__field(__u32, una)
		__field(__u32, tx_seq)
		__field(__u32, clock)
		__field(__u32, error_ns)
		__field(__u32, wait_ns)
		__field(__u32, wait_error_ns)
		__field(__u64, rtt_ns)
		__field(__u64, tcp_rtt_ns)
		__field(__u8, host)
		__field(__u8, ack_by_nic)
	),

	TP_fast_assign(
		memcpy(__entry->local, local, sizeof(*local));
		memcpy(__entry->remote, remote, sizeof(*remote));
		__entry->local_port = ntohs(local_port);
		__entry->remote_port = ntohs(remote_port);
		__entry->una = una;
		__entry->tx_seq = s->tx_seq;
		__entry->clock = s->clock;
		__entry->error_ns = s->error_ns;
		__entry->wait_ns = s->wait_ns;
		__entry->wait_error_ns = s->wait_error_ns;
		__entry->rtt_ns = s->rtt_ns;
		__entry->tcp_rtt_ns = tcp_rtt_ns;
		__entry->host = s->host;
		__entry->ack_by_nic = s->ack_by_nic;
	),

	TP_printk("src=[%pI6c]:%u dst=[%pI6c]:%u una=%u tx_seq=%u rtt_ns=%llu error_ns=%u tcp_rtt_ns=%llu wait_ns=%u wait_error_ns=%u clock=%#x host=%u ack_by_nic=%u",
		  __entry->local, __entry->local_port, __entry->remote, __entry->remote_port,
		  __entry->una, __entry->tx_seq, __entry->rtt_ns, __entry->error_ns,
		  __entry->tcp_rtt_ns, __entry->wait_ns, __entry->wait_error_ns, __entry->clock,
		  __entry->host, __entry->ack_by_nic)
);

#endif /* TRACE_TURNPIKE_STAMPS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH include/trace/events
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE turnpike_stamps
#include <trace/define_trace.h>
