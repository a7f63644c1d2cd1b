// SPDX-License-Identifier: GPL-2.0
/*
 * Which feedback a connection has: microsecond TCP timestamps, the peer's receipts, or none.
 *
 *      socket --> source --> does it work? --> control block (onramp_attach.c)
 *                              | timestamps: a flow to there saw that they do not (onramp_path.c)
 *                              | receipts: the peer is asked for them, and sends some
 *
 * Both sources are called from here.  The controller, which they call, knows of neither.
 */
#include <net/tcp.h>

#include "compat/compat.h"
#include "onramp_ctl.h"
#include "onramp_feedback.h"
#include "onramp_path.h"
#include "onramp_sched.h"
#include "orack/orack_acking.h"

/* OR-ACKs are told of destinations so often: 10,000 lookups a second at most. */
#define ONRAMP_USED_NS		(100 * NSEC_PER_USEC)

/* For the SYN, whose peer has not agreed to timestamps yet: very likely. */
static bool onramp_feedback_has_usec_ts(const struct sock *sk)
{
	return tp_tcp_usec_ts(tcp_sk(sk)) &&
	       (tcp_sk(sk)->rx_opt.tstamp_ok || sk->sk_state == TCP_SYN_SENT);
}

/* What could tell how long the socket's packets are under way.  Timestamps are preferred:
 * they cost nothing, and come with every ACK.  Feedback comes to the socket's namespace,
 * and it is looked for in the device's.
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

/* Receipts come of who was asked for them: say where data goes.  Only data has receipts, and
 * who never answers is taken for a host without On-Ramp, so that what only receives, and
 * sends ACKs, must not ask, nor a connection that is made and never used.  A connection's
 * first data says so, and of those that go on one packet in a while.  Its key stays out of the
 * stack frame of what is called for each packet.
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

/* May the packet be held, if it is data?  Without feedback it would never be, and needs no
 * more than fq does.  The packet has a socket.
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

/* Has the flow a source that works?  Asked now and then; under the RCU read lock. */
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

/* What was found for the socket.  ctl->lock is held, or nobody else has it yet. */
void onramp_feedback_set(struct onramp_ctl *ctl, const struct onramp_sched *q,
			 const struct sock *sk, enum onramp_source source)
{
	WRITE_ONCE(ctl->source, source);
	WRITE_ONCE(ctl->coarse, source != onramp_feedback_source(q, sk));
	ctl->mute = false;
}

/* A new flow begins where its path is: other flows may know that it is overloaded. */
void onramp_feedback_adopt(struct onramp_sched *q, struct onramp_ctl *ctl, u64 now_ns)
{
	u64 until_ns = onramp_path_until_ns(&ctl->key);

	if (until_ns <= now_ns)
		return;
	onramp_pause_adopt(&ctl->pause, &q->config.pause, now_ns, until_ns);
	onramp_count(q, recalled);
}

/* The flow has its control block: the path may be empty no more.  Under the RCU read lock. */
void onramp_feedback_begin(struct onramp_sched *q, const struct onramp_key *key,
			   enum onramp_source source, u64 now_ns)
{
	if (source == ONRAMP_SOURCE_ORACK)
		orack_peer_request_all(q->on, key, now_ns);
}

/* A packet left of a flow whose peer's timestamps do not serve: onramp_feedback_wanted() took its
 * peer for one whose do, and said nothing.
 */
void onramp_feedback_sent(struct onramp_sched *q, const struct onramp_ctl *ctl,
			  const struct sk_buff *skb, u64 now_ns)
{
	if (READ_ONCE(ctl->source) == ONRAMP_SOURCE_ORACK)
		onramp_feedback_used(q, skb, now_ns);
}
