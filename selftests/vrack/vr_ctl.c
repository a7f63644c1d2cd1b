// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs vrack/ctl: the rack is described line by line (Documentation/vrack.rst
 * has the words). A bad line changes nothing, gives EINVAL and one log line
 * with the reason; lines before it in the same write stand.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "vr.h"

#define WORDS_MAX	40

struct line {
	int words;
	char *word[WORDS_MAX];
};

/* One `name=value` a command understands. */
struct setting {
	const char *name;
	u64 *value;		/* number, in [min, max]; NULL: @text is wanted */
	u64 min;
	u64 max;
	const char **text;
	bool set;		/* filled in: it was given */
};

static DEFINE_MUTEX(ctl_lock);	/* one line at a time; guards all set-up */

#define reject(fmt, ...) ({ pr_err("vrack: " fmt "\n", ##__VA_ARGS__); -EINVAL; })

static int parse_number(const char *word, const struct setting *key, const char *text)
{
	u64 value;

	if (kstrtou64(text, 0, &value))
		return reject("%s: not a whole number", word);
	if (value < key->min || value > key->max)
		return reject("%s: outside %llu to %llu", word, key->min, key->max);
	*key->value = value;
	return 0;
}

static int parse_key(struct line *line, int i, struct setting *key)
{
	const char *text = line->word[i] + strlen(key->name) + 1;

	if (key->set)
		return reject("%s: given twice", line->word[i]);
	key->set = true;
	if (key->value)
		return parse_number(line->word[i], key, text);
	*key->text = text;
	return 0;
}

/* Match all words from @first on with @keys; what no key claims is an error. */
static int parse_keys(struct line *line, int first, struct setting *keys, int count)
{
	int i, k, err;

	for (i = first; i < line->words; i++) {
		size_t len = strcspn(line->word[i], "=");

		for (k = 0; k < count; k++)
			if (strlen(keys[k].name) == len &&
			    !strncmp(line->word[i], keys[k].name, len))
				break;
		if (line->word[i][len] != '=' || k == count)
			return reject("%s: not known here", line->word[i]);
		err = parse_key(line, i, &keys[k]);
		if (err)
			return err;
	}
	return 0;
}

struct vr_node *vr_node_find(const char *name)
{
	struct vr_node *node;

	list_for_each_entry(node, &vrack.nodes, list)
		if (!strcmp(node->name, name))
			return node;
	return NULL;
}

static struct vr_nic *find_nic(const char *name)
{
	struct vr_node *node = vr_node_find(name);

	return node && node->kind == VR_NIC ? vr_nic(node) : NULL;
}

static int check_new_name(const char *name)
{
	if (vrack.up)
		return reject("%s: the rack is up", name);
	if (strlen(name) >= IFNAMSIZ || !dev_valid_name(name) || strpbrk(name, ".*\""))
		return reject("%s: not a name", name);
	if (vr_node_find(name))
		return reject("%s: exists", name);
	if (vrack.nodes_count == VR_NODES_MAX)
		return reject("%s: more than %d nodes", name, VR_NODES_MAX);
	return 0;
}

/* ---- clocks, by vrack_phc.ko ---- */

static const struct vr_phc_knobs no_clock = { .step_ns = 8, .bits = 40, .walk_ms = 1000 };

const struct vr_phc_ops *vr_phc_ops;	/* written with ctl_lock and vrack.lock held */

static void set_phc_ops(const struct vr_phc_ops *ops)
{
	local_bh_disable();
	vr_enter();
	vr_phc_ops = ops;
	vr_leave();
	local_bh_enable();
}

void vr_phc_register(const struct vr_phc_ops *ops)
{
	mutex_lock(&ctl_lock);
	set_phc_ops(ops);
	mutex_unlock(&ctl_lock);
}
EXPORT_SYMBOL_GPL(vr_phc_register);

/* Packets in hand may know the one before until a grace period is over. */
void vr_phc_attach(struct vr_nic *nic, struct vr_phc *phc)
{
	rtnl_lock();
	local_bh_disable();
	vr_enter();
	nic->phc = phc;
	vr_leave();
	local_bh_enable();
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(vr_phc_attach);

/* No NIC has a clock any more. */
void vr_phc_unregister(void)
{
	struct vr_node *node;

	mutex_lock(&ctl_lock);
	list_for_each_entry(node, &vrack.nodes, list)
		if (node->kind == VR_NIC)
			vr_phc_ops->apply(vr_nic(node), &no_clock);
	set_phc_ops(NULL);
	mutex_unlock(&ctl_lock);
}
EXPORT_SYMBOL_GPL(vr_phc_unregister);

/* ---- queues of hops, by vrack_hops.ko ---- */

vr_hops_fn vr_hops_received;

/* NULL: when this returns, no packet is with the one before. */
void vr_hops_register(vr_hops_fn received)
{
	WRITE_ONCE(vr_hops_received, received);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(vr_hops_register);

/* ---- telemetry, by vrack_telemetry.ko ---- */

const struct vr_telemetry_ops *vr_telemetry_ops;

/* NULL: when this returns, no frame is with those before. -EBUSY: another module has them. */
int vr_telemetry_register(const struct vr_telemetry_ops *ops)
{
	if (ops && cmpxchg(&vr_telemetry_ops, NULL, ops))
		return -EBUSY;
	if (!ops)
		WRITE_ONCE(vr_telemetry_ops, NULL);
	synchronize_rcu();
	return 0;
}
EXPORT_SYMBOL_GPL(vr_telemetry_register);

static const struct vr_nic *nic_of_net(const struct net *net)
{
	struct vr_node *node;

	list_for_each_entry(node, &vrack.nodes, list)
		if (node->kind == VR_NIC && net_eq(dev_net(vr_nic(node)->dev), net))
			return vr_nic(node);
	return NULL;
}

/* What the clock of a namespace's NIC says now, for vrack_skew.ko; false: there is none. */
bool vr_phc_of_net(const struct net *net, u64 *ns)
{
	const struct vr_nic *nic;

	spin_lock_bh(&vrack.lock);
	/* nodes come and go while the rack is down */
	nic = vrack.up ? nic_of_net(net) : NULL;
	if (nic && nic->phc)
		*ns = vr_phc_ops->now_ns(nic);
	else
		nic = NULL;
	spin_unlock_bh(&vrack.lock);
	return nic;
}
EXPORT_SYMBOL_GPL(vr_phc_of_net);

static int apply_clock(struct vr_nic *nic, const struct vr_phc_knobs *k)
{
	int err;

	if (!k->on && !nic->phc)
		return 0;
	if (!vr_phc_ops)
		return reject("%s: clocks need the module vrack_phc", nic->node.name);
	err = vr_phc_ops->apply(nic, k);
	if (err == -EBUSY)
		return reject("%s: phc_bits, phc_step_ns and phc_stock are fixed while the clock is on",
			      nic->node.name);
	return err;
}

/* What `nic add` and `nic set` share. */
struct nic_knobs {
	u64 ring, rx_frames, rx_ns, jitter_ns, pace_bps, carrier;
	struct vr_phc_knobs phc;
};

#define NIC_KEYS	17

static void nic_keys(struct setting *keys, struct nic_knobs *k)
{
	const struct setting all[NIC_KEYS] = {
		{ "ring", &k->ring, 2, 65536 },
		{ "rx_frames", &k->rx_frames, 1, 4096 },
		{ "rx_ns", &k->rx_ns, 0, NSEC_PER_SEC },
		{ "jitter_ns", &k->jitter_ns, 0, NSEC_PER_SEC },
		{ "pace_bps", &k->pace_bps, 0, 1000000000000ULL },
		{ "carrier", &k->carrier, 0, 1 },
		{ "phc", &k->phc.on, 0, 1 },
		{ "phc_stock", &k->phc.stock, 0, 1 },
		{ "phc_offset_ns", &k->phc.offset_ns, 0, 1000000 * NSEC_PER_SEC },
		{ "phc_fast_ppb", &k->phc.fast_ppb, 0, 1000000 },
		{ "phc_slow_ppb", &k->phc.slow_ppb, 0, 1000000 },
		{ "phc_step_ns", &k->phc.step_ns, 1, 1000000 },
		{ "phc_bits", &k->phc.bits, 32, 64 },
		{ "phc_tx_slots", &k->phc.tx_slots, 0, 65536 },
		{ "phc_gap_ns", &k->phc.gap_ns, 0, NSEC_PER_SEC },
		{ "phc_walk_ppb", &k->phc.walk_ppb, 0, 10000 },
		{ "phc_walk_ms", &k->phc.walk_ms, 10, 10000000 },
	};

	memcpy(keys, all, sizeof(all));
}

static struct nic_knobs nic_knobs_of(const struct vr_nic *nic)
{
	return (struct nic_knobs) {
		.ring = nic->ring_size,
		.rx_frames = nic->rx_frames,
		.rx_ns = div_u64(nic->rx_ps, VR_PS_PER_NS),
		.jitter_ns = div_u64(nic->jitter_ps, VR_PS_PER_NS),
		.pace_bps = nic->pace_bps,
		.carrier = netif_carrier_ok(nic->dev),
		.phc = nic->phc ? vr_phc_ops->knobs_of(nic) : no_clock,
	};
}

static int apply_nic(struct vr_nic *nic, const struct nic_knobs *k)
{
	int err = apply_clock(nic, &k->phc);

	if (err)
		return err;
	local_bh_disable();
	vr_enter();
	nic->ring_size = k->ring;
	nic->rx_frames = k->rx_frames;
	nic->rx_ps = k->rx_ns * VR_PS_PER_NS;
	nic->jitter_ps = k->jitter_ns * VR_PS_PER_NS;
	nic->pace_bps = k->pace_bps;
	vr_leave();
	local_bh_enable();
	if (vrack.up && k->carrier)
		netif_carrier_on(nic->dev);
	else
		netif_carrier_off(nic->dev);
	return 0;
}

static int parse_addresses(const char *ip, const char *ip6, __be32 *to, struct in6_addr *to6)
{
	if (ip && !in4_pton(ip, -1, (u8 *)to, -1, NULL))
		return reject("ip=%s: not an IPv4 address", ip);
	if (ip6 && !in6_pton(ip6, -1, (u8 *)to6, -1, NULL))
		return reject("ip6=%s: not an IPv6 address", ip6);
	return 0;
}

static int nic_add(struct line *line)
{
	struct nic_knobs k = {
		.ring = 1024, .rx_frames = 1, .phc = no_clock,
	};
	const char *ip = NULL, *ip6 = NULL;
	u64 queues = 1;
	struct setting keys[NIC_KEYS + 3] = {
		[NIC_KEYS] = { "queues", &queues, 1, 64 },
		{ "ip", .text = &ip },
		{ "ip6", .text = &ip6 },
	};
	struct in6_addr addr6 = {};
	__be32 addr = 0;
	struct vr_nic *nic;
	int err;

	nic_keys(keys, &k);
	err = parse_keys(line, 3, keys, ARRAY_SIZE(keys)) ?: check_new_name(line->word[2]) ?:
	      parse_addresses(ip, ip6, &addr, &addr6);
	if (err)
		return err;
	if ((addr && vr_addr_find4(addr) != VR_NO_NODE) ||
	    (ip6 && vr_addr_find6(&addr6) != VR_NO_NODE))
		return reject("%s: another NIC has that address", line->word[2]);
	nic = vr_nic_add(line->word[2], queues);
	if (IS_ERR(nic))
		return reject("%s: no net device (%ld)", line->word[2], PTR_ERR(nic));
	nic->ip = addr;
	nic->ip6 = addr6;
	vr_addr_add(nic);
	return apply_nic(nic, &k);
}

static int nic_set(struct line *line)
{
	bool all = !strcmp(line->word[2], "*");
	struct setting keys[NIC_KEYS];
	struct vr_node *node;
	struct nic_knobs k;
	int err;

	if (!all && !find_nic(line->word[2]))
		return reject("%s: no such NIC", line->word[2]);
	list_for_each_entry(node, &vrack.nodes, list) {
		if (node->kind != VR_NIC || (!all && strcmp(node->name, line->word[2])))
			continue;
		k = nic_knobs_of(vr_nic(node));
		nic_keys(keys, &k);
		err = parse_keys(line, 3, keys, ARRAY_SIZE(keys));
		if (!err)
			err = apply_nic(vr_nic(node), &k);
		if (err)
			return err;
	}
	return 0;
}

struct switch_knobs {
	u64 buffer_bytes, alpha_milli, seed, pfc_prios, pfc_xoff_bytes, pfc_xon_bytes;
};

static int apply_switch(struct line *line, struct vr_switch *sw, struct switch_knobs *k)
{
	struct setting keys[] = {
		{ "buffer_bytes", &k->buffer_bytes, 2000, 1ULL << 32 },
		{ "alpha_milli", &k->alpha_milli, 0, 1000000 },
		{ "seed", &k->seed, 0, U32_MAX },
		{ "pfc_prios", &k->pfc_prios, 0, 0xff },
		{ "pfc_xoff_bytes", &k->pfc_xoff_bytes, 0, 1ULL << 32 },
		{ "pfc_xon_bytes", &k->pfc_xon_bytes, 0, 1ULL << 32 },
	};
	int err = parse_keys(line, 3, keys, ARRAY_SIZE(keys));

	if (err)
		return err;
	if (k->pfc_prios && k->pfc_xon_bytes >= k->pfc_xoff_bytes)
		return reject("pfc_xon_bytes must be below pfc_xoff_bytes");
	local_bh_disable();
	vr_enter();
	sw->buffer_bytes = k->buffer_bytes;
	sw->alpha_milli = k->alpha_milli;
	sw->seed = k->seed;
	sw->pfc_prios = k->pfc_prios;
	sw->pfc_xoff_bytes = k->pfc_xoff_bytes;
	sw->pfc_xon_bytes = k->pfc_xon_bytes;
	vr_leave();
	local_bh_enable();
	return 0;
}

static int switch_add(struct line *line)
{
	/* 12 MB, alpha 1: a Trident II class switch, TLT paper 4.2 */
	struct switch_knobs k = { .buffer_bytes = 12000000, .alpha_milli = 1000, .seed = 1 };
	struct vr_switch *sw;
	int err = check_new_name(line->word[2]);

	if (err)
		return err;
	sw = vr_switch_add(line->word[2]);
	if (!sw)
		return -ENOMEM;
	err = apply_switch(line, sw, &k);
	if (err) {
		vrack.node[sw->node.id] = NULL;
		vrack.nodes_count--;
		list_del(&sw->node.list);
		vr_switch_free(sw);
	}
	return err;
}

static int switch_set(struct line *line)
{
	bool all = !strcmp(line->word[2], "*");
	struct vr_node *node = vr_node_find(line->word[2]);
	int err = 0;

	if (!all && (!node || node->kind != VR_SWITCH))
		return reject("%s: no such switch", line->word[2]);
	list_for_each_entry(node, &vrack.nodes, list) {
		struct vr_switch *sw = vr_switch(node);

		if (node->kind != VR_SWITCH || (!all && strcmp(node->name, line->word[2])))
			continue;
		struct switch_knobs k = {
			sw->buffer_bytes, sw->alpha_milli, sw->seed,
			sw->pfc_prios, sw->pfc_xoff_bytes, sw->pfc_xon_bytes,
		};

		err = apply_switch(line, sw, &k);
		if (err)
			break;
	}
	return err;
}

static int check_link_end(const char *name)
{
	struct vr_node *node = vr_node_find(name);

	if (!node)
		return reject("%s: no such NIC or switch", name);
	if (node->kind == VR_NIC && node->ports)
		return reject("%s: a NIC has one cable", name);
	if (node->ports == VR_PORTS_MAX)
		return reject("%s: more than %d ports", name, VR_PORTS_MAX);
	return 0;
}

static int check_port_name(struct vr_node *node, const char *name)
{
	u16 i;

	for (i = 0; i < node->ports; i++)
		if (!strcmp(node->port[i]->name, name))
			return reject("%s.%s: exists", node->name, name);
	if (strlen(name) >= sizeof_field(struct vr_port, name) || strpbrk(name, ".*\""))
		return reject("%s: not a name", name);
	return 0;
}

static struct vr_port *add_end(struct vr_node *node, const char *name, u64 rate_bps,
			       u64 delay_ns, u64 loss_ppb)
{
	struct vr_port *port = vr_port_add(node, name, GFP_KERNEL);

	if (!port)
		return NULL;
	port->rate_bps = rate_bps;
	port->link.delay_ps = delay_ns * VR_PS_PER_NS;
	port->link.loss_ppb = loss_ppb;
	if (node->kind == VR_NIC)
		vr_nic(node)->port = port;
	return port;
}

static int link_add(struct line *line)
{
	u64 rate_bps = 10000000000ULL, rate_ba_bps, delay_ns = 1000, loss_ppb = 0;
	const char *name_a, *name_b;
	struct setting keys[] = {
		{ "rate_bps", &rate_bps, VR_RATE_MIN, VR_RATE_MAX },
		{ "rate_ba_bps", &rate_ba_bps, VR_RATE_MIN, VR_RATE_MAX },
		/* a NIC must not have its frame back before it has completed it */
		{ "delay_ns", &delay_ns, 1, NSEC_PER_SEC },
		{ "fcs_ppb", &loss_ppb, 0, 1000000000 },
		{ "a", .text = &name_a },
		{ "b", .text = &name_b },
	};
	struct vr_port *a, *b;
	int err;

	if (line->words < 4)
		return reject("link add A B ...: two ends are wanted");
	if (vrack.up)
		return reject("link add: the rack is up");
	name_a = line->word[3];
	name_b = line->word[2];
	err = parse_keys(line, 4, keys, ARRAY_SIZE(keys)) ?: check_link_end(line->word[2]) ?:
	      check_link_end(line->word[3]) ?:
	      check_port_name(vr_node_find(line->word[2]), name_a) ?:
	      check_port_name(vr_node_find(line->word[3]), name_b);
	if (err)
		return err;
	if (!strcmp(line->word[2], line->word[3]))
		return reject("link add: both ends are %s", line->word[2]);
	a = add_end(vr_node_find(line->word[2]), name_a, rate_bps, delay_ns, loss_ppb);
	b = add_end(vr_node_find(line->word[3]), name_b, keys[1].set ? rate_ba_bps : rate_bps,
		    delay_ns, loss_ppb);
	if (!a || !b)
		return -ENOMEM;
	vr_port_connect(a, b);
	return 0;
}

struct port_knobs {
	u64 limit, ecn_k, ecn_kmin, ecn_kmax, ecn_pmax, color_k, loss_ppb, rate_bps, delay_ns;
	u64 late_ppb, late_ns, jitter_ns, clear_dscp;
	u64 ecn_ingress, pi_ref, pi_k1, pi_k2;
	u64 police_bps, police_bytes;
};

static struct port_knobs port_knobs_of(const struct vr_port *port)
{
	return (struct port_knobs) {
		.limit = port->limit_bytes,
		.ecn_k = port->ecn.k_bytes,
		.ecn_kmin = port->ecn.kmin_bytes,
		.ecn_kmax = port->ecn.kmax_bytes,
		.ecn_pmax = port->ecn.pmax_milli,
		.color_k = port->color_k_bytes,
		.loss_ppb = port->link.loss_ppb,
		.rate_bps = port->rate_bps,
		.delay_ns = div_u64(port->link.delay_ps, VR_PS_PER_NS),
		.late_ppb = port->link.late_ppb,
		.late_ns = div_u64(port->link.late_ps, VR_PS_PER_NS),
		.jitter_ns = div_u64(port->link.jitter_ps, VR_PS_PER_NS),
		.clear_dscp = port->link.clear_dscp,
		.ecn_ingress = port->ecn.where == VR_ECN_INGRESS,
		.pi_ref = port->pi.ref_bytes,
		.pi_k1 = port->pi.k1_micro,
		.pi_k2 = port->pi.k2_milli,
		.police_bps = port->police.bps,
		.police_bytes = port->police.bucket_bytes,
	};
}

/* Where marks are decided; nowhere while no rule asks for any. */
static enum vr_ecn_where ecn_where(const struct port_knobs *k)
{
	if (!k->ecn_k && !k->ecn_kmax && !k->pi_ref)
		return VR_ECN_OFF;
	return k->ecn_ingress ? VR_ECN_INGRESS : VR_ECN_EGRESS;
}

static void set_ecn(struct vr_port *port, const struct port_knobs *k)
{
	port->ecn.where = ecn_where(k);
	port->ecn.k_bytes = k->ecn_k;
	port->ecn.kmin_bytes = k->ecn_kmin;
	port->ecn.kmax_bytes = k->ecn_kmax;
	port->ecn.pmax_milli = k->ecn_pmax;
	port->pi.ref_bytes = k->pi_ref;
	port->pi.k1_micro = k->pi_k1;
	port->pi.k2_milli = k->pi_k2;
}

static int apply_port(struct line *line, struct vr_port *port)
{
	struct port_knobs k = port_knobs_of(port);
	struct setting keys[] = {
		{ "queue_limit_bytes", &k.limit, 0, 1ULL << 32 },
		{ "ecn_k_bytes", &k.ecn_k, 0, 1ULL << 32 },
		{ "ecn_kmin_bytes", &k.ecn_kmin, 0, 1ULL << 32 },
		{ "ecn_kmax_bytes", &k.ecn_kmax, 0, 1ULL << 32 },
		{ "ecn_pmax_milli", &k.ecn_pmax, 0, 1000 },
		{ "color_k_bytes", &k.color_k, 0, 1ULL << 32 },
		{ "fcs_ppb", &k.loss_ppb, 0, 1000000000 },
		{ "rate_bps", &k.rate_bps, VR_RATE_MIN, VR_RATE_MAX },
		{ "delay_ns", &k.delay_ns, 1, NSEC_PER_SEC },
		{ "late_ppb", &k.late_ppb, 0, 1000000000 },
		{ "late_ns", &k.late_ns, 0, NSEC_PER_SEC },
		{ "jitter_ns", &k.jitter_ns, 0, NSEC_PER_SEC },
		{ "clear_dscp", &k.clear_dscp, 0, 1 },
		{ "ecn_ingress", &k.ecn_ingress, 0, 1 },
		{ "ecn_pi_ref_bytes", &k.pi_ref, 0, 1ULL << 32 },
		{ "ecn_pi_k1_micro", &k.pi_k1, 0, 1000000 },
		{ "ecn_pi_k2_milli", &k.pi_k2, 0, 1000000 },
		{ "police_bps", &k.police_bps, 0, VR_RATE_MAX },
		{ "police_bytes", &k.police_bytes, 0, 2000000 },
	};
	int err = parse_keys(line, 3, keys, ARRAY_SIZE(keys));

	if (err)
		return err;
	if (k.ecn_kmax && k.ecn_kmin >= k.ecn_kmax)
		return reject("ecn_kmin_bytes must be below ecn_kmax_bytes");
	if (k.police_bps && !k.police_bytes)
		return reject("police_bps wants police_bytes");
	if (vrack.up && k.delay_ns * VR_PS_PER_NS < port->link.delay_ps)
		return reject("delay_ns: a cable can only grow while the rack is up");
	local_bh_disable();
	vr_enter();
	port->limit_bytes = k.limit;
	set_ecn(port, &k);
	port->police.bps = k.police_bps;
	port->police.bucket_bytes = k.police_bytes;
	port->color_k_bytes = k.color_k;
	port->link.loss_ppb = k.loss_ppb;
	port->rate_bps = k.rate_bps;
	port->rate_rem = 0;
	port->link.delay_ps = k.delay_ns * VR_PS_PER_NS;
	port->link.late_ppb = k.late_ppb;
	port->link.late_ps = k.late_ns * VR_PS_PER_NS;
	port->link.jitter_ps = k.jitter_ns * VR_PS_PER_NS;
	port->link.clear_dscp = k.clear_dscp;
	vr_leave();
	local_bh_enable();
	return 0;
}

/* The port named SWITCH.PORT, or NULL. */
static struct vr_port *find_port(const char *path)
{
	const char *dot = strchr(path, '.');
	struct vr_node *node;
	u16 i;

	if (!dot)
		return NULL;
	list_for_each_entry(node, &vrack.nodes, list) {
		if (node->kind != VR_SWITCH || strlen(node->name) != dot - path ||
		    strncmp(node->name, path, dot - path))
			continue;
		for (i = 0; i < node->ports; i++)
			if (!strcmp(node->port[i]->name, dot + 1))
				return node->port[i];
	}
	return NULL;
}

/* SWITCH.PORT, SWITCH.* or *.* */
static bool port_matches(const struct vr_port *port, const char *path)
{
	const char *dot = strchr(path, '.');
	size_t len = dot - path;

	if (!(len == 1 && *path == '*') &&
	    (strlen(port->node->name) != len || strncmp(port->node->name, path, len)))
		return false;
	return !strcmp(dot + 1, "*") || !strcmp(dot + 1, port->name);
}

static int port_set(struct line *line)
{
	struct vr_node *node;
	int err, found = 0;
	u16 i;

	if (!strchr(line->word[2], '.'))
		return reject("%s: SWITCH.PORT is wanted", line->word[2]);
	list_for_each_entry(node, &vrack.nodes, list) {
		for (i = 0; node->kind == VR_SWITCH && i < node->ports; i++) {
			if (!port_matches(node->port[i], line->word[2]))
				continue;
			err = apply_port(line, node->port[i]);
			if (err)
				return err;
			found++;
		}
	}
	return found ? 0 : reject("%s: no such port", line->word[2]);
}

static int dscp_set(struct line *line)
{
	u64 dscp, prio = 0;
	const char *color = NULL;
	struct setting where = { "", &dscp, 0, VR_DSCPS - 1 };
	struct setting keys[] = {
		{ "prio", &prio, 0, VR_PRIOS - 1 },
		{ "color", .text = &color },
	};
	int err = parse_number(line->word[2], &where, line->word[2]) ?:
		  parse_keys(line, 3, keys, ARRAY_SIZE(keys));

	if (err)
		return err;
	if (color && strcmp(color, "green") && strcmp(color, "red"))
		return reject("color=%s: green or red", color);
	if (keys[0].set)
		vrack.dscp_prio[dscp] = prio;
	if (color)
		vrack.dscp_color[dscp] = strcmp(color, "red") ? VR_GREEN : VR_RED;
	return 0;
}

static int rack_up(struct line *line)
{
	u64 slack_ps = U64_MAX;
	struct vr_node *node;
	int err;

	if (vrack.up)
		return reject("up: the rack is up");
	list_for_each_entry(node, &vrack.nodes, list) {
		if (node->kind != VR_NIC)
			continue;
		if (!node->ports)
			return reject("%s: has no cable", node->name);
		slack_ps = min(slack_ps, node->port[0]->peer->link.delay_ps);
	}
	err = vr_route_all();
	if (err)
		return err;
	vr_engine_slack(slack_ps == U64_MAX ? 0 : slack_ps);
	vrack.up = true;
	list_for_each_entry(node, &vrack.nodes, list)
		if (node->kind == VR_NIC)
			vr_nic_up(vr_nic(node));
	return 0;
}

static int stats_reset(struct line *line)
{
	vr_stats_reset();
	return 0;
}

static int series_start(struct line *line)
{
	struct vr_port *port[WORDS_MAX];
	u64 interval_ns = 0;
	struct setting key = { "interval_ns", &interval_ns, 1, NSEC_PER_SEC };
	u32 ports = 0;
	int i, err;

	for (i = 2; i < line->words; i++) {
		if (!strncmp(line->word[i], "port=", 5)) {
			port[ports] = find_port(line->word[i] + 5);
			if (!port[ports++])
				return reject("%s: no such port", line->word[i]);
		} else if (!strncmp(line->word[i], "interval_ns=", 12)) {
			err = parse_key(line, i, &key);
			if (err)
				return err;
		} else {
			return reject("%s: not known here", line->word[i]);
		}
	}
	if (!interval_ns || !ports)
		return reject("series start: interval_ns= and port= are wanted");
	return vr_series_start(port, ports, interval_ns * VR_PS_PER_NS) ?
	       reject("series start: at most 16 ports") : 0;
}

static int source_add(struct line *line)
{
	u64 bytes = 1500, rate_bps = VR_RATE_MAX, poisson = 0, count = 0, start_ns = 0;
	u64 tos = 0, flows = 1;
	struct setting keys[] = {
		{ "ip_bytes", &bytes, 28, 9600 },
		{ "rate_bps", &rate_bps, 1000, VR_RATE_MAX },
		{ "poisson", &poisson, 0, 1 },
		{ "count", &count, 0, U64_MAX },
		{ "start_ns", &start_ns, 0, NSEC_PER_SEC * 1000ULL },
		{ "tos", &tos, 0, 255 },
		{ "flows", &flows, 1, 60000 },
	};
	struct vr_nic *from, *to;
	int err;

	if (line->words < 4)
		return reject("source add FROM TO ...: two NICs are wanted");
	err = parse_keys(line, 4, keys, ARRAY_SIZE(keys));
	if (err)
		return err;
	from = find_nic(line->word[2]);
	to = find_nic(line->word[3]);
	if (!from || !to || !vrack.up)
		return reject("source add: two NICs of a rack that is up are wanted");
	local_bh_disable();
	vr_enter();
	err = vr_source_add(from, to, bytes, rate_bps, poisson, count, start_ns, tos, flows);
	vr_leave();
	local_bh_enable();
	return err;
}

static int seed_set(struct line *line)
{
	u64 seed;
	struct setting key = { "", &seed, 0, U64_MAX - 1 };
	int err = parse_number(line->word[1], &key, line->word[1]);

	if (!err)
		vrack.rng = (seed + 1) * 0x9E3779B97F4A7C15ULL;
	return err;
}

static const struct command {
	const char *noun;
	const char *verb;	/* NULL: none */
	int words;		/* at least */
	int (*run)(struct line *line);
} commands[] = {
	{ "nic", "add", 3, nic_add },
	{ "nic", "set", 3, nic_set },
	{ "switch", "add", 3, switch_add },
	{ "switch", "set", 3, switch_set },
	{ "link", "add", 4, link_add },
	{ "port", "set", 3, port_set },
	{ "dscp", "set", 3, dscp_set },
	{ "up", NULL, 1, rack_up },
	{ "stats", "reset", 2, stats_reset },
	{ "series", "start", 2, series_start },
	{ "source", "add", 4, source_add },
	{ "seed", NULL, 2, seed_set },
};

static int run_line(char *text)
{
	struct line line = {};
	char *word;
	int i;

	while ((word = strsep(&text, " \t"))) {
		if (!*word)
			continue;
		if (line.words == WORDS_MAX)
			return reject("more than %d words in a line", WORDS_MAX);
		line.word[line.words++] = word;
	}
	if (!line.words || *line.word[0] == '#')
		return 0;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = &commands[i];

		if (strcmp(line.word[0], c->noun) ||
		    (c->verb && (line.words < 2 || strcmp(line.word[1], c->verb))))
			continue;
		if (line.words < c->words)
			return reject("%s %s: words are missing", c->noun, c->verb ?: "");
		return c->run(&line);
	}
	return reject("%s %s: no such command", line.word[0], line.words > 1 ? line.word[1] : "");
}

static ssize_t ctl_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char *text, *rest, *one;
	int err = 0;

	if (len > SZ_1M)
		return -E2BIG;
	text = memdup_user_nul(from, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	mutex_lock(&ctl_lock);
	while (!err && (one = strsep(&rest, "\n")))
		err = run_line(one);
	mutex_unlock(&ctl_lock);
	kfree(text);
	return err ?: len;
}

const struct file_operations vr_ctl_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= ctl_write,
};
