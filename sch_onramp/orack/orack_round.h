/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workers that go round all hosts (orack_round.c).  Not in ONRAMP21.
 */
#ifndef ORACK_ROUND_H
#define ORACK_ROUND_H

#include <linux/types.h>

struct onramp_net;
struct orack_contact;

void orack_round_open(struct onramp_net *on);
u32 orack_round_close(struct onramp_net *on, struct orack_contact *acking, u32 most);

#endif /* ORACK_ROUND_H */
