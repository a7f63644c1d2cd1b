// SPDX-License-Identifier: GPL-2.0
// Options of a TCP header that anybody wrote: include/turnpike_tcp_options.h
#include "fuzz.h"

#include "include/turnpike_tcp_options.h"

// What was read is used.
static volatile u32 sink;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	std::vector<u8> copy = exact_copy(data, bytes);
	tp_tcp_options list = { copy.data(), copy.data() + copy.size() };
	const u8 *behind = copy.data();
	tp_tcp_option option;
	u32 sum = 0;

	while (tp_tcp_option_next(&list, &option)) {
		HOLDS(option.kind != TP_TCP_OPTION_NOP && option.kind != TP_TCP_OPTION_END);
		HOLDS(option.value >= behind + 2 && option.value + option.bytes <= list.end);
		behind = option.value + option.bytes;
		for (u32 i = 0; i < option.bytes; i++)
			sum += option.value[i];
		if (option.kind == TP_TCP_OPTION_SACK)
			for (u32 i = 0; i < tp_tcp_sack_blocks(&option); i++)
				sum += tp_tcp_value32(option.value + i * TP_TCP_BLOCK_BYTES + 4);
	}
	HOLDS(list.at == list.end);
	sink = sum;
	return 0;
}
