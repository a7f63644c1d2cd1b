// SPDX-License-Identifier: GPL-2.0
/* Does fq have bands, and with them its fast path? */
#include <net/pkt_sched.h>

int probe[FQ_BANDS] = { TCA_FQ_PRIOMAP };
