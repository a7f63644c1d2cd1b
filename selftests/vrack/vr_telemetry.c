// SPDX-License-Identifier: GPL-2.0
/*
 * In-band telemetry by a side channel: what switches write into packets is with the sender when the
 * ACK is, as if the receiver had echoed it.  vrack_telemetry.ko.
 *
 *      host ---> switch ---> switch ---> host
 *                  |  left()   |           |  arrived()
 *                  v           v           v
 *                under[the frame]  --->  marks[the end of its data]  ---> the sender, by what is acked
 *
 * Packets stay as they are.  Two tables have the marks, and where two meet the newer stays.  A sample
 * whose marks are gone is not known.
 */
#include <linux/hash.h>
#include <linux/if_ether.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "vr.h"
#include "vr_tcp.h"
#include "vr_telemetry.h"

#define MARK_BITS	16	/* 320 hosts with 50 packets each on their way */

/* Of a frame under way, or of data that arrived. */
struct mark {
	u64 name;		/* 0: none */
	struct vr_telemetry said;
};

static struct mark *under;	/* the name is the frame's address */
static struct mark *marks;	/* vr_tcp.h's names */
static DEFINE_SPINLOCK(lock);	/* of both; bottom halves off */

static struct mark *place(struct mark *table, u64 name)
{
	return &table[hash_64(name, MARK_BITS)];
}

static void write_on(const struct vr_frame *frame, const struct vr_port *port, u64 now_ps)
{
	u64 name = (uintptr_t)frame;
	struct mark *mark = place(under, name);

	spin_lock_bh(&lock);
	/* what its address had said before was of another frame */
	if (vr_frame_is_from_host(frame, port))
		*mark = (struct mark){ .name = name };
	if (mark->name == name && mark->said.hops < VR_TELEMETRY_HOPS)
		mark->said.hop[mark->said.hops++] = (struct vr_hop_said){
			.at_ns = div_u64(now_ps, VR_PS_PER_NS),
			.sent_bytes = port->telemetry_bytes,
			.queue_bytes = port->waiting_bytes,
			.mbps = div_u64(port->rate_bps, 1000000),
		};
	spin_unlock_bh(&lock);
}

static void left(const struct vr_frame *frame, struct vr_port *port, u64 now_ps)
{
	if (frame->cb.flags & VR_F_PAYLOAD)
		write_on(frame, port, now_ps);
	port->telemetry_bytes += frame->cb.wire_bytes;
}

static void arrived(const struct vr_frame *frame, struct sk_buff *skb)
{
	u64 was = (uintptr_t)frame, name;
	struct mark *mark = place(under, was);
	struct vr_tcp_ends ends;
	const struct tcphdr *th;
	struct tcphdr room;

	th = vr_tcp_read(skb, ETH_HLEN, &room, &ends);
	if (!th || th->syn)
		return;
	name = vr_tcp_name_of_all(skb, &ends, th);
	spin_lock_bh(&lock);
	if (name && mark->name == was)
		*place(marks, name) = (struct mark){ .name = name, .said = mark->said };
	spin_unlock_bh(&lock);
}

bool vr_telemetry_of(const struct sock *sk, u32 una, struct vr_telemetry *t)
{
	u64 name = vr_tcp_name_of_socket(sk, una);
	const struct mark *mark = place(marks, name);
	bool known;

	spin_lock_bh(&lock);
	known = mark->name == name;
	if (known)
		*t = mark->said;
	spin_unlock_bh(&lock);
	return known;
}
EXPORT_SYMBOL_GPL(vr_telemetry_of);

static const struct vr_telemetry_ops ops = { .left = left, .arrived = arrived };

static int __init telemetry_load(void)
{
	int err = -ENOMEM;

	under = kvcalloc(1 << MARK_BITS, sizeof(*under), GFP_KERNEL);
	marks = kvcalloc(1 << MARK_BITS, sizeof(*marks), GFP_KERNEL);
	if (under && marks)
		err = vr_telemetry_register(&ops);
	if (err) {
		kvfree(under);
		kvfree(marks);
	}
	return err;
}

static void __exit telemetry_unload(void)
{
	vr_telemetry_register(NULL);
	kvfree(under);
	kvfree(marks);
}

module_init(telemetry_load);
module_exit(telemetry_unload);

MODULE_DESCRIPTION("In-band telemetry, for the virtual rack");
MODULE_LICENSE("GPL");
