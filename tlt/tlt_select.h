/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets of a flow are important: Algorithm 1 of TLT21 ("the paper"), its section 5.1
 * for window-based and 5.2 for rate-based senders.  Pure: state and event in, new state and
 * answer out.
 *
 *	sender                                  receiver
 *
 *	   DUE --- a packet is marked --> FLIGHT      Important Data ---> ANSWER
 *	    ^      (or clock data sent)     |         Clock Data -------> ANSWER_CLOCK
 *	    +------- its echo comes --------+         next pure ACK ----> NOTHING
 *
 * DUE is the paper's sendState = Important; a flow begins there.  FLIGHT ends without an echo
 * in two cases:
 *  - an ACK that is no echo acknowledges the packet (the peer may be deaf);
 *  - no news of the packet comes for longer than an echo can take.
 * Its late echo may still come.  The sender must not take it for the echo of the next marked
 * packet.  It would count two packets in flight as one, and be wrong about which packets were
 * sent before the echoed one and are lost.
 *
 * The sender counts echoes, and does not match them by the sequence that they acknowledge.  The
 * receiver's TCP may drop an important packet after TLT read its mark (backlog, memory, a
 * firewall).  Its echo names no sequence of the packet, and is the only news of the loss.  A sender
 * that waited for the sequence would not clock, and leave the repair to TCP's timer.
 */
#ifndef TLT_SELECT_H
#define TLT_SELECT_H

#include "include/turnpike_types.h"
#include "include/uapi/turnpike.h"

/* An important packet without echo for so many smoothed RTTs is lost: queues may grow fourfold. */
#define TLT_SILENCE_RTTS	4

/* So many important packets in a row acknowledged without an echo make a peer deaf. */
#define TLT_UNANSWERED_MAX	8

/*
 * The sender tries a deaf peer again after this time, which it doubles so many times at most:
 * the peer may have loaded the module meanwhile.
 */
#define TLT_RETRY_MIN_NS	1000000000ULL
#define TLT_RETRY_MAX_SHIFT	6

/*
 * Clocking slows down after so many clock data in a row without news of any data.  The peer's
 * TLT echoes them even if its TCP does not take the data.
 */
#define TLT_VAIN_MAX		8

/* TCP's own shortest timer: clocking in vain slows down to it. */
#define TLT_VAIN_GAP_MAX_NS	200000000ULL
#define TLT_VAIN_SHIFT_MAX	24

/* So many packets in a row without one of TLT's code points make a peer deaf. */
#define TLT_UNMARKED_MAX	2

#define TLT_COUNT_MAX		255

/* All under the flow's lock. */
struct tlt_sender {
	u64 mark_ns;		/* when the newest important packet was sent */
	u64 late_ns;		/* when the sender gives it up; 0: no RTT was known */
	u64 echoed_ns;		/* when the packet was sent whose echo came last */
	u64 stale_ns;		/* until then echoes of given-up packets may come */
	u64 retry_ns;		/* no mark goes to a peer without echoes until then */
	u32 mark_end;		/* sequence after the newest important packet */
	u32 echoed_end;		/* sequence after the packet whose echo came last */
	u16 since_mark;		/* rate-based: segments since the last important one */
	u8 flight;		/* important packets whose echo the sender awaits */
	u8 stale;		/* important packets given up whose echo may come */
	u8 unanswered;		/* important packets in a row acknowledged without echo */
	u8 unmarked;		/* packets in a row that came without a mark */
	u8 retries;		/* vain tries of the deaf peer */
	bool due;		/* the next packet is to be important */
	bool clock;		/* the newest important packet was clock data */
	bool heard;		/* marks come from the peer */
	bool silent;		/* no marks come from the peer */
	bool retransmitting;	/* the last data packet was a retransmission */
	bool rate;		/* the last data packet's sender was rate-based */
	bool hears;		/* a mark from the peer would change nothing; readable lockless */
	bool rests;		/* tlt_sender_waits() may hold; readable lockless */
};

/* An echo that came. */
struct tlt_echo {
	u64 now_ns;
	bool newest;		/* it reports the newest important packet's data */
};

struct tlt_receiver {
	u8 answer;		/* TLT_ECHO, TLT_CLOCK_ECHO or TLT_NONE */
};

/* A packet with data about to be sent. */
struct tlt_burst {
	u64 now_ns;
	u32 end;		/* sequence after it */
	u32 snd_una;
	u32 srtt_us;
	u32 segments;
	u32 period;		/* rate-based: TLT_A_PERIOD */
	bool rate;		/* the sender is rate-based */
	bool burst_end;		/* rate-based: TCP can send no other packet without an ACK */
	bool again;		/* it is a retransmission */
	bool timeout;		/* because the RTO timer fired */
	bool last_again;	/* it is the last of a round of retransmissions */
};

/* What the sender knows when it chooses the answer to an echo: TCP has processed the echo. */
struct tlt_pipe {
	u64 now_ns;
	u64 head_ns;		/* last time that the first unacknowledged data was sent */
	u32 head;		/* its sequence */
	u32 head_bytes;		/* its size; 0: nothing to clock with */
	u64 tail_ns;		/* last time that the last segment without a SACK was sent */
	u32 tail;		/* its sequence */
	u32 tail_bytes;		/* 0: it would tell TCP nothing, or is the first */
	u32 mss;
	u32 min_rtt_us;
	u32 reorder_us;		/* how late packets of this path may be; 0: never out of order */
	u8 mode;		/* enum tlt_clock_mode */
	u32 delivered;		/* TCP's count of delivered segments: any news changes it */
	bool will_send;		/* a timer of this host makes TCP send soon */
	bool closed;		/* the peer's window is closed: its TCP takes nothing */
	bool forbidden;		/* the socket's state or kind does not allow it */
	bool heard;		/* the end of the newest important packet was delivered */
};

/* What clocking achieves.  Under the flow's lock. */
struct tlt_effort {
	u64 sent_ns;		/* last time that clock data was sent */
	u32 head;		/* of struct tlt_pipe at that time, */
	u32 delivered;		/* likewise */
	u8 vain;		/* clock data sent in a row without news between them */
};

enum tlt_clock_answer {
	TLT_CLOCK_NOTHING,	/* no need to send */
	TLT_CLOCK_SEND,
	TLT_CLOCK_LIMITED,	/* too soon after the last important packet */
	TLT_CLOCK_REFUSED,	/* forbidden */
};

struct tlt_clock_data {
	u32 bytes;
	bool lost;		/* the echo shows that they were lost */
	bool tail;		/* they are the last data, else the first */
};

/* A received packet marked as clock data or clock echo, and what TCP knows already. */
struct tlt_ack {
	u32 seq;
	u32 rcv_nxt;
	u32 ack;
	u32 snd_una;
	u32 window;
	u32 snd_wnd;
	u32 data_bytes;
	bool bare;		/* no flag but ACK (and ECE) */
	bool new_sack;		/* it has a new SACK block, or one of data that came twice */
};

/* A SACK block. */
struct tlt_block {
	u32 start;
	u32 end;
};

/* What decides by TCP's own rules about its next ACK. */
struct tlt_room {
	u32 offered_bytes;	/* unused rest of the last window */
	s32 free_bytes;		/* of the receive buffer; below 0: overdrawn */
	u32 segment_bytes;	/* of the peer's segments, as far as seen */
	bool ack_due;		/* an ACK will come: by a timer, or when data is read */
};

static inline void tlt_sender_init(struct tlt_sender *s)
{
	*s = (struct tlt_sender){ };
	s->due = true;
}

static inline enum tlt_peer tlt_sender_peer(const struct tlt_sender *s)
{
	if (s->silent || s->unanswered >= TLT_UNANSWERED_MAX)
		return TLT_PEER_DEAF;
	return s->heard ? TLT_PEER_SPEAKS : TLT_PEER_UNKNOWN;
}

/*
 * May the sender mark data?  Not before a mark came from the peer: without its answers marks
 * only make switches drop.  A peer without echoes gets a single try now and then.
 */
static inline bool tlt_sender_may_mark(struct tlt_sender *s, u64 now_ns)
{
	if (s->silent || !s->heard)
		return false;
	if (s->unanswered < TLT_UNANSWERED_MAX)
		return true;
	if (s->flight || now_ns < s->retry_ns)
		return false;
	s->due = true;
	return true;
}

/* An ACK that is no echo acknowledged another important packet. */
static inline void tlt_sender_unanswered(struct tlt_sender *s, u64 now_ns)
{
	u8 shift = s->retries < TLT_RETRY_MAX_SHIFT ? s->retries : TLT_RETRY_MAX_SHIFT;

	if (s->unanswered < TLT_UNANSWERED_MAX)
		s->unanswered++;
	if (s->unanswered < TLT_UNANSWERED_MAX)
		return;
	s->retry_ns = now_ns + (TLT_RETRY_MIN_NS << shift);
	if (s->retries < TLT_COUNT_MAX)
		s->retries++;
}

/* The sender stops waiting for echoes of packets in flight; they may still come until @until_ns. */
static inline void tlt_sender_give_up(struct tlt_sender *s, u64 until_ns)
{
	u32 stale = until_ns ? s->stale + s->flight : 0;

	s->stale = stale < TLT_COUNT_MAX ? stale : TLT_COUNT_MAX;
	s->stale_ns = until_ns;
	s->flight = 0;
	WRITE_ONCE(s->clock, false);
	s->due = true;
}

/* Until when an echo of a packet sent at @since_ns may come; 0: no RTT is known. */
static inline u64 tlt_sender_patience(u64 since_ns, u32 srtt_us)
{
	return srtt_us ? since_ns + (u64)srtt_us * 1000 * TLT_SILENCE_RTTS : 0;
}

static inline bool tlt_sender_is_late(const struct tlt_sender *s, u64 now_ns)
{
	return s->late_ns && now_ns >= s->late_ns;
}

static inline void tlt_sender_look(struct tlt_sender *s, u64 now_ns, u32 snd_una, u32 srtt_us)
{
	if (!s->flight)
		return;
	if (!s->late_ns)
		WRITE_ONCE(s->late_ns, tlt_sender_patience(s->mark_ns, srtt_us));
	if (!s->clock && !tp_seq_before(snd_una, s->mark_end)) {
		tlt_sender_unanswered(s, now_ns);
		tlt_sender_give_up(s, s->late_ns);
	} else if (tlt_sender_is_late(s, now_ns)) {
		/* Queue and srtt_us may have been smaller when the packet was marked. */
		tlt_sender_give_up(s, tlt_sender_patience(now_ns, srtt_us));
	}
}

static inline void tlt_sender_mark(struct tlt_sender *s, u32 end, u64 now_ns, u32 srtt_us)
{
	s->due = false;
	WRITE_ONCE(s->clock, false);
	s->since_mark = 0;
	WRITE_ONCE(s->mark_end, end);
	s->mark_ns = now_ns;
	WRITE_ONCE(s->late_ns, tlt_sender_patience(now_ns, srtt_us));
	if (s->flight < TLT_COUNT_MAX)
		s->flight++;
}

/*
 * Rate-based (5.2).  Important are the last packet there is to send, every N-th one, and the first
 * and last of a round of retransmissions.  TCP also has a window, which a recovery makes small.
 * The packet that fills it in the middle of a round is the last until an ACK comes; if all in the
 * window are lost, none comes.
 */
static inline bool tlt_sender_rate(struct tlt_sender *s, const struct tlt_burst *b)
{
	u32 since = s->since_mark + b->segments;

	s->since_mark = since < 65535 ? since : 65535;
	if (b->again)
		return !s->retransmitting || b->last_again || (b->burst_end && !s->flight);
	return b->burst_end || (b->period && since >= b->period);
}

/* The kind of a packet with data that TCP sends now. */
static inline enum tlt_kind tlt_sender_send(struct tlt_sender *s, const struct tlt_burst *b)
{
	bool important;

	tlt_sender_look(s, b->now_ns, b->snd_una, b->srtt_us);
	if (!tlt_sender_may_mark(s, b->now_ns))
		return TLT_NONE;
	/* The packets in flight are lost, or the timer would not have fired. */
	if (b->timeout)
		tlt_sender_give_up(s, 0);
	/* Window-based (5.1): the echo makes the next packet important. */
	important = b->rate ? tlt_sender_rate(s, b) : s->due;
	WRITE_ONCE(s->retransmitting, b->again);
	s->rate = b->rate;
	if (b->timeout)
		important = true;
	if (!important)
		return s->unanswered >= TLT_UNANSWERED_MAX ? TLT_NONE : TLT_PLAIN;
	tlt_sender_mark(s, b->end, b->now_ns, b->srtt_us);
	return TLT_DATA;
}

/*
 * The packet just chosen cannot be marked after all: the next one will be.  The sender may
 * have taken an echo for this packet's meanwhile.
 */
static inline void tlt_sender_take_back(struct tlt_sender *s)
{
	if (s->flight)
		s->flight--;
	s->mark_ns = 0;
	s->due = true;
}

/* Note what is asked for each packet, before the caller drops the lock. */
static inline void tlt_sender_settle(struct tlt_sender *s)
{
	bool hears = s->heard && !s->silent && !s->unmarked;
	bool rests = hears && s->flight && !s->due && !s->rate &&
		     s->unanswered < TLT_UNANSWERED_MAX;

	WRITE_ONCE(s->hears, hears);
	WRITE_ONCE(s->rests, rests);
}

/*
 * Does a window-based sender wait for an echo, and nothing else?  Then tlt_sender_send() would
 * return TLT_PLAIN and change nothing, as for most packets.  Takes no lock, since an echo that
 * comes meanwhile could have come later as well.  Reads only those fields of the burst that
 * tlt_out_look() sets, so the sender notices a change to a rate-based congestion control with
 * the next echo.
 */
static inline bool tlt_sender_waits(const struct tlt_sender *s, const struct tlt_burst *b)
{
	return READ_ONCE(s->rests) &&
	       (tp_seq_before(b->snd_una, READ_ONCE(s->mark_end)) || READ_ONCE(s->clock)) &&
	       b->now_ns < READ_ONCE(s->late_ns) &&
	       READ_ONCE(s->retransmitting) == b->again && !b->timeout;
}

/* A packet came from the peer; returns true if that shows the peer to be deaf. */
static inline bool tlt_sender_hear(struct tlt_sender *s, bool marked)
{
	if (marked) {
		s->unmarked = 0;
		s->heard = true;
		if (s->silent)
			tlt_sender_give_up(s, 0);
		s->silent = false;
		return false;
	}
	if (s->unmarked < TLT_UNMARKED_MAX)
		s->unmarked++;
	if (s->unmarked < TLT_UNMARKED_MAX || s->silent)
		return false;
	s->silent = true;
	return true;
}

/* Does the sender await an echo, be it a late one? */
static inline bool tlt_sender_awaits(const struct tlt_sender *s)
{
	return s->flight || s->stale;
}

/* Packets arrive in the order of sending: echoes of given-up packets come first. */
static inline bool tlt_sender_is_stale(struct tlt_sender *s, const struct tlt_echo *e)
{
	if (e->now_ns >= s->stale_ns)
		s->stale = 0;
	if (!s->stale || (s->flight && e->newest))
		return false;
	s->stale--;
	return true;
}

/* An echo came; returns true if it ended the wait, with nothing important in flight now. */
static inline bool tlt_sender_echo(struct tlt_sender *s, const struct tlt_echo *e)
{
	bool stale = tlt_sender_is_stale(s, e);

	if (!stale && !s->flight)
		return false;
	s->unanswered = 0;
	s->retries = 0;
	if (stale || --s->flight)
		return false;
	s->echoed_ns = s->mark_ns;
	s->echoed_end = s->mark_end;
	s->due = true;
	return true;
}

/*
 * Does the packet tell TCP nothing?  TCP must not count such a clock echo as a duplicate ACK.
 * Nor may it see a byte of clock data that it has: it would report a needless retransmission
 * to the peer (DSACK).  A lost segment that came twice is one, and the peer's TCP relies on
 * that report.
 */
static inline bool tlt_ack_tells_nothing(const struct tlt_ack *a)
{
	bool known = !a->data_bytes || (a->data_bytes == 1 && tp_seq_before(a->seq, a->rcv_nxt));

	return known && a->bare && !tp_seq_before(a->snd_una, a->ack) &&
	       a->window == a->snd_wnd && !a->new_sack;
}

/*
 * Does the first SACK block report that more than a byte came twice (DSACK, RFC 2883)?  TCP
 * needs that to see that a recovery was needless.  @next: the second block; NULL: none.
 */
static inline bool tlt_block_came_twice(const struct tlt_block *first,
					const struct tlt_block *next, u32 ack)
{
	if (first->end - first->start <= 1)
		return false;
	return tp_seq_before(first->start, ack) ||
	       (next && !tp_seq_before(first->start, next->start) &&
		!tp_seq_before(next->end, first->end));
}

/*
 * A path without reordering delivers in order: data sent before the echoed packet, and not
 * acknowledged now, was lost.  A burst has one time of sending, and its last packet was the
 * important one.
 */
static inline bool tlt_sender_lost(const struct tlt_sender *s, u64 sent_ns, u32 seq,
				   u32 reorder_us)
{
	sent_ns += (u64)reorder_us * 1000;
	if (sent_ns == s->echoed_ns)
		return tp_seq_before(seq, s->echoed_end);
	return sent_ns < s->echoed_ns;
}

/*
 * Which lost segment to send?  The paper sends the first, and so repairs one in a round trip.
 * The last one is better while TCP does not know that it is lost, since it was sent after all
 * that TCP has news of.  Its SACK tells TCP of all losses before it, and TCP repairs them at
 * once, by its own congestion rules.
 */
static inline void tlt_clock_segment(const struct tlt_sender *s, const struct tlt_pipe *p,
				     struct tlt_clock_data *d)
{
	d->tail = p->tail_bytes && p->mode == TLT_CLOCK_ADAPTIVE &&
		  tlt_sender_lost(s, p->tail_ns, p->tail, p->reorder_us);
	d->bytes = d->tail ? p->tail_bytes : p->head_bytes;
	if (d->bytes > p->mss)
		d->bytes = p->mss;
}

/*
 * Important ACK-clocking (5.1): TCP has processed the echo, and had nothing to send that could
 * be marked.
 */
static inline enum tlt_clock_answer
tlt_sender_clock(struct tlt_sender *s, const struct tlt_pipe *p, struct tlt_clock_data *d)
{
	if (!s->due || s->flight || !p->head_bytes || p->will_send || p->closed ||
	    tlt_sender_peer(s) == TLT_PEER_DEAF)
		return TLT_CLOCK_NOTHING;
	if (p->forbidden)
		return TLT_CLOCK_REFUSED;
	/*
	 * No echo is faster than the path; half of that allows for noise.  A faster one is that
	 * of an older packet, and the newest is on its way.  But if the peer has the newest, TCP
	 * never saw the path without a queue.
	 */
	if (!p->heard && p->now_ns - s->mark_ns < (u64)p->min_rtt_us * 1000 / 2) {
		s->flight = 1;
		s->due = false;
		return TLT_CLOCK_LIMITED;
	}
	d->lost = tlt_sender_lost(s, p->head_ns, p->head, p->reorder_us);
	d->tail = false;
	d->bytes = 1;
	if (p->mode == TLT_CLOCK_SEGMENT || (p->mode == TLT_CLOCK_ADAPTIVE && d->lost))
		tlt_clock_segment(s, p, d);
	return TLT_CLOCK_SEND;
}

static inline void tlt_sender_clocked(struct tlt_sender *s, u32 end, u64 now_ns)
{
	tlt_sender_mark(s, end, now_ns, 0);
	WRITE_ONCE(s->clock, true);
}

static inline bool tlt_effort_has_news(const struct tlt_effort *e, const struct tlt_pipe *p)
{
	return p->head != e->head || p->delivered != e->delivered;
}

/* How long after the last clock data the next has to wait: twice as long each time. */
static inline u64 tlt_effort_gap_ns(const struct tlt_effort *e, u32 min_rtt_us)
{
	u32 doublings = e->vain < TLT_VAIN_MAX ? 0 : e->vain - TLT_VAIN_MAX + 1;
	u64 gap_ns = (u64)(min_rtt_us ?: 1) * 1000 / 2;

	if (!doublings)
		return 0;
	if (gap_ns > TLT_VAIN_GAP_MAX_NS)
		gap_ns = TLT_VAIN_GAP_MAX_NS;
	gap_ns <<= doublings < TLT_VAIN_SHIFT_MAX ? doublings : TLT_VAIN_SHIFT_MAX;
	return gap_ns < TLT_VAIN_GAP_MAX_NS ? gap_ns : TLT_VAIN_GAP_MAX_NS;
}

/*
 * Is clocking still worth it?  If it achieves nothing, TCP's RTO timer goes on instead.  Its
 * packets are important, and their echo leads here again.
 */
static inline bool tlt_effort_is_due(const struct tlt_effort *e, const struct tlt_pipe *p)
{
	return tlt_effort_has_news(e, p) ||
	       p->now_ns - e->sent_ns >= tlt_effort_gap_ns(e, p->min_rtt_us);
}

static inline void tlt_effort_sent(struct tlt_effort *e, const struct tlt_pipe *p)
{
	if (tlt_effort_has_news(e, p))
		e->vain = 0;
	if (e->vain < TLT_COUNT_MAX)
		e->vain++;
	e->head = p->head;
	e->delivered = p->delivered;
	e->sent_ns = p->now_ns;
}

/* The last clock data did not leave, and no echo will come: the next may go at once. */
static inline void tlt_effort_take_back(struct tlt_effort *e)
{
	if (e->vain)
		e->vain--;
}

/* Does the sender await the echo of clock data? */
static inline bool tlt_sender_awaits_clock(const struct tlt_sender *s)
{
	return s->clock && s->flight;
}

static inline void tlt_receiver_init(struct tlt_receiver *r)
{
	r->answer = TLT_NONE;
}

/*
 * Data came.  If both kinds wait for one ACK, it is the echo of Important Data, which TLT
 * never keeps from TCP.
 */
static inline void tlt_receiver_data(struct tlt_receiver *r, enum tlt_kind kind)
{
	if (kind == TLT_DATA)
		r->answer = TLT_ECHO;
	else if (kind == TLT_CLOCK && r->answer == TLT_NONE)
		r->answer = TLT_CLOCK_ECHO;
}

/*
 * Does TLT have to answer?  Not Important Data with an ACK that has no room for a segment.  It
 * would stop the sender until the next ACK, which no mark guards; if that is lost, until TCP's
 * persist timer, some 200 ms.  TCP waits for its reader, and the ACK that follows is the echo.
 * Clock data may end before TCP, and then no ACK of it comes.
 */
static inline bool tlt_receiver_owes(const struct tlt_receiver *r, const struct tlt_room *room)
{
	bool full = room->offered_bytes < room->segment_bytes &&
		    room->free_bytes < (s32)room->segment_bytes;

	return r->answer != TLT_NONE && !(r->answer == TLT_ECHO && room->ack_due && full);
}

/* The kind of a pure ACK that TCP sends now. */
static inline enum tlt_kind tlt_receiver_ack(struct tlt_receiver *r)
{
	enum tlt_kind kind = r->answer == TLT_NONE ? TLT_CONTROL : (enum tlt_kind)r->answer;

	r->answer = TLT_NONE;
	return kind;
}

#endif /* TLT_SELECT_H */
