// SPDX-License-Identifier: GPL-2.0
/* A kernel whose fq takes the option has a name for its attribute. */
#include <linux/pkt_sched.h>

enum { TCA_FQ_OFFLOAD_HORIZON };
