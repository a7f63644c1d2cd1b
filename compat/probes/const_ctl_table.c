// SPDX-License-Identifier: GPL-2.0
/* Does a proc_handler get a const struct ctl_table? */
#include <linux/sysctl.h>

static int handle(const struct ctl_table *table, int write, void *buffer,
		  size_t *length, loff_t *position)
{
	return 0;
}

struct ctl_table probe_table = { .proc_handler = handle };
