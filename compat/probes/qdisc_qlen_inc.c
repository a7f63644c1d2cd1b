// SPDX-License-Identifier: GPL-2.0
/* Do qdiscs count what they hold by a function? */
#include <net/sch_generic.h>

void probe(struct Qdisc *sch);
void probe(struct Qdisc *sch)
{
	qdisc_qlen_inc(sch);
}
