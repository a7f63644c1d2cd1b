/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window of HPCC ("HPCC: High Precision Congestion Control", SIGCOMM 2019, section 3.2,
 * algorithm 1), from in-band telemetry.
 *
 *   link        u_i = min(q, q before) / (B T) + (sent - sent before) / (dt B)
 *   flow        U   = (1 - tau / T) U + tau / T max u_i,         tau = min(dt of that link, T)
 *   window      W   = W_c / (U / eta) + W_AI       if U >= eta, or at the end of max_stage stages
 *               W   = W_c + W_AI                   else; a stage
 *
 * T is the base RTT.  Once a round trip, when the first packet sent at the last such time is acked, W_c
 * becomes W.  So what one ACK says does not add to what the ACK before said of the same queue.
 */
#ifndef HPCC_WINDOW_H
#define HPCC_WINDOW_H

#include "selftests/vrack/vr_telemetry.h"

#define HPCC_ONE_SHIFT	20	/* of utilizations: 1.0 */
#define HPCC_ONE	(1U << HPCC_ONE_SHIFT)

struct hpcc_params {
	u32 base_ns;		/* T, at least 1 */
	u32 eta_milli;
	u32 max_stage;
	u32 ai_bytes;		/* W_AI */
	u32 line_bytes;		/* the first and largest window: the NIC's rate for T */
};

/* One link of the path, as the packet before said.  Numbers keep their low 32 bits: 4 s and 4 GB. */
struct hpcc_link {
	u32 at_ns;
	u32 sent_bytes;
	u32 queue_bytes;
};

struct hpcc_state {
	struct hpcc_link link[VR_TELEMETRY_HOPS];
	u32 utilization;	/* U, of HPCC_ONE */
	u32 window_bytes;	/* W */
	u32 round_bytes;	/* W_c */
	u32 round_end;		/* sequence number: when this is acked, a round trip is over */
	u8 links;		/* 0: no packet has said anything yet */
	u8 stage;
};

static inline void hpcc_start(struct hpcc_state *s, const struct hpcc_params *p, u32 next_seq)
{
	s->links = 0;
	s->utilization = HPCC_ONE;
	s->window_bytes = p->line_bytes;
	s->round_bytes = p->line_bytes;
	s->round_end = next_seq;
	s->stage = 0;
}

/* u_i; @dt_ns is not 0 */
static inline u64 hpcc_link_utilization(const struct hpcc_params *p, const struct hpcc_link *before,
					const struct vr_hop_said *now, u32 dt_ns)
{
	u64 queue_bytes = now->queue_bytes < before->queue_bytes ? now->queue_bytes :
								   before->queue_bytes;
	u64 product_bytes = tp_div((u64)now->mbps * p->base_ns, 8000);
	u64 sent_mbps = tp_div((u64)((u32)now->sent_bytes - before->sent_bytes) * 8000, dt_ns);

	return tp_div(queue_bytes << HPCC_ONE_SHIFT, product_bytes ? product_bytes : 1) +
	       tp_div(sent_mbps << HPCC_ONE_SHIFT, now->mbps);
}

/* U, by what this packet says.  A packet that left a port together with the one before says nothing of
 * that port.
 */
static inline void hpcc_measure(struct hpcc_state *s, const struct hpcc_params *p,
				const struct vr_telemetry *t)
{
	u64 most = 0, tau_ns = 0, link;
	u32 i, dt_ns;

	for (i = 0; i < t->hops; i++) {
		dt_ns = (u32)t->hop[i].at_ns - s->link[i].at_ns;
		if (!dt_ns || !t->hop[i].mbps)
			continue;
		link = hpcc_link_utilization(p, &s->link[i], &t->hop[i], dt_ns);
		if (link > most) {
			most = link;
			tau_ns = dt_ns < p->base_ns ? dt_ns : p->base_ns;
		}
	}
	most = most < ~0U ? most : ~0U;
	s->utilization = tp_div((p->base_ns - tau_ns) * s->utilization + tau_ns * most, p->base_ns);
}

static inline void hpcc_remember(struct hpcc_state *s, const struct vr_telemetry *t)
{
	u32 i;

	for (i = 0; i < t->hops; i++)
		s->link[i] = (struct hpcc_link){
			.at_ns = (u32)t->hop[i].at_ns,
			.sent_bytes = (u32)t->hop[i].sent_bytes,
			.queue_bytes = t->hop[i].queue_bytes,
		};
	s->links = t->hops;
}

/* W, of U; @round: a round trip is over. */
static inline void hpcc_compute(struct hpcc_state *s, const struct hpcc_params *p, bool round)
{
	u64 eta = tp_div((u64)p->eta_milli << HPCC_ONE_SHIFT, 1000), window = s->round_bytes;
	bool divides = s->utilization >= eta || s->stage >= p->max_stage;

	if (divides)
		window = tp_div(window * eta, s->utilization ? s->utilization : 1);
	window += p->ai_bytes;
	s->window_bytes = window < p->line_bytes ? window : p->line_bytes;
	if (!round)
		return;
	s->round_bytes = s->window_bytes;
	s->stage = divides ? 0 : s->stage + 1;
}

/* The ACK of a packet that said @t, up to @una; @next_seq is sent next. */
static inline void hpcc_ack(struct hpcc_state *s, const struct hpcc_params *p,
			    const struct vr_telemetry *t, u32 una, u32 next_seq)
{
	bool round = tp_seq_before(s->round_end, una);

	/* The first says where counters stand; so does one that took a path of another length. A path
	 * of the same length passes for the one before, which the rack's never are: they go by flow.
	 */
	if (s->links == t->hops) {
		hpcc_measure(s, p, t);
		hpcc_compute(s, p, round);
		if (round)
			s->round_end = next_seq;
	}
	hpcc_remember(s, t);
}

#endif /* HPCC_WINDOW_H */
