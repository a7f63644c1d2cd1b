// SPDX-License-Identifier: GPL-2.0
/* Is there a helper that also dequeues a packet after a peek? */
#include <net/sch_generic.h>

struct sk_buff *probe(struct Qdisc *sch);
struct sk_buff *probe(struct Qdisc *sch)
{
	return qdisc_dequeue_internal(sch, false);
}
