/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last qdisc of a namespace goes (orack_leave.c).  Not in ONRAMP21.
 */
#ifndef ORACK_LEAVE_H
#define ORACK_LEAVE_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct onramp_net;
struct orack_contact;

/* In a namespace. */
struct orack_leave_net {
	struct work_struct work;
	struct orack_contact *contacts;	/* hosts to tell that we want no receipts; RTNL */
	u32 count;			/* of these; RTNL */
};

void orack_leave(struct onramp_net *on);
void orack_leave_end(struct onramp_net *on);
void orack_leave_open(struct onramp_net *on);
void orack_leave_wait(struct onramp_net *on);

#endif /* ORACK_LEAVE_H */
