// SPDX-License-Identifier: GPL-2.0
/*
 * What nicstamp makes of a packet with a stamp of a driver or of the generic feed (TIMELY15). It
 * does not trust packets that arrive: it only looks up what they say. It counts an ACK of data
 * that was not sent, and forgets it.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "nicstamp_depart.h"
#include "nicstamp_packet.h"

struct static_key_false nicstamp_listened = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(nicstamp_listened);

/* -- what a packet says ------------------------------------------------------ */

/* Data in a packet: from start to before end. */
struct nicstamp_run {
	u32 start_seq;
	u32 end_seq;		/* with a FIN */
	u32 data_end_seq;	/* without it */
	u16 seg_bytes;		/* 0: a single segment */
};

/* Does TCP itself follow the network header, and no tunnel and no IPsec? */
static bool nicstamp_is_plain_tcp(const struct sk_buff *skb)
{
	if (skb->encapsulation || !skb_transport_header_was_set(skb))
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return ip_hdr(skb)->protocol == IPPROTO_TCP;
	return skb->protocol == htons(ETH_P_IPV6) && ipv6_hdr(skb)->nexthdr == IPPROTO_TCP;
}

/* Reads the data of a packet between these ports. */
static bool nicstamp_run_read(const struct sk_buff *skb, __be16 source, __be16 dest,
			      struct nicstamp_run *run)
{
	int offset = skb_transport_offset(skb);
	struct tcphdr _th;
	const struct tcphdr *th;
	u32 headers;

	th = skb_header_pointer(skb, offset, sizeof(_th), &_th);
	if (!th || th->syn || th->source != source || th->dest != dest)
		return false;
	headers = offset + th->doff * 4;
	if (skb->len < headers)
		return false;
	run->start_seq = ntohl(th->seq);
	run->data_end_seq = run->start_seq + skb->len - headers;
	run->end_seq = run->data_end_seq + th->fin;
	run->seg_bytes = skb_shinfo(skb)->gso_size;
	return true;
}

/* The flow that sends @skb, and the data of it; NULL when no consumer follows it. */
static struct nicstamp_flow *nicstamp_sender(const struct sk_buff *skb, struct nicstamp_run *run)
{
	const struct sock *sk = skb->sk;
	struct nicstamp_flow *flow;

	if (!sk || !sk_fullsock(sk) || !nicstamp_flow_any() || !nicstamp_is_plain_tcp(skb))
		return NULL;
	flow = nicstamp_flow_of_socket(sk);
	return flow && nicstamp_run_read(skb, flow->tuple.local_port, flow->tuple.remote_port,
					 run) ? flow : NULL;
}

/* The data that @skb's socket sends by it, if a consumer may want their departure. */
static bool nicstamp_departs(const struct sk_buff *skb, struct nicstamp_run *run)
{
	const struct sock *sk = skb->sk;

	return nicstamp_depart_asked() && sk && sk_fullsock(sk) && tp_sk_is_tcp(sk) &&
	       nicstamp_is_plain_tcp(skb) &&
	       nicstamp_run_read(skb, inet_sk(sk)->inet_sport, inet_sk(sk)->inet_dport, run) &&
	       run->data_end_seq != run->start_seq;
}

/* What a received packet says. */
struct nicstamp_seen {
	struct nicstamp_tuple tuple;
	u32 bytes;		/* from the network header to the packet's end, without padding */
	u32 end_seq;		/* of its data */
	u32 payload;
	u32 ack;
	bool acks;
};

static int nicstamp_read_ipv4(const struct sk_buff *skb, struct nicstamp_seen *seen)
{
	struct iphdr _ip;
	const struct iphdr *ip = skb_header_pointer(skb, 0, sizeof(_ip), &_ip);

	if (!ip || ip->ihl < 5 || ip->protocol != IPPROTO_TCP || ip_is_fragment(ip))
		return -1;
	ipv6_addr_set_v4mapped(ip->daddr, &seen->tuple.local);
	ipv6_addr_set_v4mapped(ip->saddr, &seen->tuple.remote);
	seen->bytes = ntohs(ip->tot_len);
	return ip->ihl * 4;
}

static int nicstamp_read_ipv6(const struct sk_buff *skb, struct nicstamp_seen *seen)
{
	struct ipv6hdr _ip;
	const struct ipv6hdr *ip = skb_header_pointer(skb, 0, sizeof(_ip), &_ip);

	if (!ip || ip->nexthdr != IPPROTO_TCP)
		return -1;
	seen->tuple.local = ip->daddr;
	seen->tuple.remote = ip->saddr;
	seen->bytes = sizeof(*ip) + ntohs(ip->payload_len);
	return sizeof(*ip);
}

/* False: not TCP with data or an ACK. The data of @skb begin at the network header. */
static bool nicstamp_see(const struct sk_buff *skb, struct nicstamp_seen *seen)
{
	struct tcphdr _th;
	const struct tcphdr *th;
	int offset = -1;
	u32 headers;

	if (skb->protocol == htons(ETH_P_IP))
		offset = nicstamp_read_ipv4(skb, seen);
	else if (skb->protocol == htons(ETH_P_IPV6))
		offset = nicstamp_read_ipv6(skb, seen);
	if (offset < 0)
		return false;
	th = skb_header_pointer(skb, offset, sizeof(_th), &_th);
	if (!th || th->syn || th->rst)
		return false;
	seen->tuple.local_port = th->dest;
	seen->tuple.remote_port = th->source;
	seen->acks = th->ack;
	seen->ack = ntohl(th->ack_seq);
	/* a packet that claims more than it has counts as empty, as does one beyond 64 KB */
	headers = offset + th->doff * 4;
	seen->payload = seen->bytes > headers && seen->bytes <= skb->len ?
			seen->bytes - headers : 0;
	seen->end_seq = ntohl(th->seq) + seen->payload;
	return true;
}

/* -- records and stamps ------------------------------------------------------- */

static void nicstamp_count_post(struct nicstamp_port *port, enum nicstamp_verdict verdict)
{
	if (verdict == NICSTAMP_OK)
		nicstamp_port_count(port, STAMPS_STAT_WANTED);
	else if (verdict == NICSTAMP_FULL)
		nicstamp_port_count(port, STAMPS_STAT_FULL);
	else if (verdict == NICSTAMP_NO_SLOT)
		nicstamp_port_count(port, STAMPS_STAT_NO_SLOT);
	else if (verdict == NICSTAMP_AGAIN)
		nicstamp_port_count(port, STAMPS_STAT_RETRANSMITTED);
}

/* RCU read side, as all below. Makes a record of @skb. NICSTAMP_UNKNOWN: no consumer follows it. */
enum nicstamp_verdict nicstamp_post(struct nicstamp_port *port, const struct sk_buff *skb,
				    bool slot)
{
	enum nicstamp_verdict verdict;
	struct nicstamp_flow *flow;
	struct nicstamp_run run;

	flow = nicstamp_sender(skb, &run);
	if (!flow)
		return NICSTAMP_UNKNOWN;
	slot = slot && !(port->info.no_tso && run.seg_bytes);
	spin_lock_bh(&flow->lock);
	verdict = nicstamp_match_post(&flow->match, run.start_seq, run.end_seq, run.seg_bytes,
				      ktime_get_ns(), slot);
	spin_unlock_bh(&flow->lock);
	nicstamp_count_post(port, verdict);
	return verdict;
}

/* Does a consumer want its departure? nicstamp makes no record, and tells when the stamp comes. */
static enum nicstamp_verdict nicstamp_want_departure(const struct nicstamp_port *port,
						     const struct sk_buff *skb, bool slot)
{
	struct nicstamp_run run;

	if (!nicstamp_departs(skb, &run) || !nicstamp_depart_wanted(skb->sk, run.data_end_seq))
		return NICSTAMP_UNKNOWN;
	return slot && !(port->info.no_tso && run.seg_bytes) ? NICSTAMP_OK : NICSTAMP_NO_SLOT;
}

/* Does a consumer want the stamp of @skb?  Counts a packet without a slot once. */
bool nicstamp_ask(struct nicstamp_port *port, const struct sk_buff *skb, bool slot)
{
	enum nicstamp_verdict posted = nicstamp_post(port, skb, slot);
	enum nicstamp_verdict departs;

	if (posted == NICSTAMP_OK)
		return true;
	departs = nicstamp_want_departure(port, skb, slot);
	if (departs != posted)
		nicstamp_count_post(port, departs);
	return departs == NICSTAMP_OK;
}

/* True if a consumer wanted it. */
static bool nicstamp_tell_departure(struct nicstamp_port *port, const struct sk_buff *skb,
				    const struct nicstamp_stamp *stamp)
{
	struct nicstamp_run run;
	u32 tx_seq;

	/* a consumer takes the host's own times itself */
	if (port->host || !nicstamp_departs(skb, &run))
		return false;
	tx_seq = port->info.tx_first ? run.start_seq : run.data_end_seq;
	return nicstamp_depart_sent(skb->sk, run.data_end_seq, tx_seq, stamp);
}

/* From @post_ns to the stamp; the error is U32_MAX when that is not known. */
static u32 nicstamp_wait(const struct nicstamp_stamp *stamp, u64 post_ns, u32 *error_ns)
{
	u64 wait_ns = stamp->sys_ns > post_ns ? stamp->sys_ns - post_ns : 0;

	*error_ns = U32_MAX;
	if (stamp->error_ns >= U32_MAX || wait_ns > U32_MAX)
		return 0;
	*error_ns = stamp->error_ns;
	return wait_ns;
}

/* The hardware, or the host, stamped @skb with @raw. */
void nicstamp_sent(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw)
{
	enum nicstamp_verdict verdict = NICSTAMP_UNKNOWN;
	struct nicstamp_stamp stamp;
	struct nicstamp_flow *flow;
	struct nicstamp_run run;
	u32 wait_ns, error_ns;
	bool departed;

	nicstamp_port_stamp(port, raw, &stamp);
	departed = nicstamp_tell_departure(port, skb, &stamp);
	flow = nicstamp_sender(skb, &run);
	if (flow) {
		spin_lock_bh(&flow->lock);
		wait_ns = nicstamp_wait(&stamp, nicstamp_match_posted(&flow->match, run.end_seq),
					&error_ns);
		verdict = nicstamp_match_sent(&flow->match, run.end_seq, stamp.ns, stamp.clock,
					      wait_ns, error_ns);
		spin_unlock_bh(&flow->lock);
	}
	nicstamp_port_count(port, verdict == NICSTAMP_OK || departed ? STAMPS_STAT_TX :
								       STAMPS_STAT_TX_UNKNOWN);
}

static void nicstamp_acked(struct nicstamp_port *port, struct nicstamp_flow *flow, u32 ack,
			   const struct nicstamp_stamp *stamp)
{
	enum nicstamp_verdict verdict;

	spin_lock_bh(&flow->lock);
	/* on a driver's own port both stamps are of one clock */
	verdict = nicstamp_match_acked(&flow->match, ack, stamp->ns, stamp->clock,
				       port->host && stamp->by_nic ? stamp->error_ns : 0,
				       ktime_get_ns());
	flow->step_ns = port->info.step_ns;
	flow->tx_first = port->info.tx_first;
	flow->host = port->host;
	spin_unlock_bh(&flow->lock);
	if (verdict == NICSTAMP_OK)
		nicstamp_port_count(port, STAMPS_STAT_RX);
	else if (verdict == NICSTAMP_ABSURD)
		nicstamp_port_count(port, STAMPS_STAT_RX_ABSURD);
}

/* As above, for a received packet. */
void nicstamp_received(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw)
{
	bool follow = nicstamp_follow_is_on(port);
	struct nicstamp_flow *flow = NULL;
	struct nicstamp_stamp stamp;
	struct nicstamp_seen seen;
	bool arrives;

	if (!nicstamp_see(skb, &seen))
		return;
	if (seen.acks && nicstamp_flow_any())
		flow = nicstamp_flow_of_tuple(&seen.tuple);
	/* a consumer takes the host's own times itself */
	arrives = seen.payload && (follow || !port->host) && nicstamp_arrive_any();
	if (!flow && !arrives)
		return;
	nicstamp_port_stamp(port, raw, &stamp);
	if (follow)
		nicstamp_follow_improve(port, skb, raw, &stamp);
	if (flow)
		nicstamp_acked(port, flow, seen.ack, &stamp);
	if (arrives && stamp.by_nic)
		nicstamp_arrive_enter(&seen.tuple, seen.end_seq, &stamp);
}
