// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs vrack/stats: one JSON object. A record of the sequence is a node,
 * so a large rack is read in pieces; the numbers of one node are of one
 * moment, those of two nodes need not be.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "vr.h"

static const char *const drop_name[VR_VERDICTS] = {
	[VR_DROP_BUFFER] = "buffer",
	[VR_DROP_DT] = "dt",
	[VR_DROP_COLOR] = "color",
	[VR_DROP_LIMIT] = "limit",
	[VR_DROP_POLICE] = "police",
	[VR_DROP_FCS] = "fcs",
};

static const char *const color_name[VR_COLORS] = {
	[VR_GREEN] = "green",
	[VR_RED] = "red",
};

void vr_stats_hist(struct seq_file *m, const char *name, const struct vr_hist *h)
{
	const char *comma = "";
	u32 i;

	seq_printf(m, "\"%s\":{\"count\":%llu,\"mean_ns\":%llu,\"max_ns\":%llu,\"buckets\":[",
		   name, h->count, h->count ? div64_u64(h->sum_ns, h->count) : 0, h->max_ns);
	for (i = 0; i < VR_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		seq_printf(m, "%s[%llu,%llu,%u]", comma, vr_hist_floor(i), vr_hist_floor(i + 1),
			   h->bucket[i]);
		comma = ",";
	}
	seq_puts(m, "]}");
}
EXPORT_SYMBOL_GPL(vr_stats_hist);

static u64 paused_ns(const struct vr_port *port, u64 now_ps)
{
	u64 ps = port->stat.paused_ps;

	if (port->paused)
		ps += now_ps - port->paused_since_ps;
	return div_u64(ps, VR_PS_PER_NS);
}

static void show_port(struct seq_file *m, const struct vr_port *port, u64 now_ps)
{
	const struct vr_port_stat *s = &port->stat;
	int i;

	seq_printf(m,
		   "\"%s\":{\"rate_bps\":%llu,\"tx_packets\":%llu,\"tx_wire_bytes\":%llu,\"ecn_marks\":%llu,\"pauses_sent\":%llu,\"paused_ns\":%llu,\"queue_bytes\":%llu,\"queue_max_bytes\":%llu,\"drops\":{",
		   port->name, port->rate_bps, s->tx_packets, s->tx_wire_bytes, s->ecn_marks,
		   s->pauses_sent, paused_ns(port, now_ps), port->waiting_bytes,
		   s->queue_max_bytes);
	for (i = VR_ADMIT + 1; i < VR_VERDICTS; i++)
		seq_printf(m, "%s\"%s\":%llu", i > VR_ADMIT + 1 ? "," : "", drop_name[i],
			   i == VR_DROP_FCS ? port->link.lost : s->drops[i]);
	seq_puts(m, "},");
	for (i = 0; i < VR_COLORS; i++)
		seq_printf(m, "\"%s\":{\"packets\":%llu,\"bytes\":%llu,\"drops\":%llu},",
			   color_name[i], s->color[i].packets, s->color[i].bytes,
			   s->color[i].drops);
	vr_stats_hist(m, "delay", port->delay);
	seq_puts(m, "}");
}

static void show_switch(struct seq_file *m, struct vr_node *node, u64 now_ps)
{
	struct vr_switch *sw = vr_switch(node);
	u16 i;

	seq_printf(m,
		   "\"%s\":{\"buffer_bytes\":%llu,\"buffer_max_bytes\":%llu,\"unrouted\":%llu,\"ports\":{",
		   node->name, sw->buffer_bytes, sw->used_max_bytes, sw->unrouted);
	for (i = 0; i < node->ports; i++) {
		if (i)
			seq_puts(m, ",");
		show_port(m, node->port[i], now_ps);
	}
	seq_puts(m, "}}");
}

static void show_nic(struct seq_file *m, struct vr_node *node, u64 now_ps)
{
	struct vr_nic *nic = vr_nic(node);
	struct vr_port *port = nic->port;

	seq_printf(m, "\"%s\":{\"rate_bps\":%llu,\"tx_packets\":%llu,\"tx_wire_bytes\":%llu,",
		   node->name, port ? port->rate_bps : 0, port ? port->stat.tx_packets : 0,
		   port ? port->stat.tx_wire_bytes : 0);
	seq_printf(m,
		   "\"rx_packets\":%llu,\"rx_wire_bytes\":%llu,\"rx_drops\":%llu,\"fcs_drops\":%llu,\"pause_ns\":%llu,\"synthetic_packets\":%llu,\"synthetic_ce\":%llu,\"tx_first_ps\":%llu,\"rx_first_ps\":%llu,\"rx_last_ps\":%llu,",
		   nic->rx_packets, nic->rx_wire_bytes, nic->rx_drops, port ? port->link.lost : 0,
		   port ? paused_ns(port, now_ps) : 0, nic->synth_packets, nic->synth_ce,
		   nic->tx_first_ps, nic->rx_first_ps, nic->rx_last_ps);
	vr_stats_hist(m, "delay", nic->delay_payload);
	seq_puts(m, ",");
	vr_stats_hist(m, "delay_ack", nic->delay_bare);
	seq_puts(m, "}");
}

/* Position 0 is the head, 1..n are nodes (NICs, then switches), n + 1 the tail. */
static struct vr_node *nth_node(loff_t n, bool *first_switch)
{
	struct vr_node *node;
	enum vr_kind kind;
	loff_t i = 0;

	*first_switch = false;
	for (kind = VR_NIC; kind <= VR_SWITCH; kind++) {
		bool first = kind == VR_SWITCH;

		list_for_each_entry(node, &vrack.nodes, list) {
			if (node->kind != kind)
				continue;
			if (++i == n) {
				*first_switch = first;
				return node;
			}
			first = false;
		}
	}
	return NULL;
}

static void *stats_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= vrack.nodes_count + 1 ? pos : NULL;
}

static void *stats_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return stats_start(m, pos);
}

static void stats_stop(struct seq_file *m, void *v)
{
}

static bool any_switch(void)
{
	struct vr_node *node;

	list_for_each_entry(node, &vrack.nodes, list)
		if (node->kind == VR_SWITCH)
			return true;
	return false;
}

static void show_record(struct seq_file *m, loff_t pos, u64 now_ps)
{
	struct vr_node *node;
	bool first_switch;

	if (pos == 0) {
		seq_printf(m, "{\"time_ns\":%llu,\"since_ns\":%llu,\"hops\":%llu,\"nics\":{\n",
			   div_u64(now_ps, VR_PS_PER_NS), div_u64(vrack.since_ps, VR_PS_PER_NS),
			   vrack.hops);
		return;
	}
	node = nth_node(pos, &first_switch);
	if (!node) {
		seq_puts(m, any_switch() ? "}" : "},\"switches\":{}");
		if (vr_phc_ops)
			vr_phc_ops->show(m, now_ps);
		seq_puts(m, "}\n");
		return;
	}
	if (first_switch)
		seq_puts(m, "},\"switches\":{\n");
	else if (pos > 1)
		seq_puts(m, ",\n");
	if (node->kind == VR_NIC)
		show_nic(m, node, now_ps);
	else
		show_switch(m, node, now_ps);
}

static int stats_show(struct seq_file *m, void *v)
{
	u64 now_ps;

	local_bh_disable();
	now_ps = vr_enter();
	show_record(m, *(loff_t *)v, now_ps);
	vr_leave();
	local_bh_enable();
	return 0;
}

static const struct seq_operations stats_ops = {
	.start	= stats_start,
	.next	= stats_next,
	.stop	= stats_stop,
	.show	= stats_show,
};

static int stats_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &stats_ops);
}

const struct file_operations vr_stats_fops = {
	.owner		= THIS_MODULE,
	.open		= stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

static void reset_port(struct vr_port *port, u64 now_ps)
{
	memset(&port->stat, 0, sizeof(port->stat));
	memset(port->delay, 0, sizeof(*port->delay));
	port->link.lost = 0;
	port->paused_since_ps = now_ps;
}

static void reset_node(struct vr_node *node, u64 now_ps)
{
	u16 i;

	for (i = 0; i < node->ports; i++)
		reset_port(node->port[i], now_ps);
	if (node->kind == VR_SWITCH) {
		vr_switch(node)->used_max_bytes = vr_switch(node)->used_bytes;
		vr_switch(node)->unrouted = 0;
	} else {
		struct vr_nic *nic = vr_nic(node);

		nic->rx_packets = 0;
		nic->rx_wire_bytes = 0;
		nic->rx_drops = 0;
		nic->synth_packets = 0;
		nic->synth_ce = 0;
		memset(nic->delay_payload, 0, sizeof(*nic->delay_payload));
		memset(nic->delay_bare, 0, sizeof(*nic->delay_bare));
	}
}

/* Counters to zero; queues and frames in flight stay as they are. */
void vr_stats_reset(void)
{
	struct vr_node *node;
	u64 now_ps;

	local_bh_disable();
	now_ps = vr_enter();
	list_for_each_entry(node, &vrack.nodes, list)
		reset_node(node, now_ps);
	if (vr_phc_ops)
		vr_phc_ops->reset();
	vrack.hops = 0;
	vrack.since_ps = now_ps;
	vr_leave();
	local_bh_enable();
}
