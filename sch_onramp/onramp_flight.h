/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is in flight of one flow, as departure records: when each packet left, and a note of the
 * pause counter at that time.  A GSO packet has one.  Model: On-Ramp (ONRAMP21, section 3).
 *
 *        head                            newest
 *     [ s..e | s..e |  (thinned)  | s..e ]          sequence numbers grow
 *
 * The ring is bounded.  Once half full, it takes one record in every 1/32 of what is in flight.
 * Delay samples get rarer then, and each is as good as before.
 */
#ifndef ONRAMP_FLIGHT_H
#define ONRAMP_FLIGHT_H

#include "include/turnpike_types.h"

/* 64 KB packets for 4 MB in flight; a power of two. */
#define ONRAMP_FLIGHT_MAX	64
#define ONRAMP_FLIGHT_THIN	5	/* log2 of records that share what is in flight */

/* A departure record. */
struct onramp_record {
	u64 tx_ns;		/* when it left the qdisc */
	u64 note_ns;		/* onramp_pause_sent() */
	u32 start_seq;
	u32 end_seq;
	u32 hold_ns;		/* time that the pause kept it from leaving */
	u32 nic_ns:30;		/* from tx_ns to the last byte's leaving the NIC, */
	u32 stamped:1;		/* if a stamp told (onramp_departure.h) */
	u32 retrans:1;		/* part of it was sent again */
};

struct onramp_flight {
	u32 una;		/* acknowledged up to here */
	u32 end_seq;		/* sent up to here */
	u8 head;
	u8 count;
	struct onramp_record ring[ONRAMP_FLIGHT_MAX];
};

static inline struct onramp_record *onramp_flight_at(struct onramp_flight *f, u32 i)
{
	return &f->ring[(f->head + i) % ONRAMP_FLIGHT_MAX];
}

static inline void onramp_flight_init(struct onramp_flight *f, u32 seq)
{
	f->una = seq;
	f->end_seq = seq;
	f->head = 0;
	f->count = 0;
}

/* The ACK of a packet sent twice does not tell which one it answers. */
static inline void onramp_flight_resent(struct onramp_flight *f, u32 start_seq, u32 end_seq)
{
	u32 i;

	for (i = 0; i < f->count; i++) {
		struct onramp_record *r = onramp_flight_at(f, i);

		if (tp_seq_before(start_seq, r->end_seq) &&
		    tp_seq_before(r->start_seq, end_seq))
			r->retrans = 1;
	}
}

/* More than half full: only records that are far enough apart get a place. */
static inline bool onramp_flight_is_crowded(const struct onramp_flight *f)
{
	return f->count > ONRAMP_FLIGHT_MAX / 2;
}

static inline bool onramp_flight_wants(struct onramp_flight *f, u32 end_seq)
{
	u32 newest_end;

	if (!onramp_flight_is_crowded(f))
		return true;
	if (f->count == ONRAMP_FLIGHT_MAX)
		return false;
	newest_end = onramp_flight_at(f, f->count - 1)->end_seq;
	return end_seq - newest_end >
	       (end_seq - onramp_flight_at(f, 0)->start_seq) >> ONRAMP_FLIGHT_THIN;
}

/* A packet leaves. */
static inline void onramp_flight_sent(struct onramp_flight *f, const struct onramp_record *r)
{
	if (tp_seq_before(r->start_seq, f->end_seq)) {
		onramp_flight_resent(f, r->start_seq, r->end_seq);
		if (tp_seq_before(f->end_seq, r->end_seq))
			f->end_seq = r->end_seq;
		return;
	}
	f->end_seq = r->end_seq;
	if (onramp_flight_wants(f, r->end_seq))
		*onramp_flight_at(f, f->count++) = *r;
}

/* The packet that holds the byte before @end_seq; NULL: not known (any more). */
static inline struct onramp_record *onramp_flight_find(struct onramp_flight *f, u32 end_seq)
{
	u32 i;

	for (i = 0; i < f->count; i++) {
		struct onramp_record *r = onramp_flight_at(f, i);

		if (tp_seq_before(r->end_seq, end_seq))
			continue;
		return tp_seq_before(r->start_seq, end_seq) ? r : NULL;
	}
	return NULL;
}

/* The packet that ends with the byte before @end_seq, one of the newest most likely; or NULL. */
static inline struct onramp_record *onramp_flight_ending(struct onramp_flight *f, u32 end_seq)
{
	u32 i;

	for (i = f->count; i-- > 0;) {
		struct onramp_record *r = onramp_flight_at(f, i);

		if (!tp_seq_before(end_seq, r->end_seq))
			return r->end_seq == end_seq ? r : NULL;
	}
	return NULL;
}

/* May an ACK end here?  What the network says is not trusted. */
static inline bool onramp_flight_holds(const struct onramp_flight *f, u32 end_seq)
{
	return !tp_seq_before(end_seq, f->una) && !tp_seq_before(f->end_seq, end_seq);
}

/* All up to @una arrived.  Drops the records that the ACK before covered.  What this ACK covers
 * stays for later readers (include/onramp_hold.h).
 */
static inline void onramp_flight_acked(struct onramp_flight *f, u32 una)
{
	while (f->count && !tp_seq_before(f->una, onramp_flight_at(f, 0)->end_seq)) {
		f->head = (f->head + 1) % ONRAMP_FLIGHT_MAX;
		f->count--;
	}
	f->una = una;
}

#endif /* ONRAMP_FLIGHT_H */
