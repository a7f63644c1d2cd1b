/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How receipts are made (orack_acker.c).  Model: OR-ACKs (ONRAMP21, section 3.1).
 */
#ifndef ORACK_ACKER_H
#define ORACK_ACKER_H

struct onramp_arrival;
struct onramp_net;
struct sk_buff;

void orack_acker_arrived(struct onramp_net *on, const struct sk_buff *skb,
			 const struct onramp_arrival *a);
int orack_acker_open(struct onramp_net *on);
void orack_acker_close(struct onramp_net *on);

#endif /* ORACK_ACKER_H */
