// SPDX-License-Identifier: GPL-2.0
/* Has <asm/unaligned.h> moved to <linux/unaligned.h>? */
#include <linux/unaligned.h>

u32 probe(const u8 *bytes);
u32 probe(const u8 *bytes)
{
	return get_unaligned_be32(bytes);
}
