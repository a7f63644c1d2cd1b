// SPDX-License-Identifier: GPL-2.0
/* Is there a function by which qdiscs count their packets? */
#include <net/sch_generic.h>

void probe(struct Qdisc *sch);
void probe(struct Qdisc *sch)
{
	qdisc_qlen_inc(sch);
}
