// SPDX-License-Identifier: GPL-2.0
/*
 * The rack's side channel for signals of single hops (CS244, section 3.2): what a packet waited in
 * each switch's queue is with the sender when its ACK is, as if the receiver had echoed it.
 *
 *      sender                     receiver
 *         |---- data, q1 ... qk ----->|   there[end of the data]
 *         |<--- ACK, qk+1 ... q2k ----|   back[what it acks]: the same name
 *         |
 *         v   tcp_timely asks for both, by what is acked
 *
 * Packets themselves stay as they are. A table has the marks, by flow and sequence number; where two
 * meet the newer stays, and a sample whose marks are gone is not known. vrack_hops.ko.
 */
#include <linux/hash.h>
#include <linux/if_ether.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "vr.h"
#include "vr_tcp.h"

#define MARK_BITS	18	/* 192 hosts have 5000 on their way, of which 2 % meet */
#define OLD_PS		VR_PS_PER_SEC	/* data that old are of another turn */

struct way {
	u32 sum_ns;
	struct vr_hops hops;
};

struct mark {
	u64 name;
	u64 ps;			/* the data came */
	struct way there;
	struct way back;	/* of the first ACK, */
	bool acked;		/* if that came */
};

static struct mark *marks;
static DEFINE_SPINLOCK(lock);	/* of the marks; bottom halves off */

static struct mark *place(u64 name)
{
	return &marks[hash_64(name, MARK_BITS)];
}

static struct way way_of(const struct vr_cb *cb)
{
	u64 waited_ns = div_u64(cb->waited_ps, VR_PS_PER_NS);

	return (struct way){
		.sum_ns = min_t(u64, vr_hops_sum_ns(waited_ns, cb->ring_units), U32_MAX),
		.hops = cb->hops,
	};
}

static void note_data(u64 name, const struct vr_cb *cb)
{
	*place(name) = (struct mark){ .name = name, .ps = cb->arrive_ps, .there = way_of(cb) };
}

static void note_ack(u64 name, const struct vr_cb *cb)
{
	struct mark *mark = place(name);

	if (mark->name != name || mark->acked || mark->ps + OLD_PS < cb->arrive_ps)
		return;
	mark->back = way_of(cb);
	mark->acked = true;
}

/* For vnic.c: a packet has come to its host. */
static void received(struct sk_buff *skb)
{
	const struct vr_cb *cb = vr_cb(skb);
	struct vr_tcp_ends ends;
	const struct tcphdr *th;
	struct tcphdr room;
	u64 name;

	th = vr_tcp_read(skb, ETH_HLEN, &room, &ends);
	if (!th || th->syn)
		return;
	name = vr_tcp_name_of_all(skb, &ends, th);
	spin_lock_bh(&lock);
	if (name)
		note_data(name, cb);
	if (th->ack)
		note_ack(vr_tcp_name_of_acked(&ends, th), cb);
	spin_unlock_bh(&lock);
}

/* For tcp_timely. */
static bool hops_of(const struct sock *sk, u32 una, struct tp_hops *h)
{
	u64 name = vr_tcp_name_of_socket(sk, una);
	struct tp_hops back;
	struct mark mark;

	spin_lock_bh(&lock);
	mark = *place(name);
	spin_unlock_bh(&lock);
	if (mark.name != name || !mark.acked)
		return false;
	vr_hops_tell(h, &mark.there.hops, mark.there.sum_ns);
	vr_hops_tell(&back, &mark.back.hops, mark.back.sum_ns);
	tp_hops_join(h, &back);
	return true;
}

static int __init hops_load(void)
{
	marks = kvcalloc(1 << MARK_BITS, sizeof(*marks), GFP_KERNEL);
	if (!marks)
		return -ENOMEM;
	vr_hops_register(received);
	timely_set_hops(hops_of);
	return 0;
}

static void __exit hops_unload(void)
{
	timely_set_hops(NULL);
	vr_hops_register(NULL);
	kvfree(marks);
}

module_init(hops_load);
module_exit(hops_unload);

MODULE_DESCRIPTION("Signals of single hops, for the virtual rack");
MODULE_LICENSE("GPL");
