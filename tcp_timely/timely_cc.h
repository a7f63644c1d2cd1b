/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion controls of TIMELY15 and ECNDELAY16 (timely_cc.c).
 */
#ifndef TIMELY_CC_H
#define TIMELY_CC_H

int timely_cc_init(void);
void timely_cc_exit(void);

#endif /* TIMELY_CC_H */
