/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink family of TLT (TLT21) (tlt_genl.c).
 */
#ifndef TLT_GENL_H
#define TLT_GENL_H

int tlt_genl_init(void);
void tlt_genl_exit(void);

#endif /* TLT_GENL_H */
