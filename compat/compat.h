/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels; other headers of this folder have those that few
 * files need.  compat/probe finds what differs.  Only this file reads the version, to refuse
 * kernels older than those tested.
 */
#ifndef TURNPIKE_COMPAT_H
#define TURNPIKE_COMPAT_H

#include <linux/version.h>
#include <linux/sysctl.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/module.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/tcp.h>

#include "turnpike_config.h"

#ifdef TP_HAVE_GSO_HEADER
#include <net/gso.h>
#endif

#ifdef TP_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if KERNEL_VERSION(6, 1, 0) > LINUX_VERSION_CODE
#error "Turnpike supports Linux 6.1 and later"
#endif

/*
 * TP_CONG_CONTROL(name, handler) defines name() with the prototype of
 * tcp_congestion_ops.cong_control.  It calls handler(sk, rs).
 */
#ifdef TP_HAVE_CONG_CONTROL_ACK_FLAG
#define TP_CONG_CONTROL(name, handler)					\
static void name(struct sock *sk, u32 ack, int flag,			\
		 const struct rate_sample *rs)				\
{									\
	handler(sk, rs);						\
}
#else
#define TP_CONG_CONTROL(name, handler)					\
static void name(struct sock *sk, const struct rate_sample *rs)		\
{									\
	handler(sk, rs);						\
}
#endif

/*
 * TP_CWND_EVENT_TX_START(name, handler) defines name() for the congestion control's
 * TP_CWND_EVENT_TX_START_MEMBER.  It calls handler(sk) when data leaves and none was in flight.
 */
#ifdef TP_HAVE_CWND_EVENT_TX_START
#define TP_CWND_EVENT_TX_START_MEMBER	cwnd_event_tx_start
#define TP_CWND_EVENT_TX_START(name, handler)				\
static void name(struct sock *sk)					\
{									\
	handler(sk);							\
}
#else
#define TP_CWND_EVENT_TX_START_MEMBER	cwnd_event
#define TP_CWND_EVENT_TX_START(name, handler)				\
static void name(struct sock *sk, enum tcp_ca_event event)		\
{									\
	if (event == CA_EVENT_TX_START)					\
		handler(sk);						\
}
#endif

/*
 * TP_TSO_SEGS(name) is the head of a function for the congestion control's TP_TSO_SEGS_MEMBER.
 * It returns how many segments a burst of socket @sk has.  TCP takes that for the least, and in
 * kernels with BBRv3 for the exact number.
 */
#ifdef TP_HAVE_TSO_SEGS
#define TP_TSO_SEGS_MEMBER	tso_segs
#define TP_TSO_SEGS(name)	static u32 name(struct sock *sk, unsigned int mss_now)
#else
#define TP_TSO_SEGS_MEMBER	min_tso_segs
#define TP_TSO_SEGS(name)	static u32 name(struct sock *sk)
#endif

/* A proc_handler's first argument is TP_CTL_CONST struct ctl_table *. */
#ifdef TP_HAVE_CONST_CTL_TABLE
#define TP_CTL_CONST const
#else
#define TP_CTL_CONST
#endif

/*
 * Register @count entries.  Older kernels stop at the first empty entry instead
 * of counting, so the table must have one beyond @count.
 */
static inline struct ctl_table_header *
tp_register_net_sysctl(struct net *net, const char *path,
		       struct ctl_table *table, size_t count)
{
#ifdef TP_HAVE_REGISTER_NET_SYSCTL_SZ
	return register_net_sysctl_sz(net, path, table, count);
#else
	return register_net_sysctl(net, path, table);
#endif
}

static inline void
tp_hrtimer_setup(struct hrtimer *timer,
		 enum hrtimer_restart (*function)(struct hrtimer *timer),
		 clockid_t clock, enum hrtimer_mode mode)
{
#ifdef TP_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/* The device's transmit function takes its own locks. */
static inline void tp_netdev_set_lltx(struct net_device *dev)
{
#ifdef TP_HAVE_NETDEV_LLTX
	dev->lltx = true;
#else
	dev->features |= NETIF_F_LLTX;
#endif
}

/* ethtool_ops.get_ts_info fills in a struct tp_ts_info. */
#ifdef TP_HAVE_KERNEL_ETHTOOL_TS_INFO
#define tp_ts_info kernel_ethtool_ts_info
#else
#define tp_ts_info ethtool_ts_info
#endif

/* -- the kernel's fq, which onramp does as --------------------------------- */

/* How many bands fq has, with what weights, and whether it has a fast path.  GC_ALWAYS: each
 * lookup collects old flows; otherwise only lookups in a table that is crowded with them.
 */
#ifdef TP_HAVE_FQ_BANDS
#define TP_FQ_BANDS		FQ_BANDS
#define TP_FQ_MIN_WEIGHT	FQ_MIN_WEIGHT
#define TP_FQ_FAST_PATH		true
#define TP_FQ_GC_ALWAYS		true

static inline int tp_fq_weight(int band)
{
	return band == 0 ? 9 << 16 : band == 1 ? 3 << 16 : 1 << 16;
}

static inline u8 tp_fq_prio2band(int prio)
{
	return sch_default_prio2band[prio];
}
#else
#define TP_FQ_BANDS		1
#define TP_FQ_MIN_WEIGHT	0
#define TP_FQ_FAST_PATH		false
#define TP_FQ_GC_ALWAYS		false

static inline int tp_fq_weight(int band)
{
	return 1 << 16;
}

static inline u8 tp_fq_prio2band(int prio)
{
	return 0;
}
#endif

/*
 * Does an earlier packet move the time for which its flow waits?  No member tells.  fq began to
 * move it shortly before qdiscs began to count by a function.  The drop reasons of fq do not
 * tell, as a 6.18 has them without this.  If the answer is wrong, a packet leaves earlier or later
 * than fq's.
 */
#ifdef TP_HAVE_QDISC_QLEN_INC
#define TP_FQ_EARLIER_WAKES	true
#else
#define TP_FQ_EARLIER_WAKES	false
#endif

/* How long before its time the device accepts a packet, and keeps it; 0: it does not. */
#ifdef TP_HAVE_PACING_OFFLOAD
#define TP_PACING_OFFLOAD	true
#else
#define TP_PACING_OFFLOAD	false
#endif

static inline u64 tp_pacing_offload_ns(const struct net_device *dev)
{
#ifdef TP_HAVE_PACING_OFFLOAD
	return READ_ONCE(dev->max_pacing_offload_horizon);
#else
	return 0;
#endif
}

/* Can TCP timestamps count microseconds? */
#ifdef TP_HAVE_TCP_CLOCK_TS
#define TP_TCP_USEC_TS	true
#else
#define TP_TCP_USEC_TS	false
#endif

#if defined(TP_HAVE_QDISC_DROP_REASON_ENUM)
#define tp_qdisc_drop(skb, sch, to_free, reason)			\
	qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_##reason)
#elif defined(TP_HAVE_FQ_DROP_REASON)
#define tp_qdisc_drop(skb, sch, to_free, reason)			\
	qdisc_drop_reason(skb, sch, to_free, SKB_DROP_REASON_FQ_##reason)
#else
/* These kernels know one reason only. */
#define TP_QDISC_DROP_BAND_LIMIT	0
#define TP_QDISC_DROP_HORIZON_LIMIT	0
#define TP_QDISC_DROP_FLOW_LIMIT	0
#define tp_qdisc_drop(skb, sch, to_free, reason)			\
	((void)TP_QDISC_DROP_##reason, qdisc_drop(skb, sch, to_free))
#endif

static inline struct sk_buff *tp_qdisc_dequeue_internal(struct Qdisc *sch)
{
#ifdef TP_HAVE_QDISC_DEQUEUE_INTERNAL
	return qdisc_dequeue_internal(sch, false);
#else
	return sch->dequeue(sch);
#endif
}

#ifdef TP_HAVE_MODULE_ALIAS_NET_SCH
#define TP_MODULE_ALIAS_SCH(name)	MODULE_ALIAS_NET_SCH(name)
#else
#define TP_MODULE_ALIAS_SCH(name)	MODULE_ALIAS("sch_" name)
#endif

static inline bool tp_sk_is_tcp(const struct sock *sk)
{
#ifdef TP_HAVE_SK_IS_TCP
	return sk_is_tcp(sk);
#else
	return sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_TCP;
#endif
}

/* Do the connection's own timestamps count microseconds? */
static inline bool tp_tcp_usec_ts(const struct tcp_sock *tp)
{
#ifdef TP_HAVE_TCP_CLOCK_TS
	return tp->tcp_usec_ts;
#else
	return false;
#endif
}

/* The value of the timestamp option at @ns of TCP's clock (skb_mstamp_ns), without its offset. */
static inline u32 tp_tcp_timestamp(const struct tcp_sock *tp, u64 ns)
{
#ifdef TP_HAVE_TCP_CLOCK_TS
	return div_u64(ns, tp->tcp_usec_ts ? NSEC_PER_USEC : NSEC_PER_MSEC);
#else
	return tcp_ns_to_ts(ns);
#endif
}

/*
 * Sets when a queue that keeps time may send a packet, as TCP does for its own.  The last
 * argument is a bool, "monotonic", or in newer kernels that clock's number, which is 1 as well.
 */
static inline void tp_skb_set_departure(struct sk_buff *skb, u64 departure_ns)
{
	skb_set_delivery_time(skb, departure_ns, true);
}

/* kernel_bind() takes a struct tp_sockaddr. */
#ifdef TP_HAVE_SOCKADDR_UNSIZED
#define tp_sockaddr	sockaddr_unsized
#else
#define tp_sockaddr	sockaddr
#endif

/* For alloc_workqueue(): work stays on the CPU that queued it. */
#ifdef TP_HAVE_WQ_PERCPU
#define TP_WQ_PERCPU	WQ_PERCPU
#else
#define TP_WQ_PERCPU	0
#endif

/* Send an ACK of what was received before @rcv_nxt, now.  The socket is locked. */
static inline void tp_tcp_send_ack(struct sock *sk, u32 rcv_nxt)
{
#ifdef TP_HAVE_TCP_SEND_ACK_FLAGS
	__tcp_send_ack(sk, rcv_nxt, 0);
#else
	__tcp_send_ack(sk, rcv_nxt);
#endif
}

#endif /* TURNPIKE_COMPAT_H */
