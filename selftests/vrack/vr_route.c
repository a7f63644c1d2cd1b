// SPDX-License-Identifier: GPL-2.0
/*
 * Routes: at `up`, from every NIC a breadth-first search over the cables;
 * each switch keeps for each NIC all ports on a shortest path, and a flow's
 * hash picks one (ECMP). Multicast follows one spanning tree.
 */
#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/hash.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "vr.h"

#define ADDR_BITS	11	/* as many buckets as nodes */

static struct hlist_head by_ip[1 << ADDR_BITS];
static struct hlist_head by_ip6[1 << ADDR_BITS];

static struct hlist_head *ip_bucket(__be32 ip)
{
	return &by_ip[hash_32((__force u32)ip, ADDR_BITS)];
}

static struct hlist_head *ip6_bucket(const struct in6_addr *ip)
{
	return &by_ip6[hash_32(ipv6_addr_hash(ip), ADDR_BITS)];
}

/* Make the NIC reachable by its addresses. -EEXIST if another has one of them. */
int vr_addr_add(struct vr_nic *nic)
{
	if (nic->ip && vr_addr_find4(nic->ip) != VR_NO_NODE)
		return -EEXIST;
	if (!ipv6_addr_any(&nic->ip6) && vr_addr_find6(&nic->ip6) != VR_NO_NODE)
		return -EEXIST;
	if (nic->ip)
		hlist_add_head(&nic->ip_hash, ip_bucket(nic->ip));
	if (!ipv6_addr_any(&nic->ip6))
		hlist_add_head(&nic->ip6_hash, ip6_bucket(&nic->ip6));
	return 0;
}

void vr_addr_del(struct vr_nic *nic)
{
	hlist_del_init(&nic->ip_hash);
	hlist_del_init(&nic->ip6_hash);
}

u16 vr_addr_find4(__be32 ip)
{
	struct vr_nic *nic;

	hlist_for_each_entry(nic, ip_bucket(ip), ip_hash)
		if (nic->ip == ip)
			return nic->node.id;
	return VR_NO_NODE;
}

u16 vr_addr_find6(const struct in6_addr *ip)
{
	struct vr_nic *nic;

	hlist_for_each_entry(nic, ip6_bucket(ip), ip6_hash)
		if (ipv6_addr_equal(&nic->ip6, ip))
			return nic->node.id;
	return VR_NO_NODE;
}

u16 vr_addr_find_mac(const u8 *mac)
{
	u16 id = mac[4] << 8 | mac[5];

	if (mac[0] != 0x02 || mac[1] != 'v' || mac[2] != 'r' || mac[3] != 0 ||
	    id >= VR_NODES_MAX || !vrack.node[id] || vrack.node[id]->kind != VR_NIC)
		return VR_NO_NODE;
	return id;
}

static u16 *row(struct vr_node *sw, u16 dst)
{
	return sw->routes + (size_t)dst * (sw->ports + 1);
}

/* VR_NO_NODE when the destination is unknown or unreachable. */
u32 vr_route_port(struct vr_switch *sw, const struct vr_cb *cb)
{
	const u16 *hops;

	if (cb->dst == VR_NO_NODE)
		return VR_NO_NODE;
	hops = row(&sw->node, cb->dst);
	if (!hops[0])
		return VR_NO_NODE;
	if (hops[0] == 1)
		return hops[1];
	return hops[1 + reciprocal_scale(jhash_2words(cb->hash, sw->seed, 0), hops[0])];
}

void vr_route_flood(struct vr_switch *sw, struct vr_frame *frame, u16 in_port, u64 now_ps,
		    void (*enqueue)(struct vr_switch *, struct vr_port *, struct vr_frame *, u64))
{
	struct vr_frame *copy;
	unsigned int i;

	for_each_set_bit(i, sw->node.tree, sw->node.ports) {
		if (i == in_port)
			continue;
		copy = vr_frame_copy(frame);
		if (copy)
			enqueue(sw, sw->node.port[i], copy, now_ps);
	}
	vr_frame_drop(frame);
}

struct search {
	u16 *distance;	/* from the root, 0xffff: not seen */
	u16 *queue;
};

static void search_from(struct search *s, u16 root)
{
	u32 head = 0, tail = 0;
	u16 i;

	memset(s->distance, 0xff, vrack.nodes_count * sizeof(*s->distance));
	s->distance[root] = 0;
	s->queue[tail++] = root;
	while (head < tail) {
		struct vr_node *node = vrack.node[s->queue[head++]];

		/* hosts do not forward */
		if (node->kind == VR_NIC && node->id != root)
			continue;
		for (i = 0; i < node->ports; i++) {
			struct vr_port *peer = node->port[i]->peer;

			if (!peer || s->distance[peer->node->id] != 0xffff)
				continue;
			s->distance[peer->node->id] = s->distance[node->id] + 1;
			s->queue[tail++] = peer->node->id;
			if (root == 0 && node->tree)
				__set_bit(i, node->tree);
			if (root == 0 && peer->node->tree)
				__set_bit(peer->index, peer->node->tree);
		}
	}
}

static void add_routes(const struct search *s, u16 root)
{
	struct vr_node *node;
	u16 i;

	list_for_each_entry(node, &vrack.nodes, list) {
		u16 *hops;

		if (node->kind != VR_SWITCH || s->distance[node->id] == 0xffff)
			continue;
		hops = row(node, root);
		for (i = 0; i < node->ports; i++) {
			struct vr_port *peer = node->port[i]->peer;

			if (peer && s->distance[peer->node->id] + 1 == s->distance[node->id])
				hops[++hops[0]] = i;
		}
	}
}

static int alloc_tables(void)
{
	struct vr_node *node;

	list_for_each_entry(node, &vrack.nodes, list) {
		if (node->kind != VR_SWITCH)
			continue;
		node->routes = kvcalloc((size_t)vrack.nodes_count * (node->ports + 1),
					sizeof(*node->routes), GFP_KERNEL);
		node->tree = bitmap_zalloc(VR_PORTS_MAX, GFP_KERNEL);
		if (!node->routes || !node->tree)
			return -ENOMEM;
	}
	return 0;
}

int vr_route_all(void)
{
	struct search s = {
		.distance = kcalloc(VR_NODES_MAX, sizeof(u16), GFP_KERNEL),
		.queue = kcalloc(VR_NODES_MAX, sizeof(u16), GFP_KERNEL),
	};
	int err = alloc_tables();
	u16 id;

	if (!s.distance || !s.queue)
		err = -ENOMEM;
	for (id = 0; !err && id < vrack.nodes_count; id++) {
		if (id && vrack.node[id]->kind != VR_NIC)
			continue;
		search_from(&s, id);
		if (vrack.node[id]->kind == VR_NIC)
			add_routes(&s, id);
	}
	kfree(s.distance);
	kfree(s.queue);
	return err;
}

void vr_route_free(struct vr_node *node)
{
	kvfree(node->routes);
	bitmap_free(node->tree);
}
