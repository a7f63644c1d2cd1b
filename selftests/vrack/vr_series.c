// SPDX-License-Identifier: GPL-2.0
/* Queue length over time: chosen ports sampled at one interval into a fixed buffer. */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/seq_file.h>

#include "vr.h"

#define SERIES_PORTS	16
#define SERIES_ROWS	(1U << 19)	/* 12 MB; later rows are not taken, and the file says so */

struct row {
	u64 time_ps;
	u64 tx_wire_bytes;
	u32 queue_bytes;
	u32 port;	/* index in series.port */
};

static struct {
	struct vr_event event;
	struct vr_port *port[SERIES_PORTS];
	u32 ports;
	u64 interval_ps;
	struct row *row;
	u32 rows;
	u64 missed;
} series;

static void sample(struct vr_event *ev, u64 now_ps)
{
	u32 i;

	for (i = 0; i < series.ports; i++) {
		struct vr_port *port = series.port[i];

		if (series.rows == SERIES_ROWS) {
			series.missed++;
			continue;
		}
		series.row[series.rows++] = (struct row) {
			.time_ps = now_ps,
			.tx_wire_bytes = port->stat.tx_wire_bytes,
			.queue_bytes = min_t(u64, port->waiting_bytes, U32_MAX),
			.port = i,
		};
	}
	vr_event_set(ev, now_ps + series.interval_ps);
}

/* Lock not held. Starts anew; what an earlier series held is gone. */
int vr_series_start(struct vr_port **port, u32 ports, u64 interval_ps)
{
	u64 now_ps;

	if (!ports || ports > SERIES_PORTS || !interval_ps)
		return -EINVAL;
	if (!series.row) {
		series.row = kvmalloc_array(SERIES_ROWS, sizeof(*series.row), GFP_KERNEL);
		if (!series.row)
			return -ENOMEM;
		vr_event_init(&series.event, false, sample);
	}
	local_bh_disable();
	now_ps = vr_enter();
	memcpy(series.port, port, ports * sizeof(*port));
	series.ports = ports;
	series.interval_ps = interval_ps;
	series.rows = 0;
	series.missed = 0;
	vr_event_set(&series.event, now_ps);
	vr_leave();
	local_bh_enable();
	return 0;
}

/* Lock held. */
void vr_series_cancel(void)
{
	if (series.row)
		vr_event_cancel(&series.event);
}

/* After vr_series_cancel(). */
void vr_series_free(void)
{
	kvfree(series.row);
	memset(&series, 0, sizeof(series));
}

static void *series_start(struct seq_file *m, loff_t *pos)
{
	return *pos < READ_ONCE(series.rows) ? &series.row[*pos] : NULL;
}

static void *series_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return series_start(m, pos);
}

static void series_stop(struct seq_file *m, void *v)
{
}

static int series_show(struct seq_file *m, void *v)
{
	const struct row *row = v;
	const struct vr_port *port = series.port[row->port];

	if (row == series.row && series.missed)
		seq_printf(m, "# buffer full: %llu samples not taken\n", series.missed);
	seq_printf(m, "%llu %s.%s %u %llu\n", div_u64(row->time_ps, VR_PS_PER_NS),
		   port->node->name, port->name, row->queue_bytes, row->tx_wire_bytes);
	return 0;
}

static const struct seq_operations series_ops = {
	.start	= series_start,
	.next	= series_next,
	.stop	= series_stop,
	.show	= series_show,
};

static int series_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &series_ops);
}

const struct file_operations vr_series_fops = {
	.owner		= THIS_MODULE,
	.open		= series_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};
