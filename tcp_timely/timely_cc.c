// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion controls "timely" (TIMELY15), "timely_patched" and "timely_pi" (ECNDELAY16):
 * TCP's events in, pacing rate, burst size and window bound out.
 *
 *   ACK ---> timely_completion.h ---> timely_rate.h ---> sk_pacing_rate
 *            did a burst complete,    what rate does     sk_gso_max_size
 *            and in what time?        that call for?     snd_cwnd
 *
 * The rate governs sending.  The window only bounds the data in flight when the
 * feedback stops: rate times the worst RTT that the engine tolerates, and three
 * bursts, since sender, wire and receiver may each hold one.
 *
 * Rates are those of the wire: a flow at line rate just fills the line, whatever its
 * packet size.  sk_pacing_rate counts payload, hence the conversion.
 *
 *             +------+  data after idle   +--------+
 *      init ->| idle |------------------->| active |  counted in timely_dev
 *             +------+<-------------------+--------+
 *                      all acked, nothing to send
 *
 *   loss episode: one decrease, and while it lasts as much leaves as arrives;
 *   timeout: start again from the lowest rate; TCP undoes both if spurious.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>

#include "compat/compat.h"
#include "include/onramp_hold.h"
#include "include/onramp_price.h"
#include "timely_agree.h"
#include "timely_cc.h"
#include "timely_completion.h"
#include "timely_config.h"
#include "timely_dev.h"
#include "timely_flow.h"
#include "timely_hops.h"
#include "timely_host.h"
#include "timely_net.h"
#include "timely_nic.h"
#include "timely_rate.h"
#include "timely_signal.h"
#include "timely_stat.h"

#define CREATE_TRACE_POINTS
#include "timely_trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(timely_decision);

/* Ethernet header 14, FCS 4, preamble 8, gap 12: on the wire but not in a packet. */
#define TIMELY_ETHERNET_BYTES	38

/* A burst each in the sender's queue, on the wire and at the receiver. */
#define TIMELY_WINDOW_BURSTS	3

/* Two bursts of two.  With fewer packets only a timeout finds a loss (RFC 5681 wants three
 * duplicate ACKs).
 */
#define TIMELY_WINDOW_MIN_SEGS	4

/* TCP may keep rate >> shift in the host's queues (see sk_pacing_shift): 8 is 4 ms, 13 is
 * 122 us.  Packets there have departure times of an older rate, so the fewer the better.
 * TCP keeps two bursts in any case.
 */
#define TIMELY_PACING_SHIFT	13

/* No receiver that follows RFC 1122 as Linux does delays an ACK by less, except
 * where a lower minimum RTO lowers the delay too.
 */
#define TIMELY_DELACK_NS	(20 * NSEC_PER_MSEC)

static struct tcp_congestion_ops timely_ops[TIMELY_VARIANTS];

static const struct timely_config *timely_config(const struct sock *sk)
{
	int variant = inet_csk(sk)->icsk_ca_ops - timely_ops;

	return rcu_dereference(timely_net(sock_net(sk))->config[variant]);
}

/* -- the output device ---------------------------------------------------- */

/* sch_onramp's, while it is loaded.  Called under RCU only: no CPU is in it when a grace
 * period has passed after sch_onramp took it back.
 */
static onramp_hold_fn timely_hold;

/* Time that the sender's qdisc held the burst on purpose, to subtract from its RTT.  It
 * does not contain pacing: send times are departure times.
 */
static u32 timely_hold_ns(const struct sock *sk, u32 end_seq)
{
	onramp_hold_fn hold = READ_ONCE(timely_hold);

	return hold ? hold(sk, end_seq) : 0;
}

void timely_set_hold(onramp_hold_fn hold)
{
	WRITE_ONCE(timely_hold, hold);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(timely_set_hold);

/* sch_onramp's, as timely_hold. */
static onramp_price_fn timely_price;

void timely_set_price(onramp_price_fn price)
{
	WRITE_ONCE(timely_price, price);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(timely_set_price);

static void timely_set_active(struct timely_flow *f, bool active)
{
	if (!f->dev || active == !!(f->flags & TIMELY_FLOW_ACTIVE))
		return;
	timely_dev_count(f->dev, active ? 1 : -1);
	f->flags ^= TIMELY_FLOW_ACTIVE;
}

/* Routes change under a living flow: its device must follow. */
static void timely_follow_route(struct sock *sk, struct timely_flow *f)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	const struct net_device *dev = dst ? READ_ONCE(dst->dev) : NULL;
	bool active = f->flags & TIMELY_FLOW_ACTIVE;
	struct timely_dev *d;

	/* No route at the moment: the old one is still the best guess. */
	if (!dev || (f->dev && f->dev->dev == dev))
		return;
	d = timely_dev_get(dev);
	if (!d)
		return;
	timely_set_active(f, false);
	timely_dev_put(f->dev);
	f->dev = d;
	timely_path_start(&f->rate, 0);	/* the base was another path's */
	timely_set_active(f, active);
}

static u64 timely_line_rate_bps(const struct timely_flow *f, const struct timely_config *c)
{
	u64 device_bps = f->dev ? READ_ONCE(f->dev->line_rate_bps) : 0;

	if (c->host.line_rate_mbps)
		return c->host.line_rate_mbps * 1000000;
	return device_bps ?: c->host.default_line_rate_mbps * 1000000;
}

/* -- rate, burst, window --------------------------------------------------- */

/* Bytes of a frame on the wire besides TCP's payload. */
static u32 timely_frame_bytes(const struct sock *sk)
{
	return inet_csk(sk)->icsk_af_ops->net_header_len + tcp_sk(sk)->tcp_header_len +
	       TIMELY_ETHERNET_BYTES;
}

static u64 timely_wire_to_payload(const struct sock *sk, u64 bytes)
{
	u32 mss = tcp_sk(sk)->mss_cache;

	return div_u64(bytes * mss, mss + timely_frame_bytes(sk));
}

static u64 timely_payload_to_wire(const struct sock *sk, u64 bytes)
{
	u32 mss = tcp_sk(sk)->mss_cache;

	return div_u64(bytes * (mss + timely_frame_bytes(sk)), mss);
}

/* The application's limit, SO_MAX_PACING_RATE, in bytes of payload a second.  For TCP and
 * for applications a rate of 0 means "not paced".
 */
static unsigned long timely_max_pacing(const struct sock *sk)
{
	return READ_ONCE(sk->sk_max_pacing_rate) ?: ~0UL;
}

/* The most that this flow may send: its line rate, and the application's limit. */
static u64 timely_cap_bps(const struct sock *sk, const struct timely_flow *f,
			  const struct timely_config *c)
{
	unsigned long max_pacing = timely_max_pacing(sk);
	u64 cap_bps = timely_line_rate_bps(f, c);

	/* Beyond any line rate there is nothing to convert, nor to overflow. */
	if (max_pacing < cap_bps >> 3)
		cap_bps = min(cap_bps, timely_payload_to_wire(sk, max_pacing) << 3);
	return cap_bps;
}

/* A burst in fq has its departure time already; one that TCP still holds goes at the
 * newest rate.  So TCP's own timer paces even above fq, which sends packets at once when
 * they come on time.  fq claims the socket whenever it sees a packet of it.
 */
static void timely_keep_pacing(struct sock *sk, const struct timely_flow *f)
{
	if ((f->flags & TIMELY_FLOW_OWN_PACING) &&
	    READ_ONCE(sk->sk_pacing_status) == SK_PACING_FQ)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_FQ, SK_PACING_NEEDED);
}

static void timely_set_pacing(struct sock *sk, struct timely_flow *f,
			      const struct timely_config *c)
{
	u64 rate = timely_wire_to_payload(sk, f->rate.rate_bps >> 3);

	if (c->host.own_pacing)
		f->flags |= TIMELY_FLOW_OWN_PACING;
	else
		f->flags &= ~TIMELY_FLOW_OWN_PACING;
	rate = min_t(u64, rate, timely_max_pacing(sk));
	WRITE_ONCE(sk->sk_pacing_rate, max_t(u64, rate, 1));
}

/* TCP takes the largest burst from the socket.  A change of route sets that to the device's
 * limit, so every event sets it again.
 */
static void timely_set_burst(struct sock *sk, struct timely_flow *f,
			     const struct timely_config *c)
{
	u32 mss = tcp_sk(sk)->mss_cache, bytes, device_bytes;
	const struct dst_entry *dst = __sk_dst_get(sk);

	bytes = timely_burst_bytes(&f->rate, &c->params, mss);
	if (dst && sk_can_gso(sk)) {
		device_bytes = min_t(u32, READ_ONCE(READ_ONCE(dst->dev)->gso_max_size),
				     GSO_LEGACY_MAX_SIZE) - (MAX_TCP_HEADER + 1);
		bytes = min(bytes, device_bytes);
		/* A qdisc that changes it holds no lock of the socket's. */
		if (READ_ONCE(sk->sk_gso_max_size) != bytes)
			WRITE_ONCE(sk->sk_gso_max_size, bytes);
	}
	f->burst_segs = clamp_t(u32, bytes / mss, 1, U16_MAX);
}

/* Are some of the queues that ACKs and data meet not in the signal? */
static bool timely_leaves_out_queues(const struct timely_flow *f, const struct timely_config *c)
{
	return f->flags & TIMELY_FLOW_SIGNAL && c->host.signal != TIMELY_SIGNAL_SUM;
}

/* Fills in the fields of a sample that do not depend on the RTT. */
static void timely_sample_fill(struct timely_sample *sample, const struct sock *sk,
			       const struct timely_flow *f, const struct timely_config *c)
{
	u32 mult = c->line_wire_mult;

	memset(sample, 0, sizeof(*sample));
	if (!mult && f->dev)
		mult = READ_ONCE(f->dev->wire_mult);
	sample->frame_bytes = tcp_sk(sk)->mss_cache + timely_frame_bytes(sk);
	sample->frame_ns = timely_scaled_ns(mult ?: c->default_wire_mult, sample->frame_bytes);
	sample->burst_ns = f->burst_segs * sample->frame_ns;
	if (!f->dev)
		return;
	sample->coalesce_ns = READ_ONCE(f->dev->coalesce_ns);
	/* The link's time for the bytes of a millisecond, in ns, is its load in millionths. */
	if (!timely_leaves_out_queues(f, c))
		sample->back_load = min(timely_scaled_ns(mult ?: c->default_wire_mult,
							 READ_ONCE(f->dev->rx_bytes_per_ms)) >> 10,
					1ULL << TIMELY_LOAD_SHIFT);
}

/* The longest RTT of a healthy path, in microseconds.  ACKs still come through queues that are
 * not in the signal, so TCP's RTT counts, too.
 */
static u64 timely_window_us(const struct tcp_sock *tp, const struct timely_flow *f,
			    const struct timely_config *c, const struct timely_sample *sample)
{
	u32 least_us = tcp_min_rtt(tp);
	struct timely_path path;
	u64 rtt_us;

	timely_path_find(&path, &f->rate, &c->params, sample);
	rtt_us = div_u64(timely_path_window_ns(&path, sample), NSEC_PER_USEC);
	/* The papers' thresholds are RTTs, and the flow has to fill longer paths, too. */
	if (!c->params.path_law && least_us != ~0U)
		rtt_us += least_us;
	if (timely_leaves_out_queues(f, c))
		rtt_us = max_t(u64, rtt_us, c->params.t_high_us + (tp->srtt_us >> 3));
	return rtt_us;
}

/* Segments that may be in flight in the worst case that the engine tolerates. */
static u32 timely_window_segs(const struct sock *sk, const struct timely_flow *f,
			      const struct timely_config *c)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct timely_sample sample;
	u64 segs;

	timely_sample_fill(&sample, sk, f, c);
	/* Both factors are bounded: 1.6 Tbit/s for 72 minutes fits. */
	segs = div_u64((f->rate.rate_bps >> 3) * timely_window_us(tp, f, c, &sample),
		       USEC_PER_SEC);
	segs = div_u64(segs, sample.frame_bytes);
	segs += TIMELY_WINDOW_BURSTS * min_t(u32, f->burst_segs, sk->sk_gso_max_segs);
	return clamp_t(u64, segs, TIMELY_WINDOW_MIN_SEGS, tp->snd_cwnd_clamp);
}

/* The window opens by the segments acked, as in slow start, until it reaches its bound or
 * a loss occurs.  The first rate is a guess that knows nothing of other hosts.  If 400 flows
 * began within a millisecond, each with the window of its rate, they would overflow 6 MB of
 * buffer, and flows that lose all their data stand still until a timeout.
 */
static u32 timely_open_segs(const struct sock *sk, struct timely_flow *f, u32 window, u32 open)
{
	if (!(f->flags & TIMELY_FLOW_OPENING))
		return window;
	if (open >= window || inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		f->flags &= ~TIMELY_FLOW_OPENING;
	return min(window, open);
}

/* Whatever the rate allows, loss recovery has a retransmission in flight, as with TCP's own
 * reduction (RFC 6937).  If the rest in flight is lost, too, no other ACK comes back, and only
 * TCP's RTO timer would find that.
 */
static u32 timely_retransmit_segs(const struct tcp_sock *tp)
{
	return tp->lost_out && !tp->retrans_out ? tcp_packets_in_flight(tp) + 1 : 0;
}

/* Loss recovery keeps the number of packets in the network: one leaves for each that
 * arrived, but a burst may always be in flight.  A paced flow has nothing in flight between
 * two bursts, and without packets behind a retransmission only a timeout finds its loss.
 * After a timeout the window opens with the ACKs.
 */
static void timely_set_window(struct sock *sk, struct timely_flow *f,
			      const struct timely_config *c, u32 acked)
{
	u32 least = max_t(u32, f->burst_segs, TIMELY_WINDOW_MIN_SEGS);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window;

	window = timely_open_segs(sk, f, timely_window_segs(sk, f, c),
				  max(tcp_snd_cwnd(tp) + acked, least));
	switch (inet_csk(sk)->icsk_ca_state) {
	case TCP_CA_Recovery:
		window = min(window, max(tcp_packets_in_flight(tp) + acked, least));
		window = max(window, timely_retransmit_segs(tp));
		break;
	case TCP_CA_Loss:
		window = min(window, tcp_snd_cwnd(tp) + acked);
		break;
	default:
		break;
	}
	tcp_snd_cwnd_set(tp, max(window, 1U));
}

/* In loss recovery, or just out of it. */
static bool timely_recovering(const struct sock *sk, struct timely_flow *f)
{
	bool was = f->flags & TIMELY_FLOW_RECOVERING;

	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		f->flags |= TIMELY_FLOW_RECOVERING;
	else
		f->flags &= ~TIMELY_FLOW_RECOVERING;
	return was || (f->flags & TIMELY_FLOW_RECOVERING);
}

/* After each new rate: set all that depends on it. */
static void timely_apply_rate(struct sock *sk, struct timely_flow *f,
			      const struct timely_config *c)
{
	timely_set_pacing(sk, f, c);
	timely_set_burst(sk, f, c);
}

/* -- start and idle -------------------------------------------------------- */

/* C / (N + 1), N the flows that already send through this device. */
static u64 timely_start_rate_bps(const struct sock *sk, const struct timely_flow *f,
				 const struct timely_config *c)
{
	unsigned int flows = 0;

	if (f->dev) {
		flows = timely_dev_flows(f->dev);
		if (flows && (f->flags & TIMELY_FLOW_ACTIVE))
			flows--;
	}
	return min(c->params.init_rate_bps ?: div_u64(timely_line_rate_bps(f, c), flows + 1),
		   timely_cap_bps(sk, f, c));
}

static void timely_start(struct sock *sk, struct timely_flow *f, const struct timely_config *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 least_us = tcp_min_rtt(tp);

	/* At a start the least RTT is the handshake's, whose packets are short. */
	timely_rate_start(&f->rate, &c->params, timely_start_rate_bps(sk, f, c),
			  least_us == ~0U ? 0 : (u64)least_us * NSEC_PER_USEC);
	timely_apply_rate(sk, f, c);
	f->flags |= TIMELY_FLOW_OPENING;
	/* TCP does not pace its initial window: with a low rate it gets a smaller one. */
	tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp), timely_window_segs(sk, f, c)));
}

/* The rate before an idle time says little about the network after it. */
static void timely_restart_idle(struct sock *sk, struct timely_flow *f,
				const struct timely_config *c)
{
	u32 idle_ms = jiffies_to_msecs(tcp_jiffies32 - tcp_sk(sk)->lsndtime);
	u64 start_bps, restart_bps;
	u32 halvings;

	if (!c->host.idle_ms || idle_ms < c->host.idle_ms)
		return;
	halvings = min(idle_ms / c->host.idle_ms, 63U);
	start_bps = timely_start_rate_bps(sk, f, c);
	restart_bps = max(start_bps, (u64)f->rate.rate_bps >> halvings);
	timely_rate_idle(&f->rate, &c->params, restart_bps);
	timely_apply_rate(sk, f, c);
	f->flags |= TIMELY_FLOW_OPENING;
	tcp_snd_cwnd_set(tcp_sk(sk), min_t(u32, tcp_snd_cwnd(tcp_sk(sk)), TCP_INIT_CWND));
	timely_set_window(sk, f, c, 0);
	timely_stat_inc(sock_net(sk), TIMELY_STAT_IDLE_RESTARTS);
}

/* Data is about to leave while nothing is in flight. */
static void timely_tx_start(struct sock *sk, struct timely_flow *f,
			    const struct timely_config *c)
{
	struct tcp_sock *tp = tcp_sk(sk);

	/* After a timeout nothing counts as in flight either. */
	if (tp->packets_out)
		return;
	timely_follow_route(sk, f);
	if (f->dev && !READ_ONCE(f->dev->line_rate_bps))
		timely_dev_ask(f->dev);
	timely_set_active(f, true);
	if (f->dev)
		timely_dev_watch_rx(f->dev);
	if (!(f->flags & TIMELY_FLOW_STARTED)) {
		f->flags |= TIMELY_FLOW_STARTED;
		timely_start(sk, f, c);
		timely_stat_inc(sock_net(sk), TIMELY_STAT_FLOWS);
	} else {
		timely_restart_idle(sk, f, c);
	}
	timely_completion_sent(&f->burst, tp->snd_nxt, tp->tcp_wstamp_ns);
}

/* -- an ACK ---------------------------------------------------------------- */

static u32 timely_delack_ns(const struct sock *sk)
{
	/* The peer's minimum RTO, which bounds its delay, is probably that of this host. */
	u64 half_rto_ns = (u64)tcp_rto_min_us((struct sock *)sk) * NSEC_PER_USEC / 2;

	return min_t(u64, half_rto_ns, TIMELY_DELACK_NS);
}

static void timely_ack_wire(struct timely_ack *a, const struct timely_flow *f,
			    const struct timely_config *c)
{
	a->wire_sure = true;
	if (c->line_wire_mult) {
		a->wire_mult = c->line_wire_mult;
	} else if (f->dev) {
		a->wire_sure = READ_ONCE(f->dev->sure);
		a->wire_mult = READ_ONCE(f->dev->wire_mult) ?: c->default_wire_mult;
	}
}

/* Translates this ACK into the terms of timely_completion.h. */
static void timely_ack_fill(struct timely_ack *a, const struct sock *sk,
			    const struct timely_flow *f, const struct timely_config *c,
			    const struct rate_sample *rs)
{
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 ca_state = inet_csk(sk)->icsk_ca_state;

	memset(a, 0, sizeof(*a));
	a->now_ns = tp->tcp_clock_cache;
	a->una = tp->snd_una;
	a->retrans = rs->is_retrans;
	if (rs->prior_mstamp) {
		a->newest_send_us = tp->first_tx_mstamp;
		a->newest_end_seq = rs->last_end_seq;
	} else {
		a->newest_end_seq = tp->snd_una;
	}
	if (head) {
		a->head_send_ns = head->skb_mstamp_ns;
		a->head_end_seq = TCP_SKB_CB(head)->end_seq;
		if (tp_seq_before(a->una, a->newest_end_seq))
			a->retrans |= !!(TCP_SKB_CB(head)->sacked & TCPCB_RETRANS);
	}
	a->mss = tp->mss_cache;
	a->burst_bytes = f->burst_segs * tp->mss_cache;
	a->frame_bytes = timely_frame_bytes(sk);
	a->min_rtt_ns = min_t(u64, (u64)tcp_min_rtt(tp) * NSEC_PER_USEC, U32_MAX);
	a->delack_ns = timely_delack_ns(sk);
	a->hole = tp->sacked_out || ca_state >= TCP_CA_Recovery;
	a->rwnd_limited = tp->chrono_type == TCP_CHRONO_RWND_LIMITED;
	a->hold_ns = timely_hold_ns(sk, a->una);
	timely_ack_wire(a, f, c);
}

/* The queues that are not in the signal, if some are to be subtracted and are known.  An ACK
 * without an RTT, of a retransmission or of nothing, gives no sample, and the flow keeps its flag.
 */
static void timely_ack_signal(struct timely_ack *a, const struct sock *sk, struct timely_flow *f,
			      const struct timely_config *c, const struct rate_sample *rs)
{
	u32 signal = c->host.signal;
	bool known;

	if (signal != TIMELY_SIGNAL_RTT && rs->rtt_us < 0)
		return;
	f->flags &= ~TIMELY_FLOW_SIGNAL;
	if (signal == TIMELY_SIGNAL_RTT)
		return;
	if (timely_signal_is_of_hops(signal))
		known = timely_hops_ack(sk, rs, signal, a);
	else
		known = timely_forward_ack(sk, rs, a);
	if (known)
		f->flags |= TIMELY_FLOW_SIGNAL;
}

/* A sample that is to have the queues of hops. */
static void timely_choose_hops(const struct sock *sk, struct timely_flow *f,
			       struct timely_event *ev)
{
	if (f->flags & TIMELY_FLOW_SIGNAL) {
		ev->source = TIMELY_SRC_HOPS;
		f->hops_patience = TIMELY_HOPS_PATIENCE;
	} else if (timely_hops_wait(&f->hops_patience)) {
		ev->verdict = TIMELY_DROP_HOPS;
	} else {
		timely_stat_inc(sock_net(sk), TIMELY_STAT_NO_HOPS);
	}
}

/* Chooses the source of an event's times.  Those of a NIC and those of the way back do not
 * mix: delays of the hosts are in the one and not in the other.
 */
static void timely_choose_source(struct sock *sk, struct timely_flow *f,
				 const struct timely_config *c, const struct timely_ack *a,
				 struct timely_event *ev)
{
	bool forward = c->host.signal == TIMELY_SIGNAL_FORWARD;

	if (forward && f->flags & TIMELY_FLOW_SIGNAL) {
		ev->source = TIMELY_SRC_FORWARD;
		return;
	}
	timely_nic_event(sk, c, a, ev);
	if (c->host.signal == TIMELY_SIGNAL_RTT || ev->verdict != TIMELY_ACK_SAMPLE)
		return;
	if (forward)
		timely_stat_inc(sock_net(sk), TIMELY_STAT_NO_FORWARD);
	else
		timely_choose_hops(sk, f, ev);
}

/* A flow of timely_pi whose event before was at @before_ns agrees with others on p. */
static void timely_agree_with_others(const struct sock *sk, struct timely_flow *f,
				     const struct timely_config *c, u64 before_ns)
{
	onramp_price_fn price = READ_ONCE(timely_price);
	u64 now_ns = f->rate.last_event_ns;

	if (c->params.variant != TIMELY_VARIANT_PI || !price ||
	    !timely_agree_is_due(before_ns, now_ns))
		return;
	timely_agree(&f->rate, &c->params, price(sk, f->rate.pi_p_q),
		     timely_since_ns(now_ns, before_ns));
}

static void timely_decide(struct sock *sk, struct timely_flow *f, const struct timely_config *c,
			  const struct timely_ack *a, const struct timely_event *ev,
			  const struct rate_sample *rs)
{
	u64 before_ns = f->rate.last_event_ns;
	struct timely_sample sample;
	struct timely_outcome out;

	timely_sample_fill(&sample, sk, f, c);
	sample.now_ns = a->now_ns;
	sample.rtt_ns = ev->rtt_ns;
	sample.cap_bps = timely_cap_bps(sk, f, c);
	sample.app_limited = rs->is_app_limited || a->rwnd_limited;
	if (sample.app_limited)
		sample.acked_bytes = timely_payload_to_wire(sk, ev->acked_bytes);
	timely_rate_sample(&f->rate, &c->params, &sample, &out);
	timely_agree_with_others(sk, f, c, before_ns);
	timely_apply_rate(sk, f, c);
	timely_stat_inc(sock_net(sk), TIMELY_STAT_BRANCH + out.branch);
	timely_stat_inc(sock_net(sk), TIMELY_STAT_SOURCE + ev->source);
	if (trace_timely_decision_enabled())
		trace_timely_decision(sk, ev, &out, timely_window_segs(sk, f, c));
}

/* After a timeout ACKs of retransmissions raise the rate, although they give no RTT. */
static void timely_rise(struct sock *sk, struct timely_flow *f, const struct timely_config *c)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	timely_rate_got_through(&f->rate, &c->params, tp->tcp_clock_cache,
				(u64)(tp->srtt_us >> 3) * NSEC_PER_USEC, timely_cap_bps(sk, f, c));
	timely_apply_rate(sk, f, c);
}

static void timely_ack(struct sock *sk, const struct rate_sample *rs)
{
	struct timely_flow *f = timely_flow(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_config *c;
	struct timely_event ev;
	struct timely_ack a;
	bool completed;

	rcu_read_lock();
	c = timely_config(sk);
	if (!c || !(f->flags & TIMELY_FLOW_READY))
		goto out;
	timely_follow_route(sk, f);
	timely_ack_fill(&a, sk, f, c, rs);
	timely_ack_signal(&a, sk, f, c, rs);
	completed = timely_completion_ack(&f->burst, &a, &ev);
	if (completed) {
		timely_choose_source(sk, f, c, &a, &ev);
		timely_stat_inc(sock_net(sk), TIMELY_STAT_VERDICT + ev.verdict);
		if (ev.verdict == TIMELY_ACK_SAMPLE)
			timely_decide(sk, f, c, &a, &ev, rs);
	}
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && rs->acked_sacked)
		timely_rise(sk, f, c);
	/* Between events only loss recovery changes the window. */
	if (completed || timely_recovering(sk, f))
		timely_set_window(sk, f, c, rs->acked_sacked);
	if (!tp->packets_out && tcp_write_queue_empty(sk))
		timely_set_active(f, false);
out:
	rcu_read_unlock();
}

TP_CONG_CONTROL(timely_cong_control, timely_ack)

/* -- loss ------------------------------------------------------------------ */

/* A quarter of the packets in flight, and more than one: an overflow and no bad cable. */
static bool timely_lost_much(const struct tcp_sock *tp)
{
	return tp->lost_out >= max(2U, tp->packets_out / 4);
}

static void timely_lose(struct sock *sk, struct timely_flow *f, const struct timely_config *c,
			u8 new_state)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 old_state = inet_csk(sk)->icsk_ca_state;
	int stat;

	if (old_state <= TCP_CA_Disorder) {
		timely_rate_recovered(&f->rate);
		f->prior_cwnd = tcp_snd_cwnd(tp);
	}
	if (new_state == TCP_CA_Loss) {
		timely_rate_rto(&f->rate, &c->params);
		stat = TIMELY_STAT_RTOS;
	} else if (old_state <= TCP_CA_Disorder) {
		/* An ECN mark or a full queue in the host is no bad cable. */
		timely_rate_loss(&f->rate, &c->params, tp->tcp_clock_cache,
				 new_state == TCP_CA_CWR || timely_lost_much(tp));
		if (new_state == TCP_CA_Recovery)
			timely_rate_keep_up(&f->rate, &c->params, timely_cap_bps(sk, f, c));
		stat = new_state == TCP_CA_CWR ? TIMELY_STAT_CWRS : TIMELY_STAT_LOSSES;
	} else {
		return;
	}
	timely_apply_rate(sk, f, c);
	timely_stat_inc(sock_net(sk), stat);
}

static void timely_set_state(struct sock *sk, u8 new_state)
{
	struct timely_flow *f = timely_flow(sk);
	const struct timely_config *c;

	if (new_state < TCP_CA_CWR || !(f->flags & TIMELY_FLOW_READY))
		return;
	rcu_read_lock();
	c = timely_config(sk);
	if (c)
		timely_lose(sk, f, c, new_state);
	rcu_read_unlock();
}

/* The rate answers to loss, and the window follows it: there is no slow start threshold. */
static u32 timely_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static u32 timely_undo_cwnd(struct sock *sk)
{
	struct timely_flow *f = timely_flow(sk);
	const struct timely_config *c;

	rcu_read_lock();
	c = timely_config(sk);
	if (c && (f->flags & TIMELY_FLOW_READY)) {
		timely_rate_undo(&f->rate);
		timely_apply_rate(sk, f, c);
		timely_stat_inc(sock_net(sk), TIMELY_STAT_UNDOS);
	}
	rcu_read_unlock();
	return max(tcp_snd_cwnd(tcp_sk(sk)), f->prior_cwnd);
}

/* -- life of a flow -------------------------------------------------------- */

static void timely_sends_again(struct sock *sk)
{
	struct timely_flow *f = timely_flow(sk);
	const struct timely_config *c;

	if (!(f->flags & TIMELY_FLOW_READY))
		return;
	rcu_read_lock();
	c = timely_config(sk);
	if (c)
		timely_tx_start(sk, f, c);
	rcu_read_unlock();
}

TP_CWND_EVENT_TX_START(timely_cwnd_event, timely_sends_again)

/* TCP asks before it sends, which is the moment to take the pacing back from fq, too. */
TP_TSO_SEGS(timely_tso_segs)
{
	timely_keep_pacing(sk, timely_flow(sk));
	return max_t(u32, timely_flow(sk)->burst_segs, 1);
}

static void timely_init(struct sock *sk)
{
	struct timely_flow *f = timely_flow(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_config *c;

	memset(f, 0, sizeof(*f));
	rcu_read_lock();
	c = timely_config(sk);
	if (!c)
		goto out;
	f->flags = TIMELY_FLOW_READY;
	timely_completion_reset(&f->burst, tp->snd_una);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	sk_pacing_shift_update(sk, TIMELY_PACING_SHIFT);
	timely_follow_route(sk, f);
	timely_start(sk, f, c);
out:
	rcu_read_unlock();
}

/* Leave the socket as another congestion control expects it. */
static void timely_release(struct sock *sk)
{
	struct timely_flow *f = timely_flow(sk);
	struct dst_entry *dst;

	if (!(f->flags & TIMELY_FLOW_READY))
		return;
	timely_nic_forget(sk);
	timely_forward_forget(sk);
	timely_set_active(f, false);
	timely_dev_put(f->dev);
	f->dev = NULL;
	f->flags = 0;
	sk_pacing_shift_update(sk, 10);
	dst = __sk_dst_get(sk);
	if (dst && sk->sk_state != TCP_CLOSE) {
		dst_hold(dst);
		sk_setup_caps(sk, dst);	/* burst size */
	}
}

/* A stock ss knows BBR's numbers; these fit into them:
 * bw: rate, mrtt: newest RTT sample, pacing_gain: 1 + gradient, cwnd_gain: RTT over the lower
 * threshold, below which the rate only grows.
 */
static void timely_fill_bbr(struct tcp_bbr_info *info, const struct sock *sk,
			    const struct timely_flow *f, const struct timely_config *c)
{
	u64 rate = f->rate.rate_bps >> 3, rtt_ns = f->rate.prev_rtt_ns;
	struct timely_sample sample;
	struct timely_path path;
	s64 gain;

	timely_sample_fill(&sample, sk, f, c);
	timely_path_find(&path, &f->rate, &c->params, &sample);
	gain = 256 + div_s64(timely_gradient_micro(f->rate.rtt_diff_q, path.unit_ns) * 256,
			     1000000);

	memset(info, 0, sizeof(*info));
	info->bbr_bw_lo = (u32)rate;
	info->bbr_bw_hi = (u32)(rate >> 32);
	info->bbr_min_rtt = div_u64(rtt_ns, NSEC_PER_USEC);
	info->bbr_pacing_gain = clamp_t(s64, gain, 1, U32_MAX);
	if (path.low_ns)
		info->bbr_cwnd_gain = min_t(u64, div64_u64(rtt_ns * 256, path.low_ns), U32_MAX);
}

static size_t timely_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct timely_config *c;
	size_t size = 0;

	if (!(ext & (1 << (INET_DIAG_BBRINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	rcu_read_lock();
	c = timely_config(sk);
	if (c) {
		timely_fill_bbr(&info->bbr, sk, timely_flow(sk), c);
		*attr = INET_DIAG_BBRINFO;
		size = sizeof(info->bbr);
	}
	rcu_read_unlock();
	return size;
}

#define TIMELY_OPS(name_)						\
	{								\
		.flags		= TCP_CONG_NON_RESTRICTED,		\
		.name		= name_,				\
		.owner		= THIS_MODULE,				\
		.init		= timely_init,				\
		.release	= timely_release,			\
		.cong_control	= timely_cong_control,			\
		.set_state	= timely_set_state,			\
		.ssthresh	= timely_ssthresh,			\
		.undo_cwnd	= timely_undo_cwnd,			\
		.get_info	= timely_get_info,			\
		.TP_CWND_EVENT_TX_START_MEMBER = timely_cwnd_event,	\
		.TP_TSO_SEGS_MEMBER = timely_tso_segs,			\
	}

static struct tcp_congestion_ops timely_ops[TIMELY_VARIANTS] __read_mostly = {
	[TIMELY_VARIANT_TIMELY] = TIMELY_OPS("timely"),
	[TIMELY_VARIANT_PATCHED] = TIMELY_OPS("timely_patched"),
	[TIMELY_VARIANT_PI] = TIMELY_OPS("timely_pi"),
};

int timely_cc_init(void)
{
	int i, err;

	for (i = 0; i < TIMELY_VARIANTS; i++) {
		err = tcp_register_congestion_control(&timely_ops[i]);
		if (err)
			goto fail;
	}
	return 0;

fail:
	while (i--)
		tcp_unregister_congestion_control(&timely_ops[i]);
	return err;
}

void timely_cc_exit(void)
{
	int i;

	for (i = 0; i < TIMELY_VARIANTS; i++)
		tcp_unregister_congestion_control(&timely_ops[i]);
}
