// SPDX-License-Identifier: GPL-2.0
#include <asm/unaligned.h>

u32 probe(const u8 *bytes);
u32 probe(const u8 *bytes)
{
	return get_unaligned_be32(bytes);
}
