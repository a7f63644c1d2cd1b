// SPDX-License-Identifier: GPL-2.0
/*
 * The acker: it makes receipts (OR-ACKs of ONRAMP21, section 3.1) for data from hosts that asked.
 *
 *   data --> slot of this processor, by the pair of hosts --> batch (orack_batch.h)
 *                                                              | full, or its time is over
 *                                                              v
 *                                                            receipt
 *
 * Batches are of fixed number and size.  Each namespace has its own on each processor, and cuts
 * no other's short; two pairs of one do if they meet in a slot.
 */
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/percpu.h>
#include <net/inet_hashtables.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "compat/compat.h"
#include "orack_acker.h"
#include "orack_sparse.h"
#include "orack_hearing.h"
#include "orack_nic.h"
#include "orack_pair.h"
#include "orack_xmit.h"
#include "sch_onramp/onramp_net.h"
#include "sch_onramp/onramp_packet.h"

/* More slots than peers that send to one processor within 50 us.  30 KB for a namespace and
 * processor, of the 32 that per-cpu memory gives at once.
 */
#define ORACK_SLOTS_LOG		6
#define ORACK_SLOTS		(1 << ORACK_SLOTS_LOG)

struct orack_slot {
	struct list_head open;		/* in orack_cpu.open, first due first; empty: free */
	u64 due_ns;			/* it leaves then */
	u64 closed_ns;			/* when the batch before left, */
	u32 wait_ns;			/* and how long that could wait */
	u64 spared_ns;			/* when data too little for a batch came */
	u32 all_requests;			/* onramp_net's, when terms were asked for */
	struct orack_sparse sparse;	/* since the last one, where sparse ones are enough */
	struct orack_pair pair;
	struct orack_terms terms;
	struct orack_seen seen;		/* since the batch began */
	u8 tos;
	struct orack_batch batch;
};

/* A namespace's state on a processor, which works on it with bottom halves off.  The lock is for
 * a timer whose processor went offline: it runs on another, and looks at open batches alone.
 */
struct orack_cpu {
	struct onramp_net *on;		/* constant */
	u32 arrived;			/* bytes that onramp_net's counter has not */
	struct orack_packet packet;	/* about to be sent by this processor; not on its stack */
	spinlock_t lock;		/* guards the next three, and slots with a batch */
	u64 armed_ns;			/* when the timer looks; 0: it does not */
	struct hrtimer timer;
	struct list_head open;
	struct orack_slot slot[ORACK_SLOTS];
};

/* When data came, by CLOCK_MONOTONIC. */
struct orack_stamp {
	u64 rx_ns;
	u64 now_ns;			/* when the acker looks at it */
	bool nic;			/* the NIC says so; else the host */
};

/* -- receipts ----------------------------------------------------------------------------- */

/* Closes a batch: frees the slot, and writes its receipt to *p.  cpu->lock is held. */
static void orack_slot_take(struct orack_cpu *cpu, struct orack_slot *slot, struct orack_packet *p)
{
	struct orack_batch *b = &slot->batch;
	struct orack_header h = {
		.kind = ORACK_RECEIPT, .count = b->count, .sparse = slot->terms.sparse,
		.clock = orack_own_clock,
	};
	u64 now_ns = ktime_get_ns();

	h.time_ns = orack_own_time(now_ns);
	if (slot->terms.nic) {
		h.clock |= ORACK_CLOCK_NIC;
		orack_count(cpu->on, ONRAMP_STAT_RECEIPTS_NIC);
	}
	slot->closed_ns = now_ns;
	list_del_init(&slot->open);
	orack_count_add(cpu->on, ONRAMP_STAT_RECEIPTS_DATA, b->bytes + slot->sparse.bytes);
	orack_sparse_begin(&slot->sparse, atomic_read(&cpu->on->hearing.arrived));
	orack_batch_close(b, now_ns);
	p->maced.from = slot->pair.local;
	p->maced.to = slot->pair.remote;
	p->oif = slot->terms.oif;
	p->tos = slot->tos;
	p->bytes = orack_encode(p->maced.data, &h, b->entry);
}

static void orack_acker_send(struct onramp_net *on, struct orack_packet *p)
{
	u32 headers = sizeof(struct udphdr) + (ipv6_addr_v4mapped(&p->maced.to) ?
					       sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	u32 flows = (p->bytes - ORACK_HEADER_BYTES) / ORACK_ENTRY_BYTES;

	if (orack_send(on, p))
		return;
	orack_count(on, ONRAMP_STAT_RECEIPTS_SENT);
	orack_count_add(on, ONRAMP_STAT_RECEIPTS_FLOWS, flows);
	orack_count_add(on, ONRAMP_STAT_RECEIPTS_BYTES, p->bytes + headers);
}

/* Sets the timer for the first batch that is due.  cpu->lock is held. */
static void orack_cpu_arm(struct orack_cpu *cpu)
{
	struct orack_slot *slot = list_first_entry_or_null(&cpu->open, struct orack_slot, open);

	if (!slot || (cpu->armed_ns && cpu->armed_ns <= slot->due_ns))
		return;
	cpu->armed_ns = slot->due_ns;
	hrtimer_start(&cpu->timer, ns_to_ktime(slot->due_ns), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* True: *p is the receipt of a batch that was due.  Else sets the timer for the next. */
static bool orack_cpu_due(struct orack_cpu *cpu, struct orack_packet *p)
{
	struct orack_slot *slot;
	bool due;

	spin_lock(&cpu->lock);
	cpu->armed_ns = 0;
	slot = list_first_entry_or_null(&cpu->open, struct orack_slot, open);
	due = slot && slot->due_ns <= ktime_get_ns();
	if (due)
		orack_slot_take(cpu, slot, p);
	else
		orack_cpu_arm(cpu);
	spin_unlock(&cpu->lock);
	return due;
}

/* In a softirq: a receipt may take as long to send as any packet. */
static enum hrtimer_restart orack_acker_timer(struct hrtimer *timer)
{
	struct orack_cpu *cpu = container_of(timer, struct orack_cpu, timer);
	struct orack_packet *p = &this_cpu_ptr(cpu->on->acker)->packet;

	rcu_read_lock();
	while (orack_cpu_due(cpu, p))
		orack_acker_send(cpu->on, p);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* -- data ----------------------------------------------------------------------------------- */

/* When the NIC had the packet, or now.  The kernel's own receive stamps do not serve: they are on
 * for the whole host or not at all.  They stay on mirrored packets, and fq takes them for a
 * departure in decades.
 */
static void orack_stamp(struct orack_stamp *t, const struct onramp_arrival *a)
{
	t->nic = orack_nic_arrival(a, t->now_ns, &t->rx_ns);
	if (!t->nic)
		t->rx_ns = t->now_ns;
}

static struct orack_slot *orack_cpu_slot(struct orack_cpu *cpu, const struct onramp_key *key)
{
	u32 mix = (__force u32)(key->saddr.s6_addr32[3] ^ key->daddr.s6_addr32[1] ^
				key->daddr.s6_addr32[2]);

	mix += hash_32((__force u32)key->daddr.s6_addr32[3], 32);
	return &cpu->slot[hash_32(mix, ORACK_SLOTS_LOG)];
}

static bool orack_slot_is(const struct orack_slot *slot, const struct onramp_key *key)
{
	return ipv6_addr_equal(&slot->pair.remote, &key->daddr) &&
	       ipv6_addr_equal(&slot->pair.local, &key->saddr);
}

/* Most batches are due after all open ones. */
static void orack_cpu_queue(struct orack_cpu *cpu, struct orack_slot *slot)
{
	struct orack_slot *before;

	list_for_each_entry_reverse(before, &cpu->open, open) {
		if (before->due_ns <= slot->due_ns)
			break;
	}
	list_add(&slot->open, &before->open);
	orack_cpu_arm(cpu);
}

static void orack_see(struct orack_seen *seen, const struct orack_stamp *t)
{
	if (t->nic)
		seen->stamped++;
	else
		seen->missed++;
}

/* Times are the NIC's, and it has none for this data: the next data will tell. */
static bool orack_slot_misses(struct orack_cpu *cpu, const struct orack_slot *slot, u32 bytes,
			      const struct orack_stamp *t)
{
	if (t->nic || !slot->terms.nic)
		return false;
	orack_count(cpu->on, ONRAMP_STAT_RECEIPTS_UNSTAMPED);
	orack_count_add(cpu->on, ONRAMP_STAT_RECEIPTS_DATA, bytes);
	return true;
}

/* Is the data for a connection of this host?  With early demux the stack has looked already.  A
 * listener is not enough.
 */
static bool orack_is_ours(const struct sk_buff *skb, const struct onramp_arrival *a)
{
	struct sock *sk;

	if (skb->sk && skb->sk->sk_state != TCP_LISTEN)
		return true;
	sk = onramp_packet_socket(&a->key, skb->dev->ifindex);
	if (sk)
		sock_gen_put(sk);
	return sk;
}

/* Counts data of all senders to a connection.  Sparse receipts are enough for a host only while
 * no other sends; a stranger's segments end nothing.  The shared line is written once a frame at
 * most.
 */
static void orack_cpu_count(struct orack_cpu *cpu, const struct sk_buff *skb,
			    const struct onramp_arrival *a)
{
	if (!atomic_read(&cpu->on->hearing.sparse) || !orack_is_ours(skb, a))
		return;
	cpu->arrived += a->payload;
	if (cpu->arrived < ORACK_SPARSE_FRAME_BYTES)
		return;
	atomic_add(cpu->arrived, &cpu->on->hearing.arrived);
	cpu->arrived = 0;
}

/* True: the data gets no receipt, and the acker does not look at its terms. */
static bool orack_slot_spares(struct orack_cpu *cpu, struct orack_slot *slot,
			      const struct onramp_arrival *a, u64 now_ns)
{
	const struct onramp_net *on = cpu->on;

	return slot->terms.sparse && list_empty(&slot->open) &&
	       slot->all_requests == (u32)atomic_read(&on->hearing.all_requests) &&
	       orack_slot_is(slot, &a->key) &&
	       orack_sparse_spares(&slot->sparse, a->payload, atomic_read(&on->hearing.arrived),
				   now_ns - slot->closed_ns, now_ns);
}

/* Gives the slot to another pair; it has no open batch. */
static void orack_slot_become(struct orack_slot *slot, const struct orack_pair *pair)
{
	slot->pair = *pair;
	slot->wait_ns = 0;
	slot->closed_ns = 0;
	slot->spared_ns = 0;
	memset(&slot->sparse, 0, sizeof(slot->sparse));
}

/* What the pair of hosts wants for the data.  The pair takes the slot over with a receipt.  Data
 * too little for one leaves what another pair has there.
 */
static enum orack_wants orack_slot_ask(struct orack_cpu *cpu, struct orack_slot *slot,
				       const struct onramp_arrival *a, const struct orack_stamp *t)
{
	u32 all_requests = atomic_read_acquire(&cpu->on->hearing.all_requests);
	bool same = orack_slot_is(slot, &a->key);
	struct orack_seen seen = { .stamped = 0 };
	enum orack_wants wants;
	struct orack_terms terms;
	struct orack_pair pair;

	if (same)
		seen = slot->seen;
	orack_see(&seen, t);
	orack_pair_of(&pair, &a->key);
	wants = orack_peer_wants(&pair, a->payload, t->now_ns, &seen, &terms);
	if (wants == ORACK_WANTS_NONE || (wants == ORACK_WANTS_MORE && !same))
		return wants;
	if (!same)
		orack_slot_become(slot, &pair);
	if (wants == ORACK_WANTS_MORE)
		slot->spared_ns = t->now_ns;
	memset(&slot->seen, 0, sizeof(slot->seen));
	slot->terms = terms;
	slot->all_requests = all_requests;
	return wants;
}

/* Begins a batch with the data, if it gets a receipt at all. */
static bool orack_slot_begins(struct orack_cpu *cpu, struct orack_slot *slot,
			      const struct onramp_arrival *a, const struct orack_stamp *t)
{
	u64 now_ns = t->now_ns;

	switch (orack_slot_ask(cpu, slot, a, t)) {
	case ORACK_WANTS_NONE:
		return false;
	case ORACK_WANTS_MORE:
		orack_count(cpu->on, ONRAMP_STAT_RECEIPTS_SPARED);
		orack_count_add(cpu->on, ONRAMP_STAT_RECEIPTS_DATA, a->payload);
		return false;
	case ORACK_WANTS_RECEIPT:
		break;
	}
	if (orack_slot_misses(cpu, slot, a->payload, t))
		return false;
	slot->wait_ns = orack_batch_wait_ns(slot->wait_ns, now_ns - slot->closed_ns);
	/* The wait counts from the first data on, with a receipt or not. */
	slot->due_ns = slot->wait_ns +
		       (now_ns - slot->spared_ns < slot->wait_ns ? slot->spared_ns : now_ns);
	orack_batch_begin(&slot->batch);
	return true;
}

/* Adds the data to its batch.  True: *p is a packet to send. */
static bool orack_cpu_add(struct orack_cpu *cpu, struct orack_slot *slot,
			  const struct onramp_arrival *a, const struct orack_stamp *t,
			  struct orack_packet *p)
{
	struct orack_entry e = {
		.sport = ntohs(a->key.dport), .dport = ntohs(a->key.sport),
		.end_seq = a->seq + a->payload,
	};
	bool begins = list_empty(&slot->open);

	if (begins && !orack_slot_begins(cpu, slot, a, t))
		return false;
	if (!begins) {
		orack_see(&slot->seen, t);
		if (orack_slot_misses(cpu, slot, a->payload, t))
			return false;
	}
	slot->tos = a->tos;
	if (orack_batch_add(&slot->batch, &e, a->payload, t->rx_ns,
			    t->now_ns - slot->closed_ns)) {
		orack_slot_take(cpu, slot, p);
		return true;
	}
	/* A packet that GRO merged fills a batch of its own and needs no timer. */
	if (begins)
		orack_cpu_queue(cpu, slot);
	return false;
}

/* Takes data that orack_slot_spares() does not spare. */
static noinline void orack_cpu_take(struct orack_cpu *cpu, struct orack_slot *slot,
				    const struct onramp_arrival *a, u64 now_ns)
{
	struct orack_packet *p = &cpu->packet;
	struct orack_stamp t = { .now_ns = now_ns };
	bool send;

	spin_lock(&cpu->lock);
	/* The batch of another pair goes first. */
	if (unlikely(!list_empty(&slot->open) && !orack_slot_is(slot, &a->key))) {
		orack_slot_take(cpu, slot, p);
		spin_unlock(&cpu->lock);
		orack_acker_send(cpu->on, p);
		spin_lock(&cpu->lock);
	}
	orack_stamp(&t, a);
	send = orack_cpu_add(cpu, slot, a, &t, p);
	spin_unlock(&cpu->lock);
	if (send)
		orack_acker_send(cpu->on, p);
}

/* Takes TCP data for this host; bottom halves are off, under the RCU read lock. */
void orack_acker_arrived(struct onramp_net *on, const struct sk_buff *skb,
			 const struct onramp_arrival *a)
{
	struct orack_cpu *cpu = this_cpu_ptr(on->acker);
	struct orack_slot *slot = orack_cpu_slot(cpu, &a->key);
	u64 now_ns = ktime_get_ns();

	orack_cpu_count(cpu, skb, a);
	if (!orack_slot_spares(cpu, slot, a, now_ns))
		orack_cpu_take(cpu, slot, a, now_ns);
}

/* -- life ------------------------------------------------------------------------------------ */

static void orack_cpu_init(struct onramp_net *on, struct orack_cpu *cpu)
{
	int i;

	cpu->on = on;
	spin_lock_init(&cpu->lock);
	INIT_LIST_HEAD(&cpu->open);
	for (i = 0; i < ORACK_SLOTS; i++)
		INIT_LIST_HEAD(&cpu->slot[i].open);
	tp_hrtimer_setup(&cpu->timer, orack_acker_timer, CLOCK_MONOTONIC,
			 HRTIMER_MODE_ABS_PINNED_SOFT);
}

int orack_acker_open(struct onramp_net *on)
{
	int i;

	BUILD_BUG_ON(sizeof(struct orack_cpu) > PCPU_MIN_UNIT_SIZE);
	on->acker = alloc_percpu_gfp(struct orack_cpu, GFP_KERNEL_ACCOUNT);
	if (!on->acker)
		return -ENOMEM;
	for_each_possible_cpu(i)
		orack_cpu_init(on, per_cpu_ptr(on->acker, i));
	return 0;
}

/* No data arrives for the namespace any more; its batches are dropped. */
void orack_acker_close(struct onramp_net *on)
{
	int i;

	for_each_possible_cpu(i)
		hrtimer_cancel(&per_cpu_ptr(on->acker, i)->timer);
	free_percpu(on->acker);
	on->acker = NULL;
}
