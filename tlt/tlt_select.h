/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets of a flow are important: Algorithm 1 of "Towards Timeout-less
 * Transport in Commodity Datacenter Networks" (EuroSys '21; "the paper"), its
 * section 5.1 for window-based and 5.2 for rate-based senders.  Pure: state and
 * event in, new state and answer out.
 *
 *	sender                                  receiver
 *
 *	   DUE --- a packet is marked --> FLIGHT      Important Data ---> ANSWER
 *	    ^      (or clock data sent)     |         Clock Data -------> ANSWER_CLOCK
 *	    +------- its echo comes --------+         next pure ACK ----> NOTHING
 *
 * DUE is the paper's sendState = Important; a flow begins there.  FLIGHT ends
 * without an echo too: when the packet is acknowledged by an ACK that is none (the
 * peer may be deaf), or is not heard of for longer than an echo can take.  Its echo
 * may come all the same, and is then not taken for that of the packet marked next:
 * else the sender would hold two packets in flight for one, and be wrong about what
 * was sent before the echoed one and is lost.
 *
 * Echoes are counted, and not told from others by the sequence that they acknowledge. The
 * receiver's TCP may have dropped an important packet after its mark was read (backlog, memory,
 * a firewall): then the echo acknowledges nothing new, and is all the news of the loss there is.
 */
#ifndef TLT_SELECT_H
#define TLT_SELECT_H

#include "include/turnpike_types.h"
#include "include/uapi/turnpike.h"

/* An important packet silent for so many smoothed RTTs is lost: queues may grow fourfold. */
#define TLT_SILENCE_RTTS	4

/* Important packets acknowledged without an echo until the peer is called deaf. */
#define TLT_UNANSWERED_MAX	8

/*
 * A deaf peer is tried again after this, doubled each time up to the second: it
 * may have loaded the module meanwhile.
 */
#define TLT_RETRY_MIN_NS	1000000000ULL
#define TLT_RETRY_MAX_SHIFT	6

/*
 * Clock data sent in a row without news of any data until clocking slows down.  Its echo
 * comes from the peer's TLT, also where the TCP behind does not take the data.
 */
#define TLT_VAIN_MAX		8

/* TCP's own shortest timer: clocking that achieves nothing is no faster in the end. */
#define TLT_VAIN_GAP_MAX_NS	200000000ULL
#define TLT_VAIN_SHIFT_MAX	24

/* Packets in a row without one of TLT's code points until the peer is called deaf. */
#define TLT_UNMARKED_MAX	2

#define TLT_COUNT_MAX		255

/* All under the lock of the flow. */
struct tlt_sender {
	u64 mark_ns;		/* when the newest important packet was sent */
	u64 late_ns;		/* from when on it is given up; 0: no RTT was known */
	u64 echoed_ns;		/* when the packet was sent whose echo came last */
	u64 stale_ns;		/* until then echoes of what was given up may come */
	u64 retry_ns;		/* a peer without echoes is left alone until then */
	u32 mark_end;		/* sequence after the newest important packet */
	u32 echoed_end;		/* sequence after the packet whose echo came last */
	u16 since_mark;		/* rate-based: segments since the last important one */
	u8 flight;		/* important packets whose echo is awaited */
	u8 stale;		/* important packets given up whose echo may come */
	u8 unanswered;		/* important packets in a row acknowledged without echo */
	u8 unmarked;		/* packets in a row that came without a mark */
	u8 retries;		/* times that the peer was tried again in vain */
	bool due;		/* the next important packet is to be sent */
	bool clock;		/* the newest important packet was clock data */
	bool heard;		/* marks come from the peer */
	bool silent;		/* no marks come from the peer */
	bool retransmitting;	/* the last data packet was sent before */
	bool rate;		/* the last data packet's sender was rate-based */
	bool hears;		/* a mark from the peer would change nothing; readable lockless */
	bool rests;		/* tlt_sender_waits() may hold; readable lockless */
};

/* An echo that came. */
struct tlt_echo {
	u64 now_ns;
	bool newest;		/* it speaks of the newest important packet's data */
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
	bool again;		/* it was sent before */
	bool timeout;		/* because the retransmission timer fired */
	bool last_again;	/* it is the last of a round of retransmissions */
};

/* What is known when the answer to an echo is chosen: TCP has dealt with the echo. */
struct tlt_pipe {
	u64 now_ns;
	u64 head_ns;		/* when the first unacknowledged data was sent last */
	u32 head;		/* its sequence */
	u32 head_bytes;		/* how much of it there is; 0: nothing to clock with */
	u64 tail_ns;		/* when the last segment without a SACK was sent last */
	u32 tail;		/* its sequence */
	u32 tail_bytes;		/* 0: it would tell TCP nothing, or is the first */
	u32 mss;
	u32 min_rtt_us;
	u32 reorder_us;		/* how late packets of this path may be; 0: never out of order */
	u8 mode;		/* enum tlt_clock_mode */
	u32 delivered;		/* segments, of which TCP has news: it changes with each */
	bool will_send;		/* a timer of this host's makes TCP send soon */
	bool closed;		/* the peer's window: its TCP takes nothing */
	bool forbidden;		/* the socket's state or kind does not allow it */
	bool heard;		/* the end of the newest important packet was delivered */
};

/* What clocking achieves.  Under the lock of the flow. */
struct tlt_effort {
	u64 sent_ns;		/* when clock data was sent last */
	u32 head;		/* what TCP had news of then */
	u32 delivered;
	u8 vain;		/* clock data sent in a row without news between */
};

enum tlt_clock_answer {
	TLT_CLOCK_NOTHING,	/* no need to send */
	TLT_CLOCK_SEND,
	TLT_CLOCK_LIMITED,	/* too short after the last important packet */
	TLT_CLOCK_REFUSED,	/* forbidden */
};

struct tlt_clock_data {
	u32 bytes;
	bool lost;		/* they were lost, by the echo's evidence */
	bool tail;		/* they are the last, else the first */
};

/* A packet that came marked as clock data or clock echo, and what TCP knows already. */
struct tlt_ack {
	u32 seq;
	u32 rcv_nxt;
	u32 ack;
	u32 snd_una;
	u32 window;
	u32 snd_wnd;
	u32 data_bytes;
	bool bare;		/* no flag but ACK (and ECE) */
	bool new_sack;		/* it has a SACK block not seen before, or tells what came twice */
};

/* A SACK block. */
struct tlt_block {
	u32 start;
	u32 end;
};

/* What TCP's own rules for its next ACK are made of. */
struct tlt_room {
	u32 offered_bytes;	/* of the last window, not used yet */
	s32 free_bytes;		/* of the receive buffer; below 0: overdrawn */
	u32 segment_bytes;	/* the peer's, as far as seen */
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
 * May data be marked?  Not before a mark has come from the peer: without its answers
 * marks only make switches drop.  One without echoes gets a single try now and then.
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

/* One important packet more was acknowledged by an ACK that is no echo. */
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

/* No echo of what is in flight is waited for any more; until @until_ns it may come. */
static inline void tlt_sender_give_up(struct tlt_sender *s, u64 until_ns)
{
	u32 stale = until_ns ? s->stale + s->flight : 0;

	s->stale = stale < TLT_COUNT_MAX ? stale : TLT_COUNT_MAX;
	s->stale_ns = until_ns;
	s->flight = 0;
	WRITE_ONCE(s->clock, false);
	s->due = true;
}

/* An echo may come so long after @since_ns; 0: no RTT is known. */
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
		/* It was marked when the queue was shorter, perhaps, and srtt_us with it. */
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
 * Rate-based (5.2): the last of what there is to send, every N-th, the first and
 * the last of a round of retransmissions.  TCP has a window besides, which a recovery makes small:
 * what fills it in the middle of a round is the last until an ACK comes, and where all of it is
 * lost none does.
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
	/* What was in flight is lost, or the timer would not have fired. */
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
 * The packet just chosen cannot be marked after all: the next one is.  An echo may have
 * come meanwhile, and have been taken for this one's.
 */
static inline void tlt_sender_take_back(struct tlt_sender *s)
{
	if (s->flight)
		s->flight--;
	s->mark_ns = 0;
	s->due = true;
}

/* Note what is asked for each packet, before the lock is left. */
static inline void tlt_sender_settle(struct tlt_sender *s)
{
	bool hears = s->heard && !s->silent && !s->unmarked;
	bool rests = hears && s->flight && !s->due && !s->rate &&
		     s->unanswered < TLT_UNANSWERED_MAX;

	WRITE_ONCE(s->hears, hears);
	WRITE_ONCE(s->rests, rests);
}

/*
 * Does a window-based sender wait for an echo, and nothing else?  Then tlt_sender_send()
 * would say TLT_PLAIN and change nothing: so it is with most packets.  Readable without
 * the lock, since an echo that comes meanwhile might as well have come later.  Of the
 * burst no more is looked at than what is set here: that the connection's congestion
 * control has become a rate-based one is noticed with the next echo.
 */
static inline bool tlt_sender_waits(const struct tlt_sender *s, const struct tlt_burst *b)
{
	return READ_ONCE(s->rests) &&
	       (tp_seq_before(b->snd_una, READ_ONCE(s->mark_end)) || READ_ONCE(s->clock)) &&
	       b->now_ns < READ_ONCE(s->late_ns) &&
	       READ_ONCE(s->retransmitting) == b->again && !b->timeout;
}

/* A packet came from the peer; returns true if it was just found to be deaf. */
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

/* Is an echo, which may be a late one, awaited? */
static inline bool tlt_sender_awaits(const struct tlt_sender *s)
{
	return s->flight || s->stale;
}

/* Packets arrive in the order in which they were sent: what was given up is echoed first. */
static inline bool tlt_sender_is_stale(struct tlt_sender *s, const struct tlt_echo *e)
{
	if (e->now_ns >= s->stale_ns)
		s->stale = 0;
	if (!s->stale || (s->flight && e->newest))
		return false;
	s->stale--;
	return true;
}

/* An echo came; returns true if it was awaited and nothing important is in flight now. */
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
 * A clock echo that tells TCP nothing; it must not count as a duplicate ACK there.  The
 * same for a byte of clock data that TCP has: it would be taken for a retransmission that
 * was not needed, and the peer be told so (DSACK).  A lost segment that came twice is
 * one, and the peer's TCP counts on being told.
 */
static inline bool tlt_ack_tells_nothing(const struct tlt_ack *a)
{
	bool known = !a->data_bytes || (a->data_bytes == 1 && tp_seq_before(a->seq, a->rcv_nxt));

	return known && a->bare && !tp_seq_before(a->snd_una, a->ack) &&
	       a->window == a->snd_wnd && !a->new_sack;
}

/*
 * Does the first SACK block tell TCP that more than a byte came twice (DSACK, RFC 2883)?  It
 * has to know: by that it sees that a recovery was not needed.  @next: the second; NULL: none.
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
 * A path without reordering delivers in order: what was sent before the packet whose
 * echo came, and is not acknowledged now, was lost.  A burst has one time of sending,
 * and its last packet was the important one.
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
 * Which segment of what is lost?  The paper sends the first: one is repaired in a round
 * trip.  But where TCP does not know it lost the last one does (it was sent after all that
 * TCP has news of), its SACK tells TCP of all before it, and TCP repairs them at once, by
 * its own rules of congestion.
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
 * Important ACK-clocking: the echo is dealt with, and TCP had nothing to send that
 * could be marked.
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
	 * An echo cannot be faster than the path; half of that allows for its noise.  What
	 * came was of an older packet, and the newest is on its way; unless the peer has it,
	 * and TCP never saw the path without a queue.
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

/* How long after the last clock data the next one has to wait: twice as long each time. */
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
 * Is clocking still worth it?  Where nothing comes of it TCP's timer, whose packets are
 * important, has to go on: its echo asks here again.
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

/* What was to be sent last was not, and no echo will come; something else may go at once. */
static inline void tlt_effort_take_back(struct tlt_effort *e)
{
	if (e->vain)
		e->vain--;
}

/* Is the echo awaited that of clock data? */
static inline bool tlt_sender_awaits_clock(const struct tlt_sender *s)
{
	return s->clock && s->flight;
}

static inline void tlt_receiver_init(struct tlt_receiver *r)
{
	r->answer = TLT_NONE;
}

/*
 * Data came.  Where both kinds wait for one ACK the echo of Important Data is it:
 * that one is never kept from TCP.
 */
static inline void tlt_receiver_data(struct tlt_receiver *r, enum tlt_kind kind)
{
	if (kind == TLT_DATA)
		r->answer = TLT_ECHO;
	else if (kind == TLT_CLOCK && r->answer == TLT_NONE)
		r->answer = TLT_CLOCK_ECHO;
}

/*
 * Is it TLT that has to answer?  An ACK without room for a segment would stop the sender
 * until the next one, which no mark guards: if that is lost, until TCP's persist timer,
 * some 200 ms.  TCP waits there for its reader, and the ACK that follows is the echo.
 * Clock data never gets to TCP: no ACK of it will come.
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
