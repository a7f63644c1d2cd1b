/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of clocks (orack_clock.c): of a peer's, and of ours.  Model: ONRAMP21.
 */
#ifndef ORACK_CLOCK_H
#define ORACK_CLOCK_H

#include <linux/in6.h>
#include <linux/rhashtable-types.h>
#include <net/net_namespace.h>

#include "include/uapi/turnpike.h"
#include "orack_wire.h"

struct netlink_ext_ack;
struct orack_clock_offset;
struct onramp_net;
struct orack_peer;

struct orack_offset_key {
	possible_net_t net;		/* to compare */
	struct in6_addr remote;		/* IPv4 is mapped */
};

/* The offset of a peer's clock that a daemon gave: constant, a new one replaces it (RCU). */
struct orack_offset {
	struct rhash_head node;
	struct list_head list;		/* in the namespace's; RTNL writes */
	struct orack_offset_key key;
	u64 serial;			/* counts all offsets ever given */
	u64 real_ns;			/* our CLOCK_REALTIME less CLOCK_MONOTONIC, at that time */
	u64 told_ns;			/* CLOCK_MONOTONIC of that time */
	s64 offset_ns;			/* its CLOCK_REALTIME less ours, at that time */
	s64 drift_q;			/* and how it changes (orack_drift.h) */
	s32 drift_ppt;			/* as it was told, 10^-12 */
	u32 error_ns;
	unsigned long until;		/* jiffies */
	struct rcu_head rcu;
};

/* A peer's report of the clock of its receipts. */
struct orack_clock_report {
	bool known;
	u32 id;				/* whoever stamps */
	u64 made_ns;			/* by that clock */
	u64 came_ns;			/* by ours */
	struct orack_clock_entry is;
	unsigned long until;		/* jiffies */
};

/* Our report of our clock, to a host that wants receipts. */
struct orack_own_report {
	unsigned long sent;		/* jiffies | 1; 0: nothing */
	struct orack_clock_entry is;	/* and what that was */
};

/* The sum of a given offset and a report; a later change of a clock does not change it. */
struct orack_given_offset {
	u64 serial;			/* of the orack_offset; 0: none yet */
	u32 id;				/* of the clock, whoever stamps */
	u64 offset_ns;			/* that clock less CLOCK_MONOTONIC when told, modulo 2^64 */
};

/* In a namespace.  RTNL writes, readers take no lock. */
struct orack_clock_net {
	u32 error_ns;			/* bound of our CLOCK_REALTIME's error; 0: not known */
	unsigned long error_until;	/* jiffies | 1; 0: until the operator takes it back */
	u32 offsets;			/* peers whose clock's offset was given */
	struct list_head offset_list;	/* these; RCU */
};

/* The clock of our receipts: its identity, and its time at @ns of CLOCK_MONOTONIC. */
extern u32 orack_own_clock;
extern u64 orack_own_begin_ns;

static inline u64 orack_own_time(u64 ns)
{
	return ns + orack_own_begin_ns;
}

bool orack_clock_offset_of(const struct onramp_net *on, struct orack_peer *peer, u32 id,
			   u64 now_ns, struct orack_clock_offset *offset);
s64 orack_offset_now_ns(const struct orack_offset *o);
enum onramp_stat orack_clock_reported(struct orack_peer *peer, const struct orack_datagram *d);
void orack_clock_report_again(struct orack_own_report *own);
bool orack_clock_report_is_due(const struct onramp_net *on, struct orack_own_report *own);
void orack_clock_send_report(struct onramp_net *on, const struct orack_peer *peer);
int orack_clock_set(struct onramp_net *on, const struct orack_offset *wanted, u32 seconds,
		    struct netlink_ext_ack *extack);
int orack_clock_clear(struct onramp_net *on, const struct in6_addr *remote,
		      struct netlink_ext_ack *extack);
void orack_clock_discipline(struct onramp_net *on, u32 error_ns, u32 seconds);
u32 orack_clock_error(const struct onramp_net *on);
void orack_clock_open(struct onramp_net *on);
void orack_clock_drop_all(struct onramp_net *on);
int orack_clock_init(void);
void orack_clock_exit(void);

#endif /* ORACK_CLOCK_H */
