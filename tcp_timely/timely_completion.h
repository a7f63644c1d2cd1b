/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion events: when is a transmitted burst done, and how long did it take?
 *
 * TIMELY15 (section 3.1) takes one RTT per segment: a run of packets that leaves the
 * host back to back.  In TCP this is the skb of one transmission, here called a burst.
 *
 *     send                covered bytes leave           ACK covering them
 *      |---- wire time ---->|........ RTT ...............|
 *      |------------------ elapsed ----------------------|
 *
 *     RTT = elapsed - covered wire bytes / line rate
 *
 * The send time identifies a burst: packets that share one were sent as one.  One
 * record is enough, that of the burst at the head of the retransmit queue or of the
 * first burst sent into an empty network:
 *
 *                 first transmission with nothing in flight
 *        +------+ ------------------------------------------> +--------+
 *        | none |                                             | record |
 *        +------+ <------------------------------------------ +--------+
 *                 ACK leaves the retransmit queue empty          |  ^
 *                                                                +--+
 *                                           ACK: the queue has another head
 *
 * The newest burst that an ACK touches carries the sample, since the age of an
 * older one includes the time that its ACK waited for the newer.
 *
 * A receiver acks every second frame, so the odd last frame of a burst waits for the
 * next burst or for the delayed-ACK timer.  Hence a burst is complete when all but one
 * frame of it are acked, and later ACKs of it do not count.
 *
 * Pure: state and ACK in, event out.
 */
#ifndef TIMELY_COMPLETION_H
#define TIMELY_COMPLETION_H

#include "timely_types.h"

/* Wire times are nanoseconds per byte scaled by 2^20: 10 Mbit/s is 838860800,
 * 400 Gbit/s is 20972 (an error of 2e-5), and both fit 32 bits.
 */
#define TIMELY_WIRE_SHIFT	20

/* A receiver may keep the ACK of a lone frame until its application answers or the
 * delayed-ACK timer fires.  TCP's smoothed RTT contains these delays, so the smallest RTT
 * is the measure: the network does not take more than this many of it.
 */
#define TIMELY_LONE_RTTS	4

/* Source of the two times of a sample. */
enum timely_source {
	TIMELY_SRC_NONE,
	TIMELY_SRC_TCP_US,	/* TCP's send time, whole microseconds */
	TIMELY_SRC_TCP_NS,	/* TCP's send time, nanoseconds */
	TIMELY_SRC_DRIVER,	/* software stamps at the driver (nicstamp) */
	TIMELY_SRC_NIC,		/* hardware stamps (nicstamp) */
	TIMELY_SRC_FORWARD,	/* TCP's send time, less the queue of the way back */
	TIMELY_SRC_HOPS,	/* any of these, less queues of hops (timely_hops.h) */
	TIMELY_SOURCES
};

enum timely_ack_verdict {
	TIMELY_ACK_NOTHING,	/* completes no burst */
	TIMELY_ACK_SAMPLE,
	TIMELY_DROP_NODEV,	/* output device or its speed is not known yet */
	TIMELY_DROP_RETRANS,	/* Karn: which copy was acked? */
	TIMELY_DROP_SACK,	/* waited for a hole to be filled */
	TIMELY_DROP_TIME,	/* no send time, or one in the future */
	TIMELY_DROP_DELACK,	/* the receiver delayed the ACK */
	TIMELY_DROP_FLOOR,	/* faster than the path can be */
	TIMELY_DROP_STAMP,	/* no stamp, and TCP's own time may not serve */
	TIMELY_DROP_HOPS,	/* no queues of hops, and the RTT may not serve */
	TIMELY_VERDICTS
};

#define TIMELY_BURST_KNOWN	1	/* send_ns and start_seq are valid */
#define TIMELY_BURST_DONE	2	/* its event was given */
#define TIMELY_BURST_HOLE	4	/* SACKed data after the previous ACK */

/* The recorded burst, and how far the ACKs came: 24 bytes per socket.  TCP's clock needs the
 * three bits of flags after 73 years only.
 */
struct timely_burst {
	u64 send_ns:61,
	    flags:3;
	u32 start_seq;
	u32 end_seq;		/* equals start_seq when not known yet */
	u32 una;		/* snd_una after the previous ACK */
	u32 event_una;		/* snd_una at the previous event */
};

/* One ACK as TCP sees it after it updated the retransmit queue. */
struct timely_ack {
	u64 now_ns;
	u64 head_send_ns;	/* first burst not wholly acked; 0: none */
	u64 newest_send_us;	/* last packet acked by this ACK; 0: unknown */
	u64 back_ns;		/* queues that are not in the signal, to subtract; 0: none */
	u32 una;
	u32 head_end_seq;
	u32 newest_end_seq;	/* end of the burst that this packet is of */
	u32 mss;
	u32 burst_bytes;	/* most that one burst holds */
	u32 frame_bytes;	/* wire bytes of a frame without its payload */
	u32 wire_mult;		/* ns per wire byte * 2^20; 0: unknown */
	u32 min_rtt_ns;		/* smallest RTT lately; U32_MAX: unknown */
	u32 delack_ns;		/* no receiver delays an ACK by less on purpose */
	u32 floor_ns;		/* propagation RTT if known; 0: unknown */
	u32 hold_ns;		/* time that the sender's qdisc held the burst */
	bool wire_sure;		/* wire_mult is that of a real link */
	bool retrans;		/* the newest packet was sent more than once */
	bool hole;		/* SACKed data left, or in loss recovery */
	bool rwnd_limited;	/* the receiver's window stopped the sender */
};

struct timely_event {
	u64 rtt_ns;
	u32 acked_bytes;	/* since the previous event */
	u32 covered_bytes;	/* of the burst that carries the sample */
	enum timely_source source;
	enum timely_ack_verdict verdict;
};

/* Nanoseconds of so many bytes on the wire. */
static inline u64 timely_scaled_ns(u32 wire_mult, u64 bytes)
{
	return (wire_mult * bytes) >> TIMELY_WIRE_SHIFT;
}

/* Nanoseconds that this payload takes on the wire, with each frame's overhead. */
static inline u64 timely_wire_ns(u32 bytes, u32 mss, u32 frame_bytes, u32 wire_mult)
{
	u64 frames = mss ? (bytes + mss - 1) / mss : 1;

	return timely_scaled_ns(wire_mult, bytes + frames * frame_bytes);
}

static inline void timely_completion_reset(struct timely_burst *b, u32 una)
{
	b->una = una;
	b->event_una = una;
	b->start_seq = una;
	b->end_seq = una;
	b->send_ns = 0;
	b->flags = 0;
}

/* The first burst into an empty network leaves now: its send time is exact. */
static inline void timely_completion_sent(struct timely_burst *b, u32 seq, u64 send_ns)
{
	b->send_ns = send_ns;
	b->start_seq = seq;
	b->end_seq = seq;
	b->flags = (b->flags & TIMELY_BURST_HOLE) | TIMELY_BURST_KNOWN;
}

/* What one ACK says about the newest burst it touches. */
struct timely_newest {
	u64 send_ns;
	u32 start_seq;
	u32 left_bytes;		/* of the burst, not yet acked */
	enum timely_source source;
	bool recorded;		/* it is the burst on record */
	bool partial;		/* it is the head of the queue */
};

/* The start of an unrecorded burst has left the queue.  It is neither before the end of the
 * recorded burst, nor further back than a burst is long.
 */
static inline u32 timely_newest_start(const struct timely_burst *b, const struct timely_ack *a,
				      u32 left_bytes)
{
	u32 low = b->una, most;

	if ((b->flags & TIMELY_BURST_KNOWN) && tp_seq_before(low, b->end_seq) &&
	    !tp_seq_before(a->una, b->end_seq))
		low = b->end_seq;
	most = a->burst_bytes > left_bytes ? a->burst_bytes - left_bytes : a->mss;
	return a->una - low < most ? low : a->una - most;
}

static inline void timely_newest_find(struct timely_newest *n, const struct timely_burst *b,
				      const struct timely_ack *a)
{
	bool known = b->flags & TIMELY_BURST_KNOWN;

	n->partial = a->head_send_ns && tp_seq_before(a->una, a->newest_end_seq);
	n->left_bytes = n->partial ? a->newest_end_seq - a->una : 0;
	if (n->partial) {
		n->send_ns = a->head_send_ns;
		n->recorded = known && b->send_ns == n->send_ns;
		n->source = TIMELY_SRC_TCP_NS;
	} else {
		n->recorded = known && timely_div(b->send_ns, 1000) == a->newest_send_us;
		/* The truncation loses half a microsecond on average. */
		n->send_ns = n->recorded ? b->send_ns : a->newest_send_us * 1000 + 500;
		n->source = n->recorded ? TIMELY_SRC_TCP_NS : TIMELY_SRC_TCP_US;
	}
	n->start_seq = n->recorded ? b->start_seq : timely_newest_start(b, a, n->left_bytes);
}

/* Remember the burst that the next ACK will be about. */
static inline void timely_completion_record(struct timely_burst *b, const struct timely_ack *a,
					    const struct timely_newest *n, bool done)
{
	u32 flags = a->hole ? TIMELY_BURST_HOLE : 0;

	if (n->partial) {
		b->send_ns = n->send_ns;
		b->start_seq = n->start_seq;
		b->end_seq = a->head_end_seq;
		flags |= TIMELY_BURST_KNOWN | (done ? TIMELY_BURST_DONE : 0);
	} else if (a->head_send_ns) {
		/* The next head may be the rest of a burst whose packets share
		 * one send time: it is still the same burst.
		 */
		if (n->recorded && b->send_ns == a->head_send_ns) {
			flags |= b->flags & TIMELY_BURST_DONE;
		} else {
			b->send_ns = a->head_send_ns;
			b->start_seq = a->una;
		}
		b->end_seq = a->head_end_seq;
		flags |= TIMELY_BURST_KNOWN;
	}
	b->flags = flags;
	b->una = a->una;
}

/* Did the receiver delay this ACK?  Signs of that:
 *  - it acks all, and is the first sign of any of it after the time of a delayed ACK;
 *  - it acks all, and the receiver's window was shut: ACKs wait for the application;
 *  - it acks a lone frame after the time of a delayed ACK, or TIMELY_LONE_RTTS.
 */
static inline bool timely_ack_is_late(const struct timely_ack *a, const struct timely_newest *n,
				      u32 acked_bytes, bool first_cover, u64 elapsed_ns)
{
	bool all = !a->head_send_ns;

	if (all && first_cover && elapsed_ns >= a->delack_ns)
		return true;
	if (all && a->rwnd_limited)
		return true;
	if (acked_bytes > a->mss || n->left_bytes)
		return false;
	return elapsed_ns >= a->delack_ns ||
	       elapsed_ns > TIMELY_LONE_RTTS * (u64)a->min_rtt_ns;
}

static inline enum timely_ack_verdict
timely_completion_judge(struct timely_event *ev, const struct timely_ack *a,
			const struct timely_newest *n, u32 prev_una, bool hole)
{
	u64 elapsed_ns, wire_ns;

	if (!a->wire_mult)
		return TIMELY_DROP_NODEV;
	if (a->retrans)
		return TIMELY_DROP_RETRANS;
	if (hole)
		return TIMELY_DROP_SACK;
	if ((!n->partial && !a->newest_send_us) || a->now_ns <= n->send_ns)
		return TIMELY_DROP_TIME;
	elapsed_ns = a->now_ns - n->send_ns;
	if (elapsed_ns <= a->back_ns)
		return TIMELY_DROP_FLOOR;
	elapsed_ns -= a->back_ns;
	if (timely_ack_is_late(a, n, a->una - prev_una,
			       !tp_seq_before(n->start_seq, prev_una), elapsed_ns))
		return TIMELY_DROP_DELACK;
	wire_ns = timely_wire_ns(ev->covered_bytes, a->mss, a->frame_bytes, a->wire_mult);
	wire_ns += a->hold_ns;
	/* A device that only claims a speed may well be faster than it says. */
	if (!a->wire_sure && wire_ns >= elapsed_ns)
		wire_ns = 0;
	if (elapsed_ns <= wire_ns + a->floor_ns)
		return TIMELY_DROP_FLOOR;
	ev->rtt_ns = elapsed_ns - wire_ns;
	return TIMELY_ACK_SAMPLE;
}

/* Digest one ACK.  Returns true when it completes a burst; ev->verdict then says whether its
 * time is a sample.
 */
static inline bool timely_completion_ack(struct timely_burst *b, const struct timely_ack *a,
					 struct timely_event *ev)
{
	bool hole = a->hole || (b->flags & TIMELY_BURST_HOLE);
	bool was_known = b->flags & TIMELY_BURST_KNOWN;
	bool was_done = b->flags & TIMELY_BURST_DONE;
	struct timely_newest n;
	u32 prev_una = b->una;
	bool ends, passed;

	ev->verdict = TIMELY_ACK_NOTHING;
	ev->source = TIMELY_SRC_NONE;
	if (!tp_seq_before(prev_una, a->una)) {
		if (a->hole)
			b->flags |= TIMELY_BURST_HOLE;
		return false;
	}

	timely_newest_find(&n, b, a);
	ends = n.left_bytes <= a->mss && !(n.recorded && was_done);
	/* An older burst was passed over without an event of its own. */
	passed = !n.recorded && ((was_known && !was_done) ||
				 tp_seq_before(prev_una + a->mss, n.start_seq));
	timely_completion_record(b, a, &n, ends || (n.recorded && was_done));
	if (!ends && !passed)
		return false;

	ev->acked_bytes = a->una - b->event_una;
	ev->covered_bytes = a->una - n.start_seq;
	ev->source = n.source;
	b->event_una = a->una;
	ev->verdict = timely_completion_judge(ev, a, &n, prev_una, hole);
	return true;
}

#endif /* TIMELY_COMPLETION_H */
