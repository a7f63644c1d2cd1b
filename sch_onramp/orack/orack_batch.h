/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What arrived from one peer and is not receipted yet.
 *
 *      data of a flow --> its entry: the newest byte, and when it came
 *
 * A receipt goes out when its bytes have been earned, and not too soon after the last, or
 * when its time is over.  What counts is the newest of each flow: older data of it in the same
 * batch would tell the controller nothing that its end does not tell better.
 *
 * A request or a short answer is thin: the flow has nothing more to send that could be held,
 * and a receipt of 94 bytes for each is where most of the overhead is, and a timer for each
 * most of the work.  Few of them begin a batch, so that the path is known; those of a flow
 * that goes on have company soon.
 */
#ifndef ORACK_BATCH_H
#define ORACK_BATCH_H

#include "include/turnpike_types.h"
#include "orack_wire.h"

/* A datagram of one entry is 94 bytes on the wire with preamble and gap: 0.16 % of this much
 * data, and On-Ramp's section 4.1 has 0.2 % in mind.  It takes 48 us at 10 Gbit/s, so that
 * the time bounds the batches of slower hosts; and GRO makes one packet of as much, even of
 * jumbo frames (62636 bytes), which needs no timer then.
 */
#define ORACK_BATCH_BYTES	60000

/* But receipts that bytes have earned are no closer together, per pair of hosts: 25 Gbit/s
 * bring that much in it, and faster hosts more.  At 100 Gbit/s each would cost half a
 * processor, to tell a sender ten times in T = 50 us what it has use for twice.
 */
#define ORACK_FULL_NS		20000

/* A batch waits for more data: at first as long as 4 full frames take at 10 Gbit/s, so that a
 * flow in slow start, which doubles each RTT, hears of the queue it makes.  Then twice as long
 * each time, while data keeps coming, up to the queue's delay that is regulated, T = 50 us.
 */
#define ORACK_WAIT_MIN_NS	5000
#define ORACK_WAIT_MAX_NS	50000

/* A pair of hosts without data for so long begins anew: some RTTs. */
#define ORACK_WAIT_QUIET_NS	200000

/* How long a batch waits, when that before it waited @last_ns, and ended @quiet_ns before this
 * one began.
 */
static inline u32 orack_batch_wait_ns(u32 last_ns, u64 quiet_ns)
{
	if (!last_ns || quiet_ns > ORACK_WAIT_QUIET_NS)
		return ORACK_WAIT_MIN_NS;
	return last_ns < ORACK_WAIT_MAX_NS / 2 ? last_ns * 2 : ORACK_WAIT_MAX_NS;
}

/* Less than two full frames: what goes on sends these between two of TCP's own ACKs. */
#define ORACK_THIN_BYTES	2896

/* Thin data no further apart counts as one: frames of a flow of 12 Mbit/s are so far. */
#define ORACK_THIN_TOGETHER_NS	1000000

/* There is a receipt for the first thin data after so long, as for a path's memory, which
 * a sender has use for while it is fresh: 94 bytes of it are 0.004 % of 1 Gbit/s.
 */
#define ORACK_THIN_QUIET_NS	20000000

/* Of a pair of hosts, times in units of 2^ORACK_THIN_SHIFT ns; they wrap after an hour, at
 * the cost of one receipt.
 */
#define ORACK_THIN_SHIFT	10

struct orack_thin {
	u32 sent;			/* when thin data last began a batch */
	u32 last;			/* when thin data last came, */
	u32 bytes;			/* and how much, with what came before it */
};

/* @bytes of data came while there was no batch.  True: they begin none. */
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

/* Flows of one peer that are active within that time; 1448 bytes at 10 Gbit/s are 1.2 us,
 * so there are no more than 40 packets.
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

/* Data arrived at @rx_ns, and @since_ns after the last receipt.  True: the batch is to be sent. */
static inline bool orack_batch_add(struct orack_batch *b, const struct orack_entry *e, u32 bytes,
				   u64 rx_ns, u64 since_ns)
{
	u32 i = orack_batch_find(b, e->sport, e->dport);

	if (i == b->count)
		b->entry[b->count++] = *e;
	else if ((s32)(e->end_seq - b->entry[i].end_seq) > 0)
		b->entry[i].end_seq = e->end_seq;
	else
		return false;	/* sent again; the rest of the flow says more */
	b->rx_ns[i] = rx_ns;
	b->bytes += bytes;
	return b->count == ORACK_BATCH_FLOWS ||
	       (b->bytes >= ORACK_BATCH_BYTES && since_ns >= ORACK_FULL_NS);
}

/* It is sent: the ages of its entries. */
static inline void orack_batch_close(struct orack_batch *b, u64 now_ns)
{
	u32 i;

	for (i = 0; i < b->count; i++) {
		u64 age_ns = now_ns > b->rx_ns[i] ? now_ns - b->rx_ns[i] : 0;

		b->entry[i].age_ns = age_ns < ORACK_AGE_MAX_NS ? (u32)age_ns : ORACK_AGE_MAX_NS;
	}
}

#endif /* ORACK_BATCH_H */
