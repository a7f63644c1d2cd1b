/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTTs by the NIC's stamps, as TIMELY15 has them (timely_nic.c).
 */
#ifndef TIMELY_NIC_H
#define TIMELY_NIC_H

struct sock;
struct timely_ack;
struct timely_config;
struct timely_event;

int timely_nic_init(void);
void timely_nic_exit(void);
void timely_nic_event(struct sock *sk, const struct timely_config *c, const struct timely_ack *a,
		      struct timely_event *ev);
void timely_nic_forget(struct sock *sk);

#endif /* TIMELY_NIC_H */
