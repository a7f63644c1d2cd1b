/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tcp_timely has from this module (onramp_timely.c).  Model: ONRAMP21, TIMELY15.
 */
#ifndef ONRAMP_TIMELY_H
#define ONRAMP_TIMELY_H

int onramp_timely_init(void);
void onramp_timely_exit(void);

#endif /* ONRAMP_TIMELY_H */
