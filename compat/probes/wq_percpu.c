// SPDX-License-Identifier: GPL-2.0
/* Does a workqueue whose work stays on the CPU that queued it have to say so? */
#include <linux/workqueue.h>

struct workqueue_struct *probe(void);
struct workqueue_struct *probe(void)
{
	return alloc_workqueue("probe", WQ_PERCPU, 0);
}
