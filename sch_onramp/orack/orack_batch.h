/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What arrived from one peer and has no receipt yet.  Model: OR-ACKs (ONRAMP21, section 4.1).
 *
 *      data of a flow --> its entry: the newest byte, and when it came
 *
 * A receipt leaves when its data has earned it, and not too soon after the last, or when its time
 * is over.  Each flow's newest data counts: older data of it in the batch would tell the
 * controller nothing that its end does not tell better.
 *
 * A request or a short answer is thin.  Its flow has no more to send that a pause could hold.  A
 * receipt of 94 bytes for each would be most of the overhead, and a timer for each most of the
 * work.  So few of them begin a batch, to keep the path known; more data of a longer flow comes
 * soon.
 */
#ifndef ORACK_BATCH_H
#define ORACK_BATCH_H

#include "include/turnpike_types.h"
#include "orack_wire.h"

/* A datagram of one entry is 94 bytes on the wire with preamble and gap.  That is 0.16 % of this
 * much data; ONRAMP21, section 4.1, has 0.2 % in mind.  The data takes 48 us at 10 Gbit/s, so
 * time bounds the batches of slower hosts.  GRO makes one packet of as much, even of jumbo frames
 * (62636 bytes), which needs no timer then.
 */
#define ORACK_BATCH_BYTES	60000

/* Receipts that data has earned are no closer together, for a pair of hosts.  At 25 Gbit/s that
 * much data comes in this time, on faster lines more.  At 100 Gbit/s each would cost half a
 * processor, to tell a sender ten times in T = 50 us what it can use twice.
 */
#define ORACK_FULL_NS		20000

/* A batch waits for more data: at first as long as 4 full frames take at 10 Gbit/s.  So a flow in
 * slow start, which doubles each RTT, learns of the queue it makes.  While data keeps coming, the
 * wait doubles each time, up to the regulated queue's delay, T = 50 us.
 */
#define ORACK_WAIT_MIN_NS	5000
#define ORACK_WAIT_MAX_NS	50000

/* After so long without data, some RTTs, a pair of hosts begins anew. */
#define ORACK_WAIT_QUIET_NS	200000

/* How long a batch waits.  The one before waited @last_ns, and ended @quiet_ns before this one
 * began.
 */
static inline u32 orack_batch_wait_ns(u32 last_ns, u64 quiet_ns)
{
	if (!last_ns || quiet_ns > ORACK_WAIT_QUIET_NS)
		return ORACK_WAIT_MIN_NS;
	return last_ns < ORACK_WAIT_MAX_NS / 2 ? last_ns * 2 : ORACK_WAIT_MAX_NS;
}

/* Less than two full frames: a longer flow sends that much between two of TCP's own ACKs. */
#define ORACK_THIN_BYTES	2896

/* Thin data no further apart counts as one: so far apart are frames of a flow of 12 Mbit/s. */
#define ORACK_THIN_TOGETHER_NS	1000000

/* After so long the first thin data gets a receipt, for a path's memory, which a sender can use
 * while it is fresh.  94 bytes in it are 0.004 % of 1 Gbit/s.
 */
#define ORACK_THIN_QUIET_NS	20000000

/* State of a pair of hosts.  Times are in units of 2^ORACK_THIN_SHIFT ns; they wrap after an
 * hour, at the cost of one receipt.
 */
#define ORACK_THIN_SHIFT	10

struct orack_thin {
	u32 sent;			/* when thin data last began a batch */
	u32 last;			/* when thin data last came, */
	u32 bytes;			/* and how much, with what came before it */
};

/* @bytes of data came while no batch was open.  True: they begin none. */
static inline bool orack_thin_spares(struct orack_thin *t, u32 bytes, u64 now_ns)
{
	u32 now = (u32)(now_ns >> ORACK_THIN_SHIFT);

	if (bytes >= ORACK_THIN_BYTES)
		return false;
	if (now - t->last <= ORACK_THIN_TOGETHER_NS >> ORACK_THIN_SHIFT)
		bytes += t->bytes;
	t->last = now;
	t->bytes = bytes;
	if (bytes < ORACK_THIN_BYTES &&
	    now - t->sent < ORACK_THIN_QUIET_NS >> ORACK_THIN_SHIFT)
		return true;
	t->sent = now;
	t->bytes = 0;
	return false;
}

/* Flows of one peer that are active within that time.  1448 bytes take 1.2 us at 10 Gbit/s, so
 * there are no more than 40 packets.
 */
#define ORACK_BATCH_FLOWS	16

struct orack_batch {
	u32 bytes;
	u32 count;
	struct orack_entry entry[ORACK_BATCH_FLOWS];	/* age_ns is unused */
	u64 rx_ns[ORACK_BATCH_FLOWS];
};

static inline void orack_batch_begin(struct orack_batch *b)
{
	b->bytes = 0;
	b->count = 0;
}

static inline u32 orack_batch_find(const struct orack_batch *b, u16 sport, u16 dport)
{
	u32 i;

	for (i = 0; i < b->count; i++) {
		if (b->entry[i].sport == sport && b->entry[i].dport == dport)
			break;
	}
	return i;
}

/* Adds data that arrived at @rx_ns, @since_ns after the last receipt.  True: send the batch. */
static inline bool orack_batch_add(struct orack_batch *b, const struct orack_entry *e, u32 bytes,
				   u64 rx_ns, u64 since_ns)
{
	u32 i = orack_batch_find(b, e->sport, e->dport);

	if (i == b->count)
		b->entry[b->count++] = *e;
	else if (tp_seq_before(b->entry[i].end_seq, e->end_seq))
		b->entry[i].end_seq = e->end_seq;
	else
		return false;	/* sent again; the rest of the flow says more */
	b->rx_ns[i] = rx_ns;
	b->bytes += bytes;
	return b->count == ORACK_BATCH_FLOWS ||
	       (b->bytes >= ORACK_BATCH_BYTES && since_ns >= ORACK_FULL_NS);
}

/* The batch leaves: sets the ages of its entries. */
static inline void orack_batch_close(struct orack_batch *b, u64 now_ns)
{
	u32 i;

	for (i = 0; i < b->count; i++) {
		u64 age_ns = now_ns > b->rx_ns[i] ? now_ns - b->rx_ns[i] : 0;

		b->entry[i].age_ns = age_ns < ORACK_AGE_MAX_NS ? (u32)age_ns : ORACK_AGE_MAX_NS;
	}
}

#endif /* ORACK_BATCH_H */
