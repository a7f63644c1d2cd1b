// SPDX-License-Identifier: GPL-2.0
/*
 * Which feedback a connection has: microsecond TCP timestamps, the peer's receipts, or none.
 *
 *      socket --> source --> does it work? --> control block (onramp_attach.c)
 *                              | timestamps: a flow to there saw that they do not (onramp_path.c)
 *                              | receipts: we ask the peer for them, and it sends some
 *
 * This file calls both sources.  They call the controller, which knows neither.  Model: ONRAMP21.
 */
#include <net/tcp.h>

#include "compat/compat.h"
#include "onramp_ctl.h"
#include "onramp_feedback.h"
#include "onramp_path.h"
#include "onramp_sched.h"
#include "orack/orack_acking.h"

/* The module tells OR-ACKs of destinations so often: 10,000 lookups a second at most. */
#define ONRAMP_USED_NS		(100 * NSEC_PER_USEC)

/* A SYN's peer has not agreed to timestamps yet: it very likely will. */
static bool onramp_feedback_has_usec_ts(const struct sock *sk)
{
	return tp_tcp_usec_ts(tcp_sk(sk)) &&
	       (tcp_sk(sk)->rx_opt.tstamp_ok || sk->sk_state == TCP_SYN_SENT);
}

/* Which source could tell the delay of the socket's packets.  Timestamps come first: they cost
 * nothing and come with every ACK.  Feedback comes to the socket's namespace; the qdisc looks for
 * it in the device's.
 */
static enum onramp_source onramp_feedback_source(const struct onramp_sched *q,
						 const struct sock *sk)
{
	if (!sk_fullsock(sk) || !tp_sk_is_tcp(sk) || !net_eq(sock_net(sk), q->net))
		return ONRAMP_SOURCE_NONE;
	if (q->config.feedback != ONRAMP_FEEDBACK_ORACK && onramp_feedback_has_usec_ts(sk))
		return ONRAMP_SOURCE_TCPTS;
	if (q->config.feedback == ONRAMP_FEEDBACK_TCPTS)
		return ONRAMP_SOURCE_NONE;
	return ONRAMP_SOURCE_ORACK;
}

/* Tells OR-ACKs where data goes: a peer sends receipts when it is asked.  Only data has receipts,
 * and a peer that never answers counts as a host without On-Ramp.  So a host that only receives
 * must not ask, nor an unused connection.  A connection asks with its first data, and all
 * together with one packet in a while.  noinline: the key stays out of the caller's stack frame.
 */
static noinline void onramp_feedback_used(struct onramp_sched *q, const struct sk_buff *skb,
					  u64 now_ns)
{
	const struct sock *sk = skb->sk;
	struct onramp_segment seg;
	struct onramp_key key;

	if (onramp_packet_kind(skb, &seg) != ONRAMP_DATA)
		return;
	q->used_ns = now_ns + ONRAMP_USED_NS;
	onramp_packet_key(sk, &key);
	orack_peer_used(q->on, &key, sk);
}

/* TCP has counted the packet already. */
static bool onramp_feedback_is_first(const struct sk_buff *skb)
{
	u32 segments = skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;

	return READ_ONCE(tcp_sk(skb->sk)->data_segs_out) <= segments;
}

/* May a pause hold the packet, if it is data?  Without feedback no pause would, and fq's rules
 * are enough.  The packet has a socket.
 */
bool onramp_feedback_wanted(struct onramp_sched *q, const struct sk_buff *skb, u64 now_ns)
{
	const struct sock *sk = skb->sk;
	enum onramp_source source = onramp_feedback_source(q, sk);

	if (source != ONRAMP_SOURCE_ORACK)
		return source == ONRAMP_SOURCE_TCPTS;
	if (now_ns >= q->used_ns || onramp_feedback_is_first(skb))
		onramp_feedback_used(q, skb, now_ns);
	return orack_peer_may_ack(q->on, sk);
}

/* Has the flow a source that works?  The flow asks now and then, under the RCU read lock. */
enum onramp_source onramp_feedback_ask(struct onramp_sched *q, const struct sock *sk,
				       const struct onramp_key *key, u64 now_ns)
{
	enum onramp_source source = onramp_feedback_source(q, sk);

	if (source == ONRAMP_SOURCE_TCPTS && onramp_path_is_coarse(key, now_ns)) {
		source = onramp_source_instead(&q->config);
		if (source == ONRAMP_SOURCE_ORACK)
			orack_peer_used(q->on, key, sk);
	}
	if (source == ONRAMP_SOURCE_TCPTS ||
	    (source == ONRAMP_SOURCE_ORACK && orack_peer_acks(key)))
		return source;
	return ONRAMP_SOURCE_NONE;
}

/* Keeps the source found for the socket.  ctl->lock is held, or @ctl is not in the table yet. */
void onramp_feedback_set(struct onramp_ctl *ctl, const struct onramp_sched *q,
			 const struct sock *sk, enum onramp_source source)
{
	WRITE_ONCE(ctl->source, source);
	WRITE_ONCE(ctl->coarse, source != onramp_feedback_source(q, sk));
	ctl->mute = false;
}

/* A new flow begins with its path's pause: other flows may know of an overload. */
void onramp_feedback_adopt(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns)
{
	u64 until_ns = onramp_path_until_ns(&ctl->key);

	if (until_ns <= now_ns)
		return;
	onramp_pause_adopt(&ctl->pause, &q->config.pause, now_ns, until_ns);
	onramp_count(q, recalled);
}

/* The flow got its control block: the path may not be empty any more.  RCU read lock. */
void onramp_feedback_begin(struct onramp_sched *q, const struct onramp_key *key,
			   enum onramp_source source, u64 now_ns)
{
	if (source == ONRAMP_SOURCE_ORACK)
		orack_peer_request_all(q->on, key, now_ns);
}

/* A flow whose peer's timestamps are coarse sent a packet.  onramp_feedback_wanted() took them
 * for good ones, and told OR-ACKs nothing.
 */
void onramp_feedback_sent(struct onramp_sched *q, const struct onramp_ctl *ctl,
			  const struct sk_buff *skb, u64 now_ns)
{
	if (READ_ONCE(ctl->source) == ONRAMP_SOURCE_ORACK)
		onramp_feedback_used(q, skb, now_ns);
}
