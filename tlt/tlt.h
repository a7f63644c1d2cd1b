/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of tlt.ko (TLT21) share.  A file calls only those before it in Kbuild.
 * A packet's way: tlt_hook.c (netfilter calls it), tlt_packet.c (what is it), tlt_config.c (is
 * it TLT's), tlt_out.c or tlt_in.c (what does it mean: tlt_select.h), tlt_deferred.c (what TCP
 * left undone).
 */
#ifndef TLT_H
#define TLT_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "tlt_config.h"
#include "tlt_packet.h"
#include "tlt_select.h"

struct tlt_stats {
	u64 count[TLT_STATS];
};

/* State of a network namespace. */
struct tlt_net {
	struct tlt_config __rcu *config;	/* NULL: off; written under mutex */
	struct tlt_stats __percpu *stats;
	struct rhashtable flows;		/* by the socket's address */
	struct delayed_work reaper;		/* forgets silent flows */
	atomic_t deferred;			/* number of queued flows */
	struct mutex mutex;			/* guards hooks and config */
	bool hooked;				/* under mutex */
	struct nf_hook_ops hooks[4];		/* of both families; constant while hooked */
	struct net *net;
};

/* Packets of one kind that left; a burst counts as the packets that it becomes. */
struct tlt_sent {
	u64 packets;
	u64 bytes;			/* of IP */
};

/*
 * A TCP connection's state.  It holds no socket.  The reaper forgets it after a while without
 * a packet, if its connection is gone or flows are many.
 */
struct tlt_flow {
	/* read mostly */
	struct rhash_head node;
	const struct sock *key;		/* the socket's address; another socket may get it */
	u32 hash;			/* sk_hash and */
	u32 ports;			/* sk_portpair show that */
	struct tlt_net *tn;

	/* read and written with each packet, under the lock */
	spinlock_t lock;		/* taken with bottom halves off */
	struct tlt_sender sender;
	struct tlt_receiver receiver;
	u8 retransmits;			/* icsk_retransmits when last seen */
	u8 clocks;			/* injected packets not answered yet */
	bool ending;			/* a FIN or RST came by */
	u32 used;			/* tcp_jiffies32 of the last packet; lockless */
	u32 stat_echoes;
	u32 stat_echoes_dropped;
	u32 stat_clocks_dropped;
	u32 stat_rtos;
	u32 stat_injected_byte;
	u32 stat_injected_segment;
	u64 stat_injected_bytes;

	/*
	 * Written by the sender under the socket's lock.  Packets out of a queue to user space
	 * (NF_QUEUE) come without it, and a count may then be lost.  Received packets touch none of
	 * these lines.  The last two kinds are the most frequent, and share a line with @injecting.
	 */
	struct tlt_sent sent[TLT_KINDS] ____cacheline_aligned_in_smp;
	const void *injecting;		/* TLT's own packet while it leaves; lockless */
	u32 stat_refused;
	u32 stat_cuts;
	u64 stat_cut_bytes;

	/* seldom used */
	struct tlt_effort effort;	/* under the lock */
	u32 asked;			/* tcp_jiffies32 of the reaper's last look for its socket */
	struct in6_addr local;		/* for the dump; IPv4: the first word */
	struct in6_addr remote;
	__be16 local_port;
	__be16 remote_port;
	u8 family;
	unsigned long state;		/* TLT_FLOW_QUEUED: atomic */
	struct sock *sk;		/* held while queued */
	struct llist_node deferred;	/* while queued */
	struct work_struct work;	/* while queued, if a process uses the socket */
	refcount_t refs;		/* of the table, and one while queued */
	struct rcu_head rcu;
};

#define TLT_FLOW_QUEUED 0

extern unsigned int tlt_net_id;
extern struct genl_family tlt_genl_family;

static inline struct tlt_net *tlt_net(const struct net *net)
{
	return net_generic(net, tlt_net_id);
}

static inline void tlt_count(const struct tlt_net *tn, int stat)
{
	this_cpu_inc(tn->stats->count[stat]);
}

static inline void tlt_count_add(const struct tlt_net *tn, int stat, u64 value)
{
	this_cpu_add(tn->stats->count[stat], value);
}

/* Each packet of a burst has headers.  @flow: NULL for a packet without a flow. */
static inline void tlt_count_sent(const struct tlt_net *tn, struct tlt_flow *flow,
				  enum tlt_kind kind, u32 segments, u32 bytes, u32 header_bytes)
{
	bytes += (segments - 1) * header_bytes;
	tlt_count_add(tn, TLT_STAT_PACKETS + kind, segments);
	tlt_count_add(tn, TLT_STAT_BYTES + kind, bytes);
	if (!flow)
		return;
	flow->sent[kind].packets += segments;
	flow->sent[kind].bytes += bytes;
}

int tlt_packet_mark(struct sk_buff *skb, const struct tlt_packet *p, u8 dscp);
struct sock *tlt_packet_lookup(struct net *net, struct sk_buff *skb, const struct tlt_packet *p,
			       int ifindex, int port);

int tlt_attach(struct net *net, struct tlt_config *config);
void tlt_detach(struct net *net);

int tlt_flow_net_init(struct tlt_net *tn);
void tlt_flow_net_exit(struct tlt_net *tn);
void tlt_flow_start_reaper(struct tlt_net *tn);
struct tlt_flow *tlt_flow_get(struct tlt_net *tn, const struct sock *sk);
void tlt_flow_put(struct tlt_flow *flow);

static inline void tlt_flow_lock(struct tlt_flow *flow)
{
	spin_lock_bh(&flow->lock);
}

static inline void tlt_flow_unlock(struct tlt_flow *flow)
{
	tlt_sender_settle(&flow->sender);
	spin_unlock_bh(&flow->lock);
}

static inline void tlt_flow_touch(struct tlt_flow *flow)
{
	u32 now = tcp_jiffies32;

	if (READ_ONCE(flow->used) != now)
		WRITE_ONCE(flow->used, now);
}

int tlt_stat_init(struct tlt_net *tn);
void tlt_stat_exit(struct tlt_net *tn);
u64 tlt_stat_sum(const struct tlt_net *tn, int stat);

bool tlt_cut_tail(struct sk_buff *skb, const struct tlt_packet *p, struct tlt_flow *flow,
		  struct sk_buff **tail);

/*
 * Was the data from @start to @end delivered, by an ACK of @ack and by the SACK blocks of the
 * last ACK, which TCP remembers?
 */
static inline bool tlt_tcp_has_news_of(const struct tcp_sock *tp, u32 start, u32 end, u32 ack)
{
	unsigned int i;

	if (!after(end, ack))
		return true;
	for (i = 0; i < ARRAY_SIZE(tp->recv_sack_cache); i++) {
		if (!before(start, tp->recv_sack_cache[i].start_seq) &&
		    !after(end, tp->recv_sack_cache[i].end_seq))
			return true;
	}
	return false;
}

void tlt_inject(struct tlt_flow *flow, struct sock *sk, const struct tlt_config *config);
void tlt_inject_answered(struct sock *sk);

/* States in which an ACK makes sense, so that TLT answers important data. */
#define TLT_ANSWER_STATES	(TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2 | \
				 TCPF_CLOSE_WAIT | TCPF_CLOSING | TCPF_LAST_ACK)

void tlt_defer(struct tlt_flow *flow, struct sock *sk);
void tlt_deferred_wait(const struct tlt_net *tn);
int tlt_deferred_init(void);
void tlt_deferred_exit(void);

/* What tlt_sender_waits() needs.  Takes no lock, changes nothing. */
static inline void tlt_out_look(const struct tlt_flow *flow, const struct sock *sk,
				const struct tcphdr *th, struct tlt_burst *b)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	*b = (struct tlt_burst){
		.now_ns = tp->tcp_wstamp_ns,
		.snd_una = tp->snd_una,
		.again = before(ntohl(th->seq), tp->snd_nxt),
		.timeout = inet_csk(sk)->icsk_retransmits != READ_ONCE(flow->retransmits),
	};
}

struct sk_buff *tlt_out(struct tlt_net *tn, struct sk_buff *skb, const struct tlt_config *config,
			const struct tlt_packet *p);
unsigned int tlt_in(struct tlt_net *tn, const struct sk_buff *skb, struct sock *sk,
		    const struct tlt_config *config, const struct tlt_packet *p);

int tlt_hook_add(struct tlt_net *tn);
void tlt_hook_remove(struct tlt_net *tn);

int tlt_genl_init(void);
void tlt_genl_exit(void);

/*
 * Does the congestion control take no loss for congestion, as all of BBR's name?  It keeps the
 * queue so long that switches drop plain packets, and most of many such flows into one port
 * would starve.  TLT does not mark their data, so no switch drops it before that of others.
 */
static inline bool tlt_leaves(const struct sock *sk)
{
	return !strncmp(inet_csk(sk)->icsk_ca_ops->name, "bbr", 3);
}

#endif /* TLT_H */
