// SPDX-License-Identifier: GPL-2.0
/* Load and unload. The rack itself is described through debugfs (vr_ctl.c). */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "vr.h"

struct vrack vrack;
EXPORT_SYMBOL_GPL(vrack);
static struct dentry *dir;

/* Number and list a new node. -ENOSPC when there are VR_NODES_MAX. */
int vr_node_init(struct vr_node *node, enum vr_kind kind, const char *name)
{
	if (vrack.nodes_count == VR_NODES_MAX)
		return -ENOSPC;
	node->kind = kind;
	strscpy(node->name, name, sizeof(node->name));
	node->id = vrack.nodes_count;
	vrack.node[vrack.nodes_count++] = node;
	list_add_tail(&node->list, &vrack.nodes);
	return 0;
}

static void cancel_events(struct vr_node *node)
{
	u16 i;

	for (i = 0; i < node->ports; i++) {
		vr_event_cancel(&node->port[i]->tx_done);
		vr_event_cancel(&node->port[i]->link.arrival);
	}
	if (node->kind == VR_NIC)
		vr_event_cancel(&vr_nic(node)->irq);
}

/* No event runs and no frame enters from here on. */
static void stop(void)
{
	struct vr_node *node;

	local_bh_disable();
	vr_enter();
	vrack.up = false;
	vr_source_free_all();
	vr_series_cancel();
	list_for_each_entry(node, &vrack.nodes, list)
		cancel_events(node);
	vr_leave();
	local_bh_enable();
	vr_engine_stop();
}

static void free_ports(struct vr_node *node)
{
	u16 i;

	for (i = 0; i < node->ports; i++)
		vr_port_free(node->port[i]);
	kfree(node->port);
}

/* Free what was dropped since. */
static void flush(void)
{
	local_bh_disable();
	vr_enter();
	vr_leave();
	local_bh_enable();
}

static void free_all(void)
{
	struct vr_node *node, *next;

	stop();
	/* interfaces first: their stop still looks at ports */
	list_for_each_entry(node, &vrack.nodes, list)
		if (node->kind == VR_NIC)
			vr_nic_unregister(vr_nic(node));
	list_for_each_entry_safe(node, next, &vrack.nodes, list) {
		list_del(&node->list);
		free_ports(node);
		if (node->kind == VR_NIC)
			vr_nic_free(vr_nic(node));
		else
			vr_switch_free(vr_switch(node));
	}
	vr_series_free();
	flush();
}

static int __init vrack_init(void)
{
	int err;

	INIT_LIST_HEAD(&vrack.nodes);
	err = vr_frames_init();
	if (err)
		return err;
	err = vr_engine_init();
	if (err) {
		vr_frames_exit();
		return err;
	}
	dir = debugfs_create_dir("vrack", NULL);
	debugfs_create_file("ctl", 0200, dir, NULL, &vr_ctl_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &vr_stats_fops);
	debugfs_create_file("series", 0400, dir, NULL, &vr_series_fops);
	return 0;
}

static void __exit vrack_exit(void)
{
	debugfs_remove(dir);
	free_all();
	vr_engine_exit();
	vr_frames_exit();
}

module_init(vrack_init);
module_exit(vrack_exit);

MODULE_DESCRIPTION("Virtual rack: NICs and switches for tests");
MODULE_LICENSE("GPL");
