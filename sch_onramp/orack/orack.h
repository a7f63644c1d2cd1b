/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of OR-ACKs share.
 *
 *   data arrives --> onramp_hook.c --> orack_acker.c: batches --> orack_xmit.c ~~ receipt ~~+
 *                                                                                           |
 *   rule, onramp_ctl.c <-- orack_receive.c: is it to be believed? <-- orack_socket.c <------+
 *
 * orack_peer.c has the hosts on the other side: those that want our receipts, since they
 * announced themselves, and those that we announce ourselves to.  orack_clock.c knows what
 * is said of their clocks.
 */
#ifndef ORACK_H
#define ORACK_H

#include <linux/jump_label.h>
#include <linux/netfilter.h>
#include <linux/siphash.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>

#include "include/nicstamp_sample.h"
#include "sch_onramp/onramp.h"
#include "sch_onramp/onramp_absolute.h"
#include "sch_onramp/onramp_clock.h"
#include "sch_onramp/onramp_excess.h"
#include "orack_ask.h"
#include "orack_batch.h"
#include "orack_delay.h"
#include "orack_few.h"
#include "orack_source.h"
#include "orack_turn.h"
#include "orack_wire.h"

/* Two hosts, as the one on this side sees it. */
struct orack_pair {
	possible_net_t net;		/* to compare; followed while the socket is open */
	struct in6_addr local;		/* IPv4 is mapped */
	struct in6_addr remote;
};

/* Where an announcement goes, and which connection the peer finds us by. */
struct orack_contact {
	struct orack_pair pair;
	__be16 sport, dport;
	int oif;			/* for link-local addresses, else 0 */
	bool few;			/* receipts are enough */
};

#define ORACK_KEYS_MAX		2

/* Constant once in place; another takes its place (RCU). */
struct orack_keys {
	u32 count;			/* at least 1 */
	u32 use;			/* index of the one that signs */
	u8 id[ORACK_KEYS_MAX];
	siphash_key_t key[ORACK_KEYS_MAX];
	struct rcu_head rcu;
};

/* Counters of peers by their address: flows to all others need no more than fq does. */
#define ORACK_ACKING_LOG	8
#define ORACK_ACKING		(1 << ORACK_ACKING_LOG)

/* Constant once in place; another takes its place (RCU). */
struct orack_asked {
	struct orack_prefixes of;
	struct rcu_head rcu;
};

struct genl_family;
struct genl_info;
struct netlink_callback;
struct orack_cpu;

/* Of netfilter: one for each family. */
#define ONRAMP_HOOKS		(IS_ENABLED(CONFIG_IPV6) ? 2 : 1)

/* By enum onramp_stat, of a processor. */
struct orack_counts {
	u64 of[ONRAMP_STATS];
};

/* A namespace's. */
struct onramp_net {
	struct net *net;		/* constant */
	unsigned int users;		/* qdiscs that pause; RTNL */
	struct nf_hook_ops hooks[ONRAMP_HOOKS];	/* as long as there are; constant then */
	u16 port;			/* RTNL writes, anybody reads */
	int open_err;			/* why there is no socket; RTNL */
	struct sock __rcu *sk;		/* RTNL writes */
	struct orack_cpu __percpu *acker;	/* as long as there are users */
	struct orack_keys __rcu *keys;	/* NULL: none; RTNL writes */
	struct orack_asked __rcu *asked;	/* who may be; NULL: everybody; RTNL writes */
	atomic_t acking[ORACK_ACKING];	/* peers that send us receipts, by orack_acking() */
	atomic_t hearing;		/* peers that want receipts */
	atomic_t few;			/* of these, those that few are enough for */
	atomic_t recalls;		/* times that one wanted all again */
	atomic_t arrived;		/* bytes of data while there were such, modulo 2^32 */
	/* RTNL writes, anybody reads */
	u32 error_ns;			/* bound of our CLOCK_REALTIME's error; 0: not known */
	unsigned long error_until;	/* jiffies | 1; 0: until it is taken back */
	u32 offsets;			/* peers whose offset was told */
	struct list_head offset_list;	/* these; RTNL writes, RCU */
	atomic_t ctls;			/* control blocks */

	spinlock_t lock;		/* guards the next two; bottom halves off */
	struct list_head peers;
	u32 peer_count;
	bool crowded;			/* one had no place since the worker made some; any order */
	struct llist_head urgent;	/* peers to be asked at once, by the worker below */
	struct work_struct ask;
	struct delayed_work work;	/* announcements to all others, peers that are gone */
	struct work_struct leave;
	struct orack_contact *leaving;	/* to be told that nobody wants receipts; RTNL */
	u32 leaving_count;		/* RTNL */
	struct orack_counts __percpu *counts;	/* since the first user; RTNL writes */
	struct onramp_paths *paths;	/* since the first user; RTNL writes */
};

/* onramp_net.c */
extern unsigned int onramp_net_id;

int onramp_net_count(struct onramp_net *on);

static inline struct onramp_net *onramp_net(const struct net *net)
{
	return net_generic(net, onramp_net_id);
}

/* A host that only receives has none. */
static inline bool onramp_ctl_any(const struct onramp_net *on)
{
	return atomic_read(&on->ctls);
}

static inline void orack_count(struct onramp_net *on, enum onramp_stat stat)
{
	this_cpu_inc(on->counts->of[stat]);
}

static inline void orack_count_more(struct onramp_net *on, enum onramp_stat stat, u64 more)
{
	this_cpu_add(on->counts->of[stat], more);
}

/* -- datagrams (orack_xmit.c) ------------------------------------------------------- */

/* One on its way, with what the MAC is over before it. */
struct orack_packet {
	struct {
		struct in6_addr from;
		struct in6_addr to;
		u8 data[ORACK_BYTES_MAX];
	} maced;
	u32 bytes;			/* of data */
	int oif;			/* for link-local addresses, else 0 */
	u8 tos;
};

int orack_send(struct onramp_net *on, struct orack_packet *p);

/* -- keys (orack_key.c) ------------------------------------------------------------- */

void orack_key_sign(struct onramp_net *on, struct orack_packet *p);
bool orack_key_verify(struct onramp_net *on, const struct orack_packet *p,
		      const struct orack_datagram *d);
int orack_key_add(struct onramp_net *on, u8 id, const u8 *secret, struct netlink_ext_ack *extack);
int orack_key_use(struct onramp_net *on, u8 id, struct netlink_ext_ack *extack);
int orack_key_del(struct onramp_net *on, u8 id, struct netlink_ext_ack *extack);
void orack_key_drop_all(struct onramp_net *on);

#define ORACK_SECRET_BYTES	16

/* -- clocks (orack_clock.c) ------------------------------------------------------------ */

struct orack_offset_key {
	possible_net_t net;		/* to compare */
	struct in6_addr remote;		/* IPv4 is mapped */
};

/* What somebody here said of a peer's clock: constant, another takes its place (RCU). */
struct orack_offset {
	struct rhash_head node;
	struct list_head list;		/* in onramp_net's; RTNL writes */
	struct orack_offset_key key;
	u64 serial;			/* of all that was ever said */
	u64 real_ns;			/* our CLOCK_REALTIME less CLOCK_MONOTONIC, at that time */
	s64 offset_ns;			/* its CLOCK_REALTIME less ours */
	u32 error_ns;
	unsigned long until;		/* jiffies */
	struct rcu_head rcu;
};

/* What a peer said of the clock of its receipts. */
struct orack_told {
	bool known;
	u32 id;				/* whoever stamps */
	u64 made_ns;			/* by that clock */
	u64 came_ns;			/* by ours */
	struct orack_clock_entry is;
	unsigned long until;		/* jiffies */
};

/* What both sayings make together; setting a clock afterwards does not change it. */
struct orack_tie {
	u64 serial;			/* of the orack_offset; 0: none yet */
	u32 id;				/* of the clock, whoever stamps */
	u64 offset_ns;			/* that clock less CLOCK_MONOTONIC, modulo 2^64 */
};

/* The clock of our receipts: who it is, and its time at @ns of CLOCK_MONOTONIC. */
extern u32 orack_own_clock;
extern u64 orack_own_begin_ns;

static inline u64 orack_own_time(u64 ns)
{
	return ns + orack_own_begin_ns;
}

struct orack_peer;

bool orack_clock_apart(const struct onramp_net *on, struct orack_peer *peer, u32 id,
		       struct onramp_apart *apart);
enum onramp_stat orack_clock_told(struct orack_peer *peer, const struct orack_datagram *d);
void orack_clock_say_again(struct orack_peer *peer);
bool orack_clock_is_due(const struct onramp_net *on, struct orack_peer *peer);
void orack_clock_tell(struct onramp_net *on, const struct orack_peer *peer);
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

/* -- peers (orack_peer.c) ------------------------------------------------------------ */

struct orack_peer {
	struct rhash_head node;
	struct orack_pair pair;		/* constant */
	struct list_head list;		/* in on->peers */
	struct llist_node ask;		/* in on->urgent */
	bool urgent;			/* it is there, or the worker has it; lock */
	struct rcu_head rcu;

	/* we send data to it; written with the peer's lock, but for used and ports */
	unsigned long used;		/* jiffies | 1 of the last data, coarse; 0: never */
	__be16 sport, dport;		/* of that data's flow */
	unsigned long announced;	/* jiffies of our last announcement */
	u32 unanswered;			/* announcements since it showed that it has On-Ramp */
	bool answered;			/* it ever sent a receipt */
	unsigned long heard;		/* jiffies of its last receipt that counted */
	bool acks;			/* it sends receipts; lockless readers */
	struct onramp_clock clock;
	struct onramp_absolute absolute;
	struct orack_told told;
	struct orack_tie tie;
	struct onramp_floor rtt;	/* least round trip, without the receipt's wait */
	struct onramp_gap gap;		/* what the clock's base has of standing queue */
	u64 window_ns;			/* start of the millisecond that is counted */
	u32 window_count;
	u64 receipts, samples, refused;
	struct orack_delay delay;
	struct orack_wish wish;
	bool recall;			/* the worker is to tell it now */

	/* it sends data to us */
	unsigned long hears_until;	/* jiffies; lockless readers */
	bool hears;			/* it announced itself; lockless readers */
	bool few;			/* receipts are enough for it; lockless readers */
	u64 announced_ns;		/* by its clock */
	u64 announced_at_ns;		/* by ours */
	u64 calls_ns;			/* start of the hundredth of a second that is counted */
	u32 calls;			/* announcements in it */
	unsigned long clock_sent;	/* jiffies | 1 of what we said of our clock; 0: nothing */
	struct orack_clock_entry clock_is;	/* and what that was */
	int oif;			/* for link-local addresses: its device, else 0 */
	struct orack_thin thin;		/* no lock */
	struct orack_source source;	/* of our times; no lock */

	bool removed;
	spinlock_t lock;		/* bottom halves off; inside that of a flow */
};

/* What is not about data of a flow goes to a pair's far end so. */
static inline void orack_address(const struct orack_pair *pair, int oif, struct orack_packet *p)
{
	p->maced.from = pair->local;
	p->maced.to = pair->remote;
	p->oif = oif;
	p->tos = 0;
}

static inline void orack_peer_address(const struct orack_peer *peer, struct orack_packet *p)
{
	orack_address(&peer->pair, READ_ONCE(peer->oif), p);
}

/* What a batch that begins is made by. */
struct orack_terms {
	int oif;			/* where receipts go out, for link-local addresses, else 0 */
	bool nic;			/* times are the NIC's */
	bool few;			/* it may be long until the next */
};

enum orack_wants {
	ORACK_WANTS_NONE,
	ORACK_WANTS_MORE,		/* data; so little gets no receipt of its own */
	ORACK_WANTS_RECEIPT,
};

/* Long enough that refreshing costs nothing, short enough that a host that lost its qdisc
 * without saying so is left alone soon.
 */
#define ORACK_LIFETIME_MS	10000

struct orack_peer *orack_peer_find(const struct orack_pair *pair);
void orack_peer_note(struct onramp_net *on, const struct onramp_key *key, const struct sock *sk);
int orack_peer_set_asked(struct onramp_net *on, const struct orack_prefixes *of);
void orack_peer_drop_asked(struct onramp_net *on);
void orack_peer_recall(struct onramp_net *on, const struct onramp_key *key, u64 now_ns);
bool orack_peer_acks(const struct onramp_key *key);
bool orack_peer_may_ack(const struct onramp_net *on, const struct sock *sk);
bool orack_peer_hears(const struct orack_pair *pair);
void orack_pair_of(struct orack_pair *pair, const struct onramp_key *key);
enum orack_wants orack_peer_wants(const struct orack_pair *pair, u32 bytes, u64 now_ns,
				  const struct orack_seen *seen, struct orack_terms *terms);
enum onramp_stat orack_peer_announced(struct onramp_net *on, const struct orack_pair *pair,
				      const struct orack_header *h, const struct sock *sk, int oif);
void orack_peer_tell_clock(struct onramp_net *on, const struct orack_pair *pair);
void orack_peer_heard(struct onramp_net *on, struct orack_peer *peer);
void orack_peer_contact(const struct orack_peer *peer, struct orack_contact *to);
bool orack_announce(struct onramp_net *on, const struct orack_contact *to, u32 lifetime_ms);
void orack_peer_ask_again(struct onramp_net *on);
u32 orack_peer_count_acking(struct onramp_net *on);
void orack_peer_open(struct onramp_net *on);
u32 orack_peer_close(struct onramp_net *on, struct orack_contact *acking, u32 most);
int orack_peer_init(void);
void orack_peer_exit(void);

/* -- the last qdisc goes (orack_leave.c) ----------------------------------------------- */

void orack_leave(struct onramp_net *on);
void orack_leave_end(struct onramp_net *on);
void orack_leave_open(struct onramp_net *on);
void orack_leave_wait(struct onramp_net *on);

/* -- what arrives (orack_receive.c) --------------------------------------------------- */

void orack_receive(struct onramp_net *on, struct orack_packet *p);

/* -- the socket (orack_socket.c) --------------------------------------------------------- */

int orack_open(struct onramp_net *on);
void orack_deafen(struct onramp_net *on);
void orack_close(struct onramp_net *on);

/* -- times of the NIC (orack_nic.c) ---------------------------------------------------- */

DECLARE_STATIC_KEY_FALSE(orack_nic_attached);

bool __orack_nic_arrival(const struct onramp_arrival *a, u64 now_ns, u64 *rx_ns);
void orack_nic_hear(bool hears);
extern const struct nicstamp_departures onramp_departures;	/* onramp_departure.c */
int orack_nic_init(void);
void orack_nic_exit(void);

/* True: the NIC had the data at *rx_ns of CLOCK_MONOTONIC. */
static inline bool orack_nic_arrival(const struct onramp_arrival *a, u64 now_ns, u64 *rx_ns)
{
	return static_branch_unlikely(&orack_nic_attached) &&
	       __orack_nic_arrival(a, now_ns, rx_ns);
}

/* -- receipts (orack_acker.c) --------------------------------------------------------- */

void orack_acker_arrived(struct onramp_net *on, const struct sk_buff *skb,
			 const struct onramp_arrival *a);
int orack_acker_open(struct onramp_net *on);
void orack_acker_close(struct onramp_net *on);

/* -- configuration (orack_genl.c) ------------------------------------------------------ */

int orack_genl_clock_set(struct sk_buff *skb, struct genl_info *info);
int orack_genl_clock_clear(struct sk_buff *skb, struct genl_info *info);
int orack_genl_clock_own(struct sk_buff *skb, struct genl_info *info);
int orack_genl_clocks(const struct genl_family *family, struct sk_buff *msg,
		      struct netlink_callback *cb);
int orack_genl_flows_start(struct netlink_callback *cb);
int orack_genl_flows(const struct genl_family *family, struct sk_buff *msg,
		     struct netlink_callback *cb);
int orack_genl_flows_done(struct netlink_callback *cb);
int orack_genl_init(void);
void orack_genl_exit(void);

#endif /* ORACK_H */
