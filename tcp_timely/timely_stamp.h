/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTT samples by NIC stamps (nicstamp): what to make of one, and of none. Pure.
 *
 * The stamps tell the time from a byte's leaving to the ACK's coming. TIMELY's RTT
 * (section 3.1) is that of the last byte acked, hence the wire time between the two
 * bytes is added or taken off; and "we consider any NIC queuing to be part of the RTT
 * signal" (section 5): what the data waited in the NIC beyond their own wire time is
 * added, where the NIC's clock is known well enough.
 */
#ifndef TIMELY_STAMP_H
#define TIMELY_STAMP_H

#include "timely_completion.h"
#include "include/nicstamp_sample.h"

/* Whose times are used. */
enum timely_stamp_mode {
	TIMELY_STAMP_AUTO,	/* stamps where a flow has them, else TCP's own */
	TIMELY_STAMP_HW,	/* nothing but a NIC's own stamps */
	TIMELY_STAMP_SW,	/* nothing but the host's stamps at the driver */
	TIMELY_STAMP_TCP,	/* nothing but TCP's own */
	TIMELY_STAMP_MODES
};

/* A flow that has stamps is not given TCP's times in between: the noise that these
 * have over the others would look like a queue that came and went. After so many
 * events without one it has none any more.
 */
#define TIMELY_STAMP_PATIENCE	8

/* An error of the NIC's waiting time that does not matter beside t_low. */
#define TIMELY_STAMP_WAIT_ERROR_NS	2000

/* What the run of data waited in the NIC beyond its own time on the wire. */
static inline u64 timely_stamp_wait_ns(const struct nicstamp_sample *s,
				       const struct timely_ack *a)
{
	u64 own_ns = timely_wire_ns(s->run_bytes, a->mss, a->frame_bytes, a->wire_mult);

	if (s->wait_error_ns > TIMELY_STAMP_WAIT_ERROR_NS || s->wait_ns <= own_ns)
		return 0;
	return s->wait_ns - own_ns;
}

/* The RTT of the last byte that @a acks; 0: faster than the wire, which cannot be. */
static inline u64 timely_stamp_rtt_ns(const struct nicstamp_sample *s,
				      const struct timely_ack *a)
{
	bool behind = tp_seq_before(s->tx_seq, a->una);
	u32 bytes = behind ? a->una - s->tx_seq : s->tx_seq - a->una;
	u64 wire_ns = timely_wire_ns(bytes, a->mss, a->frame_bytes, a->wire_mult);

	if (!behind)
		return s->rtt_ns + wire_ns + timely_stamp_wait_ns(s, a);
	return s->rtt_ns > wire_ns ? s->rtt_ns - wire_ns + timely_stamp_wait_ns(s, a) : 0;
}

/* Is TCP's own time to be used in an event without a stamp, @missed in a row? */
static inline bool timely_stamp_leaves_tcp(enum timely_stamp_mode mode, u32 missed)
{
	if (mode == TIMELY_STAMP_AUTO)
		return missed >= TIMELY_STAMP_PATIENCE;
	return mode == TIMELY_STAMP_TCP;
}

/* Is the stamp of a kind that is to be used? */
static inline bool timely_stamp_is_welcome(enum timely_stamp_mode mode,
					   const struct nicstamp_sample *s)
{
	return mode == TIMELY_STAMP_AUTO ||
	       mode == (s->host ? TIMELY_STAMP_SW : TIMELY_STAMP_HW);
}

/* Put a stamp's RTT into an event that had TCP's. */
static inline void timely_stamp_use(struct timely_event *ev, const struct nicstamp_sample *s,
				    const struct timely_ack *a)
{
	u64 rtt_ns = timely_stamp_rtt_ns(s, a);

	if (!rtt_ns || rtt_ns <= a->floor_ns) {
		ev->verdict = TIMELY_DROP_FLOOR;
		return;
	}
	ev->rtt_ns = rtt_ns;
	ev->source = s->host ? TIMELY_SRC_DRIVER : TIMELY_SRC_NIC;
}

#endif /* TIMELY_STAMP_H */
