/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last qdisc of a namespace goes (orack_leave.c).
 */
#ifndef ORACK_LEAVE_H
#define ORACK_LEAVE_H

struct onramp_net;

void orack_leave(struct onramp_net *on);
void orack_leave_end(struct onramp_net *on);
void orack_leave_open(struct onramp_net *on);
void orack_leave_wait(struct onramp_net *on);

#endif /* ORACK_LEAVE_H */
