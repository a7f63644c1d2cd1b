/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes RTT samples of a flow's stamps, as TIMELY15 takes its RTTs (section 3.1). Pure.
 *
 *   handed to the driver     sent, with its stamp      ACK, with its stamp
 *        post ----------------- sent ---------------------- acked ------> take
 *     system's clock          NIC's clock                 NIC's clock     by the
 *                                                                         consumer
 *
 * Each run of data that goes to the driver makes a record. Its transmit stamp may come after the
 * ACK (from a NIC that the driver polls), and neither need come at all. The ACK of a record
 * is the first that leaves at most one segment of it open, since receivers acknowledge every
 * second segment. tcp_timely takes the same ACK for a burst's completion. The sample's tx_seq
 * tells what is open.
 *
 * A record gives no sample if
 *  - any part of it was sent more than once: which copy was acknowledged?
 *  - its stamps are of two clocks, or of both sides of a clock's step (a stamp that the
 *    caller brought from another clock to this one carries the error of that);
 *  - it took no time, or more than passed by the host's own clock from handing it over to
 *    seeing the ACK, which encloses both stamps.
 */
#ifndef NICSTAMP_MATCH_H
#define NICSTAMP_MATCH_H

#include "include/turnpike_types.h"

/* Bursts in flight of one flow: sixteen of 16 KB at 100 Gbit/s and 20 us. A flow with more gets
 * samples of some of them only.
 */
#define NICSTAMP_RECORDS	16

/* How much faster a NIC's clock may run than the host's: 1/1024 covers the 500 ppm
 * that Linux slews by at most, on either side; the constant covers coarse stamps.
 */
#define NICSTAMP_FASTER_SHIFT	10
#define NICSTAMP_COARSE_NS	1000

#define NICSTAMP_R_SENT		1	/* tx_* are valid */
#define NICSTAMP_R_ACKED	2	/* rx_ns, seen_ns, rx_clock, ack_seq are valid */
#define NICSTAMP_R_AGAIN	4	/* sent more than once */
#define NICSTAMP_R_TAKEN	8

struct nicstamp_record {
	u64 post_ns;		/* system's clock */
	u64 tx_ns;		/* clock tx_clock */
	u64 rx_ns;		/* clock rx_clock */
	u64 seen_ns;		/* system's clock when the host saw the ACK */
	u32 start_seq;
	u32 end_seq;
	u32 ack_seq;
	u32 tx_clock;		/* number of a clock; 0: none */
	u32 rx_clock;
	u32 wait_ns;		/* from post to tx */
	u32 wait_error_ns;	/* U32_MAX: wait_ns is not known */
	u32 rx_error_ns;	/* error of the map that brought rx_ns to its clock; 0: no map */
	u16 seg_bytes;
	u8 flags;
};

/* The oldest record is first. */
struct nicstamp_match {
	struct nicstamp_record record[NICSTAMP_RECORDS];
	u32 next_seq;		/* after the data sent so far; valid once started */
	u8 first;
	u8 count;
	bool started;
};

struct nicstamp_times {
	u64 rtt_ns;		/* from the transmit stamp to the ACK's */
	u32 start_seq;		/* of the run of data */
	u32 end_seq;
	u32 wait_ns;		/* in the NIC, before the transmit stamp */
	u32 wait_error_ns;	/* U32_MAX: not known */
	u32 rx_error_ns;	/* error of the ACK's stamp, if it was of another clock */
	u32 clock;
};

enum nicstamp_verdict {
	NICSTAMP_OK,
	NICSTAMP_NO_DATA,	/* nothing that a peer could acknowledge */
	NICSTAMP_AGAIN,		/* sent more than once */
	NICSTAMP_FULL,		/* no room for another record */
	NICSTAMP_NO_SLOT,	/* the NIC cannot stamp it */
	NICSTAMP_UNKNOWN,	/* no record of it */
	NICSTAMP_UNSENT,	/* no transmit stamp came */
	NICSTAMP_CLOCKS,	/* two clocks, or one that stepped */
	NICSTAMP_ABSURD,	/* impossible */
	NICSTAMP_VERDICTS
};

static inline struct nicstamp_record *nicstamp_record(struct nicstamp_match *m, u32 i)
{
	return &m->record[(m->first + i) % NICSTAMP_RECORDS];
}

static inline void nicstamp_drop_first(struct nicstamp_match *m)
{
	m->first = (m->first + 1) % NICSTAMP_RECORDS;
	m->count--;
}

static inline void nicstamp_mark_again(struct nicstamp_match *m, u32 start, u32 end)
{
	struct nicstamp_record *r;
	u32 i;

	for (i = 0; i < m->count; i++) {
		r = nicstamp_record(m, i);
		if (tp_seq_before(start, r->end_seq) && tp_seq_before(r->start_seq, end))
			r->flags |= NICSTAMP_R_AGAIN;
	}
}

/*
 * Data from @start to before @end goes to the driver. NICSTAMP_OK: a stamp is wanted. The caller
 * reports data without a @slot, too, so that a retransmission of it is known.
 */
static inline enum nicstamp_verdict nicstamp_match_post(struct nicstamp_match *m, u32 start,
							u32 end, u16 seg_bytes, u64 now_ns,
							bool slot)
{
	struct nicstamp_record *r;

	if (!tp_seq_before(start, end))
		return NICSTAMP_NO_DATA;
	if (m->started && tp_seq_before(start, m->next_seq)) {
		nicstamp_mark_again(m, start, end);
		if (tp_seq_before(m->next_seq, end))
			m->next_seq = end;
		return NICSTAMP_AGAIN;
	}
	m->started = true;
	m->next_seq = end;
	if (!slot)
		return NICSTAMP_NO_SLOT;
	/* Nobody asked for the oldest record when its ACK came, so it is of no use. */
	if (m->count == NICSTAMP_RECORDS && nicstamp_record(m, 0)->flags & NICSTAMP_R_ACKED)
		nicstamp_drop_first(m);
	/* The records that are there will be acknowledged sooner than this one. */
	if (m->count == NICSTAMP_RECORDS)
		return NICSTAMP_FULL;
	r = nicstamp_record(m, m->count++);
	r->start_seq = start;
	r->end_seq = end;
	r->seg_bytes = seg_bytes;
	r->post_ns = now_ns;
	r->flags = 0;
	return NICSTAMP_OK;
}

/* The transmit stamp of data that ends at @end. */
static inline enum nicstamp_verdict nicstamp_match_sent(struct nicstamp_match *m, u32 end,
							u64 tx_ns, u32 clock, u32 wait_ns,
							u32 wait_error_ns)
{
	struct nicstamp_record *r;
	u32 i;

	for (i = 0; i < m->count; i++) {
		r = nicstamp_record(m, i);
		if (r->end_seq != end || r->flags & NICSTAMP_R_SENT)
			continue;
		r->tx_ns = tx_ns;
		r->tx_clock = clock;
		r->wait_ns = wait_ns;
		r->wait_error_ns = wait_error_ns;
		r->flags |= NICSTAMP_R_SENT;
		return NICSTAMP_OK;
	}
	return NICSTAMP_UNKNOWN;
}

/* When data that ends at @end went to the driver, or 0. */
static inline u64 nicstamp_match_posted(struct nicstamp_match *m, u32 end)
{
	u32 i;

	for (i = 0; i < m->count; i++) {
		if (nicstamp_record(m, i)->end_seq == end)
			return nicstamp_record(m, i)->post_ns;
	}
	return 0;
}

static inline void nicstamp_record_ack(struct nicstamp_record *r, u32 ack, u64 rx_ns, u32 clock,
				       u32 rx_error_ns, u64 now_ns)
{
	r->ack_seq = ack;
	r->rx_ns = rx_ns;
	r->rx_clock = clock;
	r->rx_error_ns = rx_error_ns;
	r->seen_ns = now_ns;
	r->flags |= NICSTAMP_R_ACKED;
}

/* A packet came that acknowledges all before @ack. */
static inline enum nicstamp_verdict nicstamp_match_acked(struct nicstamp_match *m, u32 ack,
							 u64 rx_ns, u32 clock,
							 u32 rx_error_ns, u64 now_ns)
{
	enum nicstamp_verdict verdict = NICSTAMP_UNKNOWN;
	struct nicstamp_record *r;
	u32 i;

	/* A peer cannot have data that was not sent. */
	if (!m->started || tp_seq_before(m->next_seq, ack))
		return NICSTAMP_ABSURD;
	for (i = 0; i < m->count; i++) {
		r = nicstamp_record(m, i);
		if (!tp_seq_before(r->start_seq, ack))
			break;
		if (r->flags & NICSTAMP_R_ACKED || tp_seq_before(ack + r->seg_bytes, r->end_seq))
			continue;
		nicstamp_record_ack(r, ack, rx_ns, clock, rx_error_ns, now_ns);
		verdict = NICSTAMP_OK;
	}
	return verdict;
}

static inline enum nicstamp_verdict nicstamp_record_judge(const struct nicstamp_record *r)
{
	u64 rtt_ns = r->rx_ns - r->tx_ns;

	if (r->flags & NICSTAMP_R_AGAIN)
		return NICSTAMP_AGAIN;
	if (!(r->flags & NICSTAMP_R_SENT))
		return NICSTAMP_UNSENT;
	if (r->tx_clock != r->rx_clock)
		return NICSTAMP_CLOCKS;
	if (r->rx_ns <= r->tx_ns || r->seen_ns < r->post_ns ||
	    rtt_ns - (rtt_ns >> NICSTAMP_FASTER_SHIFT) >
	    r->seen_ns - r->post_ns + NICSTAMP_COARSE_NS)
		return NICSTAMP_ABSURD;
	return NICSTAMP_OK;
}

/* TCP has processed the ACK of all before @una: what was its RTT? That of the newest record
 * which this very ACK completed, since an older one's ACK waited for the newer.
 */
static inline enum nicstamp_verdict nicstamp_match_take(struct nicstamp_match *m, u32 una,
							struct nicstamp_times *t)
{
	enum nicstamp_verdict verdict = NICSTAMP_UNKNOWN;
	struct nicstamp_record *r;
	u32 i;

	for (i = m->count; i-- > 0;) {
		r = nicstamp_record(m, i);
		if (!(r->flags & NICSTAMP_R_ACKED) || r->ack_seq != una ||
		    r->flags & NICSTAMP_R_TAKEN)
			continue;
		r->flags |= NICSTAMP_R_TAKEN;
		verdict = nicstamp_record_judge(r);
		t->rtt_ns = r->rx_ns - r->tx_ns;
		t->start_seq = r->start_seq;
		t->end_seq = r->end_seq;
		t->wait_ns = r->wait_ns;
		t->wait_error_ns = r->wait_error_ns;
		t->rx_error_ns = r->rx_error_ns;
		t->clock = r->rx_clock;
		break;
	}
	while (m->count && !tp_seq_before(una, nicstamp_record(m, 0)->end_seq))
		nicstamp_drop_first(m);
	return verdict;
}

#endif /* NICSTAMP_MATCH_H */
