/* SPDX-License-Identifier: GPL-2.0 */
/* All that a plugin of tc is built with: no header and no source of iproute2 is needed. */
#ifndef TURNPIKE_TC_PLUGIN_H
#define TURNPIKE_TC_PLUGIN_H

#include <string.h>

#include "tools/tc/tc_types.h"
#include "tools/tc/tc_calls.h"

/* tc's room for a message whose actions are being parsed. */
#define TC_MAX_MESSAGE_BYTES 16384

/* TC_PRINT()'s functions without colour. */
#define TC_PRINT_PLAIN(name, value_type)						\
	static inline void print_##name(enum output_type type, const char *key,		\
					const char *format, value_type value)		\
	{										\
		print_color_##name(type, COLOR_NONE, key, format, value);		\
	}

TC_PRINT_PLAIN(bool, bool)
TC_PRINT_PLAIN(float, double)
TC_PRINT_PLAIN(int, int)
TC_PRINT_PLAIN(lluint, unsigned long long)
TC_PRINT_PLAIN(null, const char *)
TC_PRINT_PLAIN(s64, int64_t)
TC_PRINT_PLAIN(size, __u64)
TC_PRINT_PLAIN(string, const char *)
TC_PRINT_PLAIN(u64, uint64_t)
TC_PRINT_PLAIN(uint, unsigned int)

/* @attributes gets those below @nest, by their number, up to @max. */
static inline void parse_rtattr_nested(struct rtattr *attributes[], int max, struct rtattr *nest)
{
	parse_rtattr_flags(attributes, max, RTA_DATA(nest), RTA_PAYLOAD(nest), NLA_F_NESTED);
}

/* Attributes are aligned to 4 bytes. */
static inline __u8 rta_getattr_u8(const struct rtattr *attribute)
{
	return *(const __u8 *)RTA_DATA(attribute);
}

static inline __u32 rta_getattr_u32(const struct rtattr *attribute)
{
	return *(const __u32 *)RTA_DATA(attribute);
}

static inline __u64 rta_getattr_u64(const struct rtattr *attribute)
{
	__u64 value;

	memcpy(&value, RTA_DATA(attribute), sizeof(value));
	return value;
}

#endif
