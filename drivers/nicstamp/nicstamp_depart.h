/* SPDX-License-Identifier: GPL-2.0 */
/* Times of departure of data, by NIC stamps (TIMELY15) (nicstamp_depart.c). */
#ifndef NICSTAMP_DEPART_H
#define NICSTAMP_DEPART_H

#include <linux/types.h>

#include "include/nicstamp_sample.h"

struct nicstamp_stamp;

void nicstamp_depart_begin(const struct nicstamp_departures *departures);
void nicstamp_depart_end(const struct nicstamp_departures *departures);
bool nicstamp_depart_asked(void);
bool nicstamp_depart_wanted(const struct sock *sk, u32 end_seq);
bool nicstamp_depart_sent(const struct sock *sk, u32 end_seq, u32 tx_seq,
			  const struct nicstamp_stamp *stamp);

#endif /* NICSTAMP_DEPART_H */
