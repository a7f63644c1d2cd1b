/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times of the NIC (orack_nic.c).  Model: On-Ramp (ONRAMP21, section 3.3).
 */
#ifndef ORACK_NIC_H
#define ORACK_NIC_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct onramp_arrival;

DECLARE_STATIC_KEY_FALSE(orack_nic_attached);

bool __orack_nic_arrival(const struct onramp_arrival *a, u64 now_ns, u64 *rx_ns);
void orack_nic_set_hears(bool hears);
int orack_nic_init(void);
void orack_nic_exit(void);

/* True: the NIC had the data at *rx_ns of CLOCK_MONOTONIC. */
static inline bool orack_nic_arrival(const struct onramp_arrival *a, u64 now_ns, u64 *rx_ns)
{
	return static_branch_unlikely(&orack_nic_attached) &&
	       __orack_nic_arrival(a, now_ns, rx_ns);
}

#endif /* ORACK_NIC_H */
