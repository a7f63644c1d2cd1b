/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection, for TLT (TLT21): tlt_flow.c finds it and forgets it.
 */
#ifndef TLT_FLOW_H
#define TLT_FLOW_H

#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/tcp.h>

#include "tlt_net.h"
#include "tlt_select.h"

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

#endif /* TLT_FLOW_H */
