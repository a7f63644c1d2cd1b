/* SPDX-License-Identifier: GPL-2.0 */
/* Flows whose RTT nicstamp takes by stamps (TIMELY15), and their records (nicstamp_flow.c). */
#ifndef NICSTAMP_FLOW_H
#define NICSTAMP_FLOW_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <net/sock.h>

#include "include/nicstamp_sample.h"
#include "nicstamp_match.h"

struct nicstamp_flow {
	/* fixed while in the tables */
	struct hlist_node by_socket;	/* RCU */
	struct hlist_node by_tuple;	/* RCU */
	const struct sock *sk;		/* a name, never dereferenced */
	struct nicstamp_tuple tuple;
	bool other;			/* not of the first namespace */
	/* lock: all below; bottom halves off */
	spinlock_t lock;
	struct nicstamp_match match;
	u32 step_ns;			/* these three: of the port that stamped last; */
	bool tx_first;			/* as in struct nicstamp_info, */
	bool host;			/* as in struct nicstamp_port */
	u32 missed;			/* as in struct nicstamp_sample */
	u64 samples;
	u64 rtt_ns;			/* the newest RTT */
	u32 error_ns;			/* bound of its error */
	bool ack_by_nic;		/* as in struct nicstamp_sample */
	u64 tcp_rtt_ns;			/* TCP's RTT of the same ACK */
	u64 rtt_min_ns;
	struct rcu_head rcu;
};

int nicstamp_flow_init(void);
void nicstamp_flow_exit(void);
struct nicstamp_flow *nicstamp_flow_of_socket(const struct sock *sk);
struct nicstamp_flow *nicstamp_flow_of_tuple(const struct nicstamp_tuple *tuple);
void nicstamp_flow_follow(const struct sock *sk);
void nicstamp_flow_forget(const struct sock *sk);
bool nicstamp_flow_any(void);
u32 nicstamp_flow_buckets(void);
struct hlist_head *nicstamp_flow_bucket(u32 i);

#endif /* NICSTAMP_FLOW_H */
