/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sparse receipts, while there is nothing to tell.  Not in ONRAMP21.
 *
 * A receipt is some 6000 instructions at either end, as much as 12 segments that GRO merged.  On
 * an empty path it tells only that the path is empty.  So the sender, which knows the delay, asks
 * for sparse receipts while there is none, and for all of them again:
 *
 *       no queue of T / 2, no new flow, all stamps there, clocks as they were, for 2 ms
 *       all  ------------------------------------------>  sparse
 *            <------------------------------------------
 *                              either
 *
 * With sparse receipts the sender would see most queues late.  But the receiver helps by itself.
 * It makes all receipts for data that does not come in a stream, and while others send to it,
 * too: so the queue at its own port begins.  The sender sees one elsewhere half a millisecond
 * late, once.  Flows of the same host that another processor takes count as others, too.
 *
 * Each receipt says how many its maker makes, so that the sender repeats a lost request.
 */
#ifndef ORACK_SPARSE_H
#define ORACK_SPARSE_H

#include "include/turnpike_types.h"

/* -- the receiver ------------------------------------------------------------------------ */

/* Data for a sparse receipt: 550 segments, of which 6000 instructions are 2 % where GRO merges
 * them.  It takes 640 us at 10 Gbit/s;
 */
#define ORACK_SPARSE_BYTES		800000

/* on faster lines receipts are rarer still, */
#define ORACK_SPARSE_NS		500000

/* and on slower ones there is one in so long. */
#define ORACK_SPARSE_MAX_NS	5000000

/* Data after so long is no stream's; a batch begins anew by that, too. */
#define ORACK_SPARSE_GAP_NS	200000

/* Bytes of others since the last receipt: 12 us of 10 Gbit/s, a quarter of T; requests are less. */
#define ORACK_SPARSE_COMPANY_BYTES	15000

/* For so long after a gap or company the receiver makes all receipts.  The sender then sees a
 * queue that comes of it, and asks for them.
 */
#define ORACK_SPARSE_BUSY_NS	500000

/* Processors tell each other what they count in pieces of a frame. */
#define ORACK_SPARSE_FRAME_BYTES	1448

/* Of a pair of hosts. */
struct orack_sparse {
	u64 last_ns;			/* when its last data without a receipt came */
	u64 busy_ns;			/* when its data last came after a gap, or with others' */
	u32 bytes;			/* that came since the last receipt */
	u32 arrived;			/* data of all hosts by then, modulo 2^32 */
};

static inline void orack_sparse_begin(struct orack_sparse *f, u32 arrived)
{
	f->bytes = 0;
	f->arrived = arrived;
}

/* @bytes of data came, @since_ns after the last receipt; @arrived of all hosts, with these.
 * True: the receiver makes no receipt.
 */
static inline bool orack_sparse_spares(struct orack_sparse *f, u32 bytes, u32 arrived, u64 since_ns,
				       u64 now_ns)
{
	u32 others = arrived - f->arrived - f->bytes - bytes;
	u64 gap_ns = now_ns - f->last_ns;

	f->last_ns = now_ns;
	if ((s32)others > ORACK_SPARSE_COMPANY_BYTES ||
	    (gap_ns > ORACK_SPARSE_GAP_NS && since_ns > ORACK_SPARSE_GAP_NS))
		f->busy_ns = now_ns;
	if (now_ns - f->busy_ns < ORACK_SPARSE_BUSY_NS || since_ns >= ORACK_SPARSE_MAX_NS ||
	    (since_ns >= ORACK_SPARSE_NS && f->bytes + bytes >= ORACK_SPARSE_BYTES))
		return false;
	f->bytes += bytes;
	return true;
}

/* -- the sender: what it wants of a host --------------------------------------------------- */

/* Congestion control takes less time to make the queue again that it has just lost. */
#define ORACK_CALM_NS		2000000

/* A request takes effect within a round trip. */
#define ORACK_AGAIN_NS		100000

struct orack_request {
	u64 busy_ns;			/* a queue was seen, or a flow or a clock began */
	u64 asked_ns;			/* when a receipt last made it be sent */
	bool sparse;			/* the newest receipt is a sparse one */
};

static inline bool orack_request_is_sparse(const struct orack_request *r, u64 now_ns)
{
	return now_ns - r->busy_ns >= ORACK_CALM_NS;
}

/* Asks for all receipts.  True: so far sparse ones come. */
static inline bool orack_request_all(struct orack_request *r, u64 now_ns)
{
	r->busy_ns = now_ns;
	return r->sparse;
}

/* A receipt came, a sparse one if @sparse.  True: the request differs; send it now. */
static inline bool orack_request_answered(struct orack_request *r, bool sparse, u64 now_ns)
{
	bool wanted = orack_request_is_sparse(r, now_ns);

	r->sparse = sparse;
	if (sparse == wanted || now_ns - r->asked_ns < (wanted ? ORACK_CALM_NS : ORACK_AGAIN_NS))
		return false;
	r->asked_ns = now_ns;
	return true;
}

#endif /* ORACK_SPARSE_H */
