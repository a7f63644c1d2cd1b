// SPDX-License-Identifier: GPL-2.0
/*
 * Signals of single hops (CS244, section 3.2) in packets: TCP-INT's option (vr_int.h).
 * vrack_int.ko.
 *
 *      sender's host            switches             receiver's host
 *      send(): begin            left(), arrived()    receive(): latest[sender's flow]
 *      data  |---- option: empty --> q1 ... qk written --->|
 *      ACK   |<--- q's of the way back, and the echo of q1 ... qk ---|   send() there
 *      receive(): latest[receiver's flow], of which tcp_timely asks
 *
 * A switch writes when a packet leaves its queue, and the rack keeps that beside a frame until the
 * packet is whole at its host, as frames of a burst have no header of their own before.
 *
 * TCP knows nothing of it: hosts write and read below it, by netfilter.  A SYN says that segments
 * are shorter by the option.  A packet that has no room for it goes without.  One table has what
 * came last of each flow, and where two meet the newer stays.
 */
#include <linux/hash.h>
#include <linux/if_ether.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "vr.h"
#include "vr_int.h"
#include "vr_tcp.h"

#define MARK_BITS	16	/* 320 hosts with 50 packets each on their way */
#define MSS_KIND	2	/* RFC 9293, section 3.2 */
#define MSS_LEAST	536

static unsigned int unit_shift = VR_INT_UNIT_SHIFT;
module_param(unit_shift, uint, 0444);
MODULE_PARM_DESC(unit_shift, "queues are told in units of 1 << this, bytes (default 13; 16 at most)");

/* Of a frame under way; its name is its address. */
struct mark {
	u64 name;		/* 0: none */
	struct vr_int met;
	u8 hops;
};

/* Of the last packet that came of a flow. */
struct latest {
	u64 name;
	u32 acked;
	struct vr_int met;
	struct vr_int echo;
};

static struct mark *marks;
static struct latest *latest_of_flows;
static DEFINE_SPINLOCK(lock);	/* of both; bottom halves off */

/* -- switches ------------------------------------------------------------- */

static struct mark *mark_of(const struct vr_frame *frame)
{
	return &marks[hash_64((uintptr_t)frame, MARK_BITS)];
}

static void left(const struct vr_frame *frame, struct vr_port *port, u64 now_ps)
{
	u64 waited_ns = div_u64(now_ps - frame->cb.queued_ps, VR_PS_PER_NS);
	u32 mbps = div_u64(port->rate_bps, 1000000);
	struct mark *mark = mark_of(frame);

	spin_lock_bh(&lock);
	/* what its address had met before was another frame's */
	if (vr_frame_is_from_host(frame, port))
		*mark = (struct mark){ .name = (uintptr_t)frame };
	if (mark->name == (uintptr_t)frame)
		vr_int_pass(&mark->met, unit_shift, ++mark->hops, mbps,
			    div_u64(waited_ns * mbps, 8000), waited_ns);
	spin_unlock_bh(&lock);
}

/* The packet's option, to be written; NULL: it has none. */
static u8 *option_of(struct sk_buff *skb, int tcp_at)
{
	const struct tcphdr *th;
	const u8 *option;
	int bytes;

	if (skb_ensure_writable(skb, tcp_at + sizeof(*th)))
		return NULL;
	th = (const struct tcphdr *)(skb->data + tcp_at);
	bytes = th->doff * 4;
	if (bytes < sizeof(*th) || skb_ensure_writable(skb, tcp_at + bytes))
		return NULL;
	option = vr_int_find(skb->data + tcp_at + sizeof(*th), bytes - sizeof(*th));
	return (u8 *)option;
}

static void arrived(const struct vr_frame *frame, struct sk_buff *skb)
{
	const struct mark *mark = mark_of(frame);
	struct vr_tcp_ends ends;
	u8 *option;

	if (!vr_tcp_find_ends(skb, ETH_HLEN, &ends))
		return;
	option = option_of(skb, ends.tcp_at);
	spin_lock_bh(&lock);
	if (option && mark->name == (uintptr_t)frame)
		vr_int_write(option, &mark->met);
	spin_unlock_bh(&lock);
}

static const struct vr_telemetry_ops ops = { .left = left, .arrived = arrived };

/* -- hosts ---------------------------------------------------------------- */

static struct latest *latest_of(u64 name)
{
	return &latest_of_flows[hash_64(name, MARK_BITS)];
}

/* Of the packets from there to here; and of their answers with the ends exchanged. */
static u64 flow_name(const struct in6_addr *from, const struct in6_addr *to, __be16 source,
		     __be16 dest)
{
	return vr_tcp_name(from, to, source, dest, 0);
}

static void keep(const struct vr_tcp_ends *e, const struct tcphdr *th, const u8 *option)
{
	u64 name = flow_name(&e->from, &e->to, th->source, th->dest);
	struct latest *last = latest_of(name);

	spin_lock_bh(&lock);
	last->name = name;
	last->acked = ntohl(th->ack_seq);
	vr_int_read(&last->met, option);
	vr_int_read_echo(&last->echo, option);
	spin_unlock_bh(&lock);
}

/* What the flow's other way met last. */
static void latest_met(const struct vr_tcp_ends *e, const struct tcphdr *th, struct vr_int *met)
{
	u64 name = flow_name(&e->to, &e->from, th->dest, th->source);
	const struct latest *last = latest_of(name);

	memset(met, 0, sizeof(*met));
	spin_lock_bh(&lock);
	if (last->name == name)
		*met = last->met;
	spin_unlock_bh(&lock);
}

/* The lengths and sums of a packet that is longer now. */
static void tell_length(struct sk_buff *skb, bool ipv6)
{
	int tcp_bytes = skb->len - skb_transport_offset(skb);
	struct tcphdr *th = tcp_hdr(skb);
	struct ipv6hdr *ip6 = ipv6_hdr(skb);
	struct iphdr *ip = ip_hdr(skb);

	skb->csum_start -= VR_INT_BYTES;
	if (ipv6) {
		ip6->payload_len = htons(skb->len - sizeof(*ip6));
		th->check = ~tcp_v6_check(tcp_bytes, &ip6->saddr, &ip6->daddr, 0);
		return;
	}
	ip->tot_len = htons(skb->len);
	ip_send_check(ip);
	th->check = ~tcp_v4_check(tcp_bytes, ip->saddr, ip->daddr, 0);
}

/* Room for the option behind the others; returns where.  NULL: there is none. */
static u8 *make_room(struct sk_buff *skb, bool ipv6)
{
	int headers = skb_transport_offset(skb) + tcp_hdrlen(skb);
	int segment = skb_is_gso(skb) ? headers + skb_shinfo(skb)->gso_size : skb->len;

	if (tcp_hdrlen(skb) + VR_INT_BYTES > MAX_TCP_OPTION_SPACE + (int)sizeof(struct tcphdr) ||
	    segment + VR_INT_BYTES > dst_mtu(skb_dst(skb)) ||
	    skb->len + VR_INT_BYTES > IP_MAX_MTU ||
	    skb->ip_summed != CHECKSUM_PARTIAL || skb_cow_head(skb, VR_INT_BYTES))
		return NULL;
	skb_push(skb, VR_INT_BYTES);
	memmove(skb->data, skb->data + VR_INT_BYTES, headers);
	skb->network_header -= VR_INT_BYTES;
	skb->transport_header -= VR_INT_BYTES;
	tcp_hdr(skb)->doff += VR_INT_BYTES / 4;
	tell_length(skb, ipv6);
	return skb->data + headers;
}

/* The other end sends shorter segments, so that they have room for the option. */
static void shorten_mss(struct sk_buff *skb)
{
	struct tp_tcp_options list;
	struct tp_tcp_option o;
	u16 mss;
	u8 *at;

	if (skb->ip_summed != CHECKSUM_PARTIAL || skb_cow_head(skb, 0))
		return;
	list.at = (u8 *)(tcp_hdr(skb) + 1);
	list.end = (u8 *)tcp_hdr(skb) + tcp_hdrlen(skb);
	while (tp_tcp_option_next(&list, &o)) {
		if (o.kind != MSS_KIND || o.bytes != 2)
			continue;
		mss = o.value[0] << 8 | o.value[1];
		if (mss < MSS_LEAST + VR_INT_BYTES)
			return;
		mss -= VR_INT_BYTES;
		at = (u8 *)o.value;
		at[0] = mss >> 8;
		at[1] = mss;
		return;
	}
}

static unsigned int send(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	bool ipv6 = state->pf == NFPROTO_IPV6;
	const struct tcphdr *th;
	struct vr_tcp_ends ends;
	struct tcphdr room;
	struct vr_int met;
	u8 *option;

	th = vr_tcp_read(skb, 0, &room, &ends);
	if (!th || th->rst || state->out->flags & IFF_LOOPBACK)
		return NF_ACCEPT;
	if (th->syn) {
		shorten_mss(skb);
		return NF_ACCEPT;
	}
	latest_met(&ends, th, &met);
	option = make_room(skb, ipv6);
	if (option)
		vr_int_begin(option, &met);
	return NF_ACCEPT;
}

static unsigned int receive(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	u8 options[MAX_TCP_OPTION_SPACE];
	const u8 *list, *option;
	const struct tcphdr *th;
	struct vr_tcp_ends ends;
	struct tcphdr room;
	int bytes;

	th = vr_tcp_read(skb, 0, &room, &ends);
	if (!th || th->doff * 4 <= sizeof(*th))
		return NF_ACCEPT;
	bytes = th->doff * 4 - sizeof(*th);
	list = skb_header_pointer(skb, ends.tcp_at + sizeof(*th), bytes, options);
	option = list ? vr_int_find(list, bytes) : NULL;
	if (option)
		keep(&ends, th, option);
	return NF_ACCEPT;
}

#define HOOK(family, at, function) \
	{ .hook = function, .pf = family, .hooknum = at, .priority = INT_MAX }

static const struct nf_hook_ops hooks[] = {
	HOOK(NFPROTO_IPV4, NF_INET_LOCAL_OUT, send),
	HOOK(NFPROTO_IPV4, NF_INET_LOCAL_IN, receive),
#if IS_ENABLED(CONFIG_IPV6)
	HOOK(NFPROTO_IPV6, NF_INET_LOCAL_OUT, send),
	HOOK(NFPROTO_IPV6, NF_INET_LOCAL_IN, receive),
#endif
};

static int __net_init int_net_init(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

static void __net_exit int_net_exit(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

static struct pernet_operations int_net_ops = { .init = int_net_init, .exit = int_net_exit };

/* For tcp_timely: what the ACK says that it has before it. */
static bool hops_of(const struct sock *sk, u32 una, struct tp_hops *h)
{
	struct vr_int there, back;
	struct tp_hops way_back;
	struct latest *last;
	u64 name;
	bool known;

	name = vr_tcp_name_of_peer(sk);
	last = latest_of(name);
	spin_lock_bh(&lock);
	known = last->name == name && last->acked == una;
	there = last->echo;
	back = last->met;
	spin_unlock_bh(&lock);
	if (!known || !vr_int_tell(h, &there, unit_shift) ||
	    !vr_int_tell(&way_back, &back, unit_shift))
		return false;
	tp_hops_join(h, &way_back);
	return true;
}

static int __init int_load(void)
{
	int err = -ENOMEM;

	if (unit_shift > 16)
		return -EINVAL;
	marks = kvcalloc(1 << MARK_BITS, sizeof(*marks), GFP_KERNEL);
	latest_of_flows = kvcalloc(1 << MARK_BITS, sizeof(*latest_of_flows), GFP_KERNEL);
	if (marks && latest_of_flows)
		err = vr_telemetry_register(&ops);
	if (err)
		goto out_tables;
	err = register_pernet_subsys(&int_net_ops);
	if (err)
		goto out_switches;
	timely_set_hops(hops_of);
	return 0;

out_switches:
	vr_telemetry_register(NULL);
out_tables:
	kvfree(marks);
	kvfree(latest_of_flows);
	return err;
}

static void __exit int_unload(void)
{
	timely_set_hops(NULL);
	unregister_pernet_subsys(&int_net_ops);
	vr_telemetry_register(NULL);
	kvfree(marks);
	kvfree(latest_of_flows);
}

module_init(int_load);
module_exit(int_unload);

MODULE_DESCRIPTION("Signals of single hops in a TCP option, for the virtual rack");
MODULE_LICENSE("GPL");
