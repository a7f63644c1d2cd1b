// SPDX-License-Identifier: GPL-2.0
/*
 * What an ACK foretells (On-Ramp, section 3.3, figures 4 and 6).  Of a TCP flow it has the delays
 * of the packet acked last beside the one-way delay of the next packet to leave, by the rack's
 * own clock.
 *
 *   sender   ---+-----------------------+--+---------------
 *                \ acked            ACK /    \ next
 *                 \                    /      \
 *   receiver ------+----------------+-+--------+-----------
 *               owd                 host        next owd
 *
 * All times are of a last bit that has left a NIC or come to one. RTT is from the packet's leaving
 * to the ACK's coming; host is what of it the receiver took. A packet that left twice makes no
 * row, nor does one that was lost. Data packets are marks by flow and sequence number; where
 * two meet the newer stays: at 5 million packets a second 1 % of marks that live for 0.5 ms.
 *
 * Only with rows to write to: vrack_phc.ko pairs=N, and of NICs with a clock.
 */
#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "vr.h"

#define MARK_BITS	18	/* 262144 packets: ten times what the buffers of two switches hold */
#define FLOW_BITS	14	/* flows that send at a time, a hundred of each of 160 hosts */
#define ROWS_MAX	(1U << 22)	/* 200 MB */

static unsigned int pairs_rows;
module_param_named(pairs, pairs_rows, uint, 0444);
MODULE_PARM_DESC(pairs, "Pairs of packets to keep, 0 to 4194304 (default 0: none)");

/* Delays of a packet that was acked. */
struct acked {
	u64 owd_ps;
	u64 rtt_ps;
	u64 host_ps;
};

struct mark {
	u64 name;		/* 0: none */
	u64 sent_ps;		/* 0: more than once */
	u64 arrived_ps;		/* 0: not yet */
	u64 answered_ps;	/* the first ACK up to here left; 0: not yet */
	struct acked before;	/* was acked last when this left, */
	bool next;		/* as the first since then */
	u16 from;		/* node */
};

struct flow {
	u32 name;
	bool fresh;		/* nothing has left since the ACK */
	struct acked acked;
};

struct row {
	u64 ps;
	u64 owd_ps;
	struct acked before;
	u16 from;
	u16 to;
};

static struct pairs {
	spinlock_t lock;	/* all below; bottom halves off; inside vrack.lock */
	struct mark mark[1 << MARK_BITS];
	struct flow flow[1 << FLOW_BITS];
	u64 missed;
	u32 rows;
	struct row row[];
} *pairs;

static struct dentry *file;

bool vr_pairs_on(void)
{
	return pairs;
}

static struct mark *place(u64 name)
{
	return &pairs->mark[hash_64(name, MARK_BITS)];
}

/* The mark of @name if that left once; NULL if not. */
static struct mark *find(u64 name)
{
	struct mark *mark = place(name);

	return mark->name == name && mark->sent_ps ? mark : NULL;
}

static struct flow *flow_of(u64 name)
{
	return &pairs->flow[hash_32(name >> 32, FLOW_BITS)];
}

static void mark_sent(u64 name, u16 from, u64 ps)
{
	struct mark *mark = place(name);
	struct flow *flow = flow_of(name);

	if (mark->name == name) {
		mark->sent_ps = 0;
		return;
	}
	*mark = (struct mark){ .name = name, .sent_ps = ps, .from = from };
	if (flow->name == name >> 32 && flow->fresh) {
		mark->before = flow->acked;
		mark->next = true;
		flow->fresh = false;
	}
}

/* The last bit of data up to @name has left node @from. */
void vr_pairs_sent(u64 name, u16 from, u64 ps)
{
	spin_lock_bh(&pairs->lock);
	mark_sent(name, from, ps);
	spin_unlock_bh(&pairs->lock);
}

static void add_row(const struct mark *mark, u16 to)
{
	if (pairs->rows == pairs_rows) {
		pairs->missed++;
		return;
	}
	pairs->row[pairs->rows] = (struct row) {
		.ps = mark->arrived_ps,
		.owd_ps = mark->arrived_ps - mark->sent_ps,
		.before = mark->before,
		.from = mark->from,
		.to = to,
	};
	WRITE_ONCE(pairs->rows, pairs->rows + 1);
}

/* It has come to node @to. */
void vr_pairs_arrived(u64 name, u16 to, u64 ps)
{
	struct mark *mark;

	spin_lock_bh(&pairs->lock);
	mark = find(name);
	if (mark && !mark->arrived_ps) {
		mark->arrived_ps = ps;
		if (mark->next)
			add_row(mark, to);
	}
	spin_unlock_bh(&pairs->lock);
}

/* An ACK up to @name has left the receiver, */
void vr_pairs_answered(u64 name, u64 ps)
{
	struct mark *mark;

	spin_lock_bh(&pairs->lock);
	mark = find(name);
	if (mark && mark->arrived_ps && !mark->answered_ps)
		mark->answered_ps = ps;
	spin_unlock_bh(&pairs->lock);
}

/* and has come to the sender. The first counts. */
void vr_pairs_acked(u64 name, u64 ps)
{
	struct mark *mark;

	spin_lock_bh(&pairs->lock);
	mark = find(name);
	if (mark && mark->answered_ps) {
		*flow_of(name) = (struct flow) {
			.name = name >> 32,
			.fresh = true,
			.acked.owd_ps = mark->arrived_ps - mark->sent_ps,
			.acked.rtt_ps = ps - mark->sent_ps,
			.acked.host_ps = mark->answered_ps - mark->arrived_ps,
		};
		mark->name = 0;
	}
	spin_unlock_bh(&pairs->lock);
}

void vr_pairs_reset(void)
{
	if (!pairs)
		return;
	spin_lock_bh(&pairs->lock);
	pairs->rows = 0;
	pairs->missed = 0;
	spin_unlock_bh(&pairs->lock);
}

/* ---- debugfs vrack/pairs ---- */

static void *pairs_start(struct seq_file *m, loff_t *pos)
{
	return *pos < READ_ONCE(pairs->rows) ? &pairs->row[*pos] : NULL;
}

static void *pairs_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return pairs_start(m, pos);
}

static void pairs_stop(struct seq_file *m, void *v)
{
}

static int pairs_show(struct seq_file *m, void *v)
{
	const struct row *row = v;

	if (row == pairs->row && pairs->missed)
		seq_printf(m, "# buffer full: %llu pairs not taken\n", pairs->missed);
	seq_printf(m, "%llu %s %s %llu %llu %llu %llu\n", div_u64(row->ps, VR_PS_PER_NS),
		   vrack.node[row->from]->name, vrack.node[row->to]->name,
		   div_u64(row->owd_ps, VR_PS_PER_NS),
		   div_u64(row->before.owd_ps, VR_PS_PER_NS),
		   div_u64(row->before.rtt_ps, VR_PS_PER_NS),
		   div_u64(row->before.host_ps, VR_PS_PER_NS));
	return 0;
}

static const struct seq_operations pairs_ops = {
	.start	= pairs_start,
	.next	= pairs_next,
	.stop	= pairs_stop,
	.show	= pairs_show,
};

static int pairs_open(struct inode *inode, struct file *opened)
{
	return seq_open(opened, &pairs_ops);
}

static const struct file_operations pairs_fops = {
	.owner		= THIS_MODULE,
	.open		= pairs_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

int vr_pairs_begin(void)
{
	struct dentry *dir;

	if (!pairs_rows)
		return 0;
	if (pairs_rows > ROWS_MAX) {
		pr_err("vrack_phc: pairs=%u: at most %u\n", pairs_rows, ROWS_MAX);
		return -EINVAL;
	}
	pairs = kvzalloc(struct_size(pairs, row, pairs_rows), GFP_KERNEL);
	if (!pairs)
		return -ENOMEM;
	spin_lock_init(&pairs->lock);
	dir = debugfs_lookup("vrack", NULL);
	file = debugfs_create_file("pairs", 0400, dir, NULL, &pairs_fops);
	dput(dir);
	return 0;
}

/* NICs and their clocks are gone. */
void vr_pairs_end(void)
{
	debugfs_remove(file);
	kvfree(pairs);
}
