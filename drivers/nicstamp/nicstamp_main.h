/* SPDX-License-Identifier: GPL-2.0 */
/* What nicstamp_main.c (TIMELY15) calls of upper files: consumers (nicstamp_sample.c), netlink. */
#ifndef NICSTAMP_MAIN_H
#define NICSTAMP_MAIN_H

void nicstamp_unsubscribe_all(void);
int nicstamp_genl_init(void);
void nicstamp_genl_exit(void);

#endif /* NICSTAMP_MAIN_H */
