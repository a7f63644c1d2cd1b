/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals other than the RTT, from an ACK: without the way back (TIMELY15, section 2;
 * timely_forward.c), or of single hops (CS244; timely_hops.c).
 */
#ifndef TIMELY_SIGNAL_H
#define TIMELY_SIGNAL_H

#include <linux/types.h>

struct rate_sample;
struct sock;
struct timely_ack;

int timely_forward_table_init(void);
void timely_forward_table_exit(void);
bool timely_forward_ack(const struct sock *sk, const struct rate_sample *rs,
			struct timely_ack *a);
void timely_forward_forget(const struct sock *sk);

bool timely_hops_ack(const struct sock *sk, const struct rate_sample *rs, u32 signal,
		     struct timely_ack *a);

#endif /* TIMELY_SIGNAL_H */
