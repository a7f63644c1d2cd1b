// SPDX-License-Identifier: GPL-2.0
/* Is there a flag for workqueues whose work stays on the CPU that queued it? */
#include <linux/workqueue.h>

struct workqueue_struct *probe(void);
struct workqueue_struct *probe(void)
{
	return alloc_workqueue("probe", WQ_PERCPU, 0);
}
