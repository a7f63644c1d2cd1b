// SPDX-License-Identifier: GPL-2.0
/* Are the nodes of timers' queues linked? */
#include <linux/hrtimer.h>
#include <linux/timerqueue.h>

struct timerqueue_linked_node *probe(struct timerqueue_linked_head *head);
struct timerqueue_linked_node *probe(struct timerqueue_linked_head *head)
{
	return timerqueue_linked_first(head);
}
