// SPDX-License-Identifier: GPL-2.0
/*
 * What drivers call for a packet. Packets that arrive are not trusted: what they say
 * is only looked up, and an ACK of what was not sent is counted and forgotten.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "nicstamp_internal.h"

struct static_key_false nicstamp_listened = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(nicstamp_listened);

/* -- what a packet says ------------------------------------------------------ */

/* Data in a packet: from start to before end. */
struct nicstamp_run {
	u32 start_seq;
	u32 end_seq;
	u16 seg_bytes;		/* 0: a single segment */
};

/* Is what follows its network header TCP itself, and not a tunnel's or IPsec's? */
static bool nicstamp_is_plain_tcp(const struct sk_buff *skb)
{
	if (skb->encapsulation || !skb_transport_header_was_set(skb))
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return ip_hdr(skb)->protocol == IPPROTO_TCP;
	return skb->protocol == htons(ETH_P_IPV6) && ipv6_hdr(skb)->nexthdr == IPPROTO_TCP;
}

/* The data of a packet that @flow sends. */
static bool nicstamp_run_read(const struct sk_buff *skb, const struct nicstamp_flow *flow,
			      struct nicstamp_run *run)
{
	int offset = skb_transport_offset(skb);
	struct tcphdr _th;
	const struct tcphdr *th;
	u32 headers;

	th = skb_header_pointer(skb, offset, sizeof(_th), &_th);
	if (!th || th->syn || th->source != flow->tuple.local_port ||
	    th->dest != flow->tuple.remote_port)
		return false;
	headers = offset + th->doff * 4;
	if (skb->len < headers)
		return false;
	run->start_seq = ntohl(th->seq);
	run->end_seq = run->start_seq + skb->len - headers + th->fin;
	run->seg_bytes = skb_shinfo(skb)->gso_size;
	return true;
}

/* The flow that sends @skb, and the data of it; NULL when nobody follows it. */
static struct nicstamp_flow *nicstamp_sender(const struct sk_buff *skb, struct nicstamp_run *run)
{
	const struct sock *sk = skb->sk;
	struct nicstamp_flow *flow;

	if (!sk || !sk_fullsock(sk) || !nicstamp_flow_any() || !nicstamp_is_plain_tcp(skb))
		return NULL;
	flow = nicstamp_flow_of_socket(sk);
	return flow && nicstamp_run_read(skb, flow, run) ? flow : NULL;
}

static int nicstamp_read_ipv4(const struct sk_buff *skb, struct nicstamp_tuple *tuple)
{
	struct iphdr _ip;
	const struct iphdr *ip = skb_header_pointer(skb, 0, sizeof(_ip), &_ip);

	if (!ip || ip->ihl < 5 || ip->protocol != IPPROTO_TCP || ip_is_fragment(ip))
		return -1;
	ipv6_addr_set_v4mapped(ip->daddr, &tuple->local);
	ipv6_addr_set_v4mapped(ip->saddr, &tuple->remote);
	return ip->ihl * 4;
}

static int nicstamp_read_ipv6(const struct sk_buff *skb, struct nicstamp_tuple *tuple)
{
	struct ipv6hdr _ip;
	const struct ipv6hdr *ip = skb_header_pointer(skb, 0, sizeof(_ip), &_ip);

	if (!ip || ip->nexthdr != IPPROTO_TCP)
		return -1;
	tuple->local = ip->daddr;
	tuple->remote = ip->saddr;
	return sizeof(*ip);
}

/* The flow that a packet acks, and up to where; data begin at the network header. */
static struct nicstamp_flow *nicstamp_acked(const struct sk_buff *skb, u32 *ack)
{
	struct nicstamp_tuple tuple;
	struct tcphdr _th;
	const struct tcphdr *th;
	int offset = -1;

	if (skb->protocol == htons(ETH_P_IP))
		offset = nicstamp_read_ipv4(skb, &tuple);
	else if (skb->protocol == htons(ETH_P_IPV6))
		offset = nicstamp_read_ipv6(skb, &tuple);
	if (offset < 0)
		return NULL;
	th = skb_header_pointer(skb, offset, sizeof(_th), &_th);
	if (!th || !th->ack || th->syn || th->rst)
		return NULL;
	tuple.local_port = th->dest;
	tuple.remote_port = th->source;
	*ack = ntohl(th->ack_seq);
	return nicstamp_flow_of_tuple(&tuple);
}

/* -- what is made of it ------------------------------------------------------- */

/*
 * Locks here are taken with bottom halves off. Netpoll sends and completes packets with
 * interrupts off, maybe those of somebody who holds such a lock: it does without.
 */
static bool nicstamp_may_lock(void)
{
	return !irqs_disabled();
}

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

/* RCU read side, as all below: a record is made of @skb. */
static bool nicstamp_post(struct nicstamp_port *port, const struct sk_buff *skb, bool slot)
{
	enum nicstamp_verdict verdict;
	struct nicstamp_flow *flow;
	struct nicstamp_run run;

	flow = nicstamp_sender(skb, &run);
	if (!flow)
		return false;
	slot = slot && !(port->info.no_tso && run.seg_bytes);
	spin_lock_bh(&flow->lock);
	verdict = nicstamp_match_post(&flow->match, run.start_seq, run.end_seq, run.seg_bytes,
				      ktime_get_ns(), slot);
	spin_unlock_bh(&flow->lock);
	nicstamp_count_post(port, verdict);
	return verdict == NICSTAMP_OK;
}

/* From @post_ns to the stamp; the error is U32_MAX when that cannot be told. */
static u32 nicstamp_wait(const struct nicstamp_stamp *stamp, u64 post_ns, u32 *error_ns)
{
	u64 wait_ns = stamp->sys_ns > post_ns ? stamp->sys_ns - post_ns : 0;

	*error_ns = U32_MAX;
	if (stamp->error_ns >= U32_MAX || wait_ns > U32_MAX)
		return 0;
	*error_ns = stamp->error_ns;
	return wait_ns;
}

static void nicstamp_sent(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw)
{
	enum nicstamp_verdict verdict = NICSTAMP_UNKNOWN;
	struct nicstamp_stamp stamp;
	struct nicstamp_flow *flow;
	struct nicstamp_run run;
	u32 wait_ns, error_ns;

	nicstamp_port_stamp(port, raw, &stamp);
	flow = nicstamp_sender(skb, &run);
	if (flow) {
		spin_lock_bh(&flow->lock);
		wait_ns = nicstamp_wait(&stamp, nicstamp_match_posted(&flow->match, run.end_seq),
					&error_ns);
		verdict = nicstamp_match_sent(&flow->match, run.end_seq, stamp.ns, stamp.clock,
					      wait_ns, error_ns);
		spin_unlock_bh(&flow->lock);
	}
	nicstamp_port_count(port, verdict == NICSTAMP_OK ? STAMPS_STAT_TX :
							   STAMPS_STAT_TX_UNKNOWN);
}

static void nicstamp_received(struct nicstamp_port *port, const struct sk_buff *skb, u64 raw)
{
	enum nicstamp_verdict verdict;
	struct nicstamp_stamp stamp;
	struct nicstamp_flow *flow;
	u32 ack;

	flow = nicstamp_acked(skb, &ack);
	if (!flow)
		return;
	nicstamp_port_stamp(port, raw, &stamp);
	spin_lock_bh(&flow->lock);
	verdict = nicstamp_match_acked(&flow->match, ack, stamp.ns, stamp.clock, ktime_get_ns());
	flow->step_ns = port->info.step_ns;
	flow->tx_first = port->info.tx_first;
	flow->host = port->host;
	spin_unlock_bh(&flow->lock);
	if (verdict == NICSTAMP_OK)
		nicstamp_port_count(port, STAMPS_STAT_RX);
	else if (verdict == NICSTAMP_ABSURD)
		nicstamp_port_count(port, STAMPS_STAT_RX_ABSURD);
}

/* -- the calls ------------------------------------------------------------------ */

bool __nicstamp_tx_wanted(struct nicstamp_port __rcu **portp, const struct sk_buff *skb,
			  bool slot)
{
	struct nicstamp_port *port;
	bool wanted = false;

	if (!nicstamp_may_lock())
		return false;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port)
		wanted = nicstamp_post(port, skb, slot || port->host);
	if (wanted && port->host) {
		nicstamp_sent(port, skb, ktime_get_ns());
		wanted = false;
	}
	rcu_read_unlock();
	return wanted;
}
EXPORT_SYMBOL_GPL(__nicstamp_tx_wanted);

void __nicstamp_tx(struct nicstamp_port __rcu **portp, const struct sk_buff *skb, u64 raw)
{
	struct nicstamp_port *port;

	if (!nicstamp_may_lock())
		return;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port && !port->host)
		nicstamp_sent(port, skb, raw);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nicstamp_tx);

void __nicstamp_rx(struct nicstamp_port __rcu **portp, const struct sk_buff *skb, u64 raw)
{
	struct nicstamp_port *port;

	if (!nicstamp_flow_any() || !nicstamp_may_lock())
		return;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port && !port->host)
		nicstamp_received(port, skb, raw);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nicstamp_rx);

void __nicstamp_rx_skb(struct nicstamp_port __rcu **portp, struct sk_buff *skb)
{
	ktime_t stamp = skb_hwtstamps(skb)->hwtstamp;
	struct nicstamp_port *port;

	if (!nicstamp_flow_any() || !nicstamp_may_lock())
		return;
	rcu_read_lock();
	port = rcu_dereference(*portp);
	if (port && port->host)
		nicstamp_received(port, skb, ktime_get_ns());
	else if (port && stamp)
		nicstamp_received(port, skb, ktime_to_ns(stamp));
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nicstamp_rx_skb);
