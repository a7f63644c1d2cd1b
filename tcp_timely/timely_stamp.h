/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTT samples by NIC stamps (nicstamp, TIMELY15): how an event uses them. Pure.
 *
 * The stamps give the time from a byte's departure to the ACK's arrival. The RTT of TIMELY15
 * (section 3.1) is that of the last byte acked, hence the module adds or subtracts the wire
 * time between the two bytes. Section 5: "we consider any NIC queuing to be part of the RTT
 * signal". So the module adds the data's wait in the NIC beyond their own wire time, if the
 * NIC's clock is known well enough.
 */
#ifndef TIMELY_STAMP_H
#define TIMELY_STAMP_H

#include "timely_completion.h"
#include "include/nicstamp_sample.h"

/* Whose times are used. */
enum timely_stamp_mode {
	TIMELY_STAMP_AUTO,	/* stamps if the flow has them, else TCP's own */
	TIMELY_STAMP_HW,	/* only a NIC's own stamps */
	TIMELY_STAMP_SW,	/* only the host's stamps at the driver */
	TIMELY_STAMP_TCP,	/* only TCP's own */
	TIMELY_STAMP_MODES
};

/* A flow with stamps gets no times of TCP's in between: their additional noise would look
 * like a queue that comes and goes. After so many events without a stamp the flow counts
 * as one without stamps.
 */
#define TIMELY_STAMP_PATIENCE	8

/* An error of the NIC's waiting time that does not matter beside t_low. */
#define TIMELY_STAMP_WAIT_ERROR_NS	2000

/* The wait of the run of data in the NIC, beyond its own time on the wire. */
static inline u64 timely_stamp_wait_ns(const struct nicstamp_sample *s,
				       const struct timely_ack *a)
{
	u64 own_ns = timely_wire_ns(s->run_bytes, a->mss, a->frame_bytes, a->wire_mult);

	if (s->wait_error_ns > TIMELY_STAMP_WAIT_ERROR_NS || s->wait_ns <= own_ns)
		return 0;
	return s->wait_ns - own_ns;
}

/* The RTT of the last byte that @a acks; 0: faster than the wire, which is impossible. */
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

/* Does an event without a stamp, one of @missed in a row, use TCP's own time? */
static inline bool timely_stamp_leaves_tcp(enum timely_stamp_mode mode, u32 missed)
{
	if (mode == TIMELY_STAMP_AUTO)
		return missed >= TIMELY_STAMP_PATIENCE;
	return mode == TIMELY_STAMP_TCP;
}

/* Does the mode use stamps of this kind? */
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

	if (!rtt_ns || rtt_ns <= a->floor_ns + a->back_ns) {
		ev->verdict = TIMELY_DROP_FLOOR;
		return;
	}
	ev->rtt_ns = rtt_ns - a->back_ns;
	ev->source = s->host ? TIMELY_SRC_DRIVER : TIMELY_SRC_NIC;
}

#endif /* TIMELY_STAMP_H */
