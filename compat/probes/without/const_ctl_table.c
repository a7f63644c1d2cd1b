// SPDX-License-Identifier: GPL-2.0
#include <linux/sysctl.h>

static int handle(struct ctl_table *table, int write, void *buffer, size_t *length,
		  loff_t *position)
{
	return 0;
}

struct ctl_table probe_table = { .proc_handler = handle };
