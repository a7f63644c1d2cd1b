// SPDX-License-Identifier: GPL-2.0
/* A kernel that counts in these flags defines where the count begins. */
#include <net/tcp.h>

#ifdef TCP_ACCECN_CEP_INIT_OFFSET
#error "this kernel has accurate ECN"
#endif
