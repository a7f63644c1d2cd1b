/* SPDX-License-Identifier: GPL-2.0 */
/* Times of arrival of data, by NIC stamps (TIMELY15) (nicstamp_arrive.c). */
#ifndef NICSTAMP_ARRIVE_H
#define NICSTAMP_ARRIVE_H

#include <linux/atomic.h>

#include "include/nicstamp_sample.h"

struct nicstamp_stamp;

int nicstamp_arrive_init(void);
void nicstamp_arrive_exit(void);
void nicstamp_arrive_begin(const atomic_t *wanted);
void nicstamp_arrive_end(const atomic_t *wanted);
bool nicstamp_arrive_asked(void);
bool nicstamp_arrive_any(void);
void nicstamp_arrive_enter(const struct nicstamp_tuple *tuple, u32 end_seq,
			   const struct nicstamp_stamp *stamp);
bool nicstamp_arrive_get(const struct nicstamp_tuple *tuple, u32 end_seq,
			 struct nicstamp_arrived *arrived);

#endif /* NICSTAMP_ARRIVE_H */
