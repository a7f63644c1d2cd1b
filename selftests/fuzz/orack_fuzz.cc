// SPDX-License-Identifier: GPL-2.0
// A datagram of any neighbour: sch_onramp/orack/orack_wire.h
//
// What is taken is within its limits, and written again is the same bytes: nothing in a good
// datagram is without a meaning.
#include "fuzz.h"

#include <algorithm>

#include "sch_onramp/orack/orack_wire.h"

namespace {

void check_entries(const orack_datagram &d)
{
	for (u32 i = 0; i < d.h.count; i++) {
		orack_entry e;

		orack_read_entry(&d, i, &e);
		HOLDS(orack_kind_is_price(d.h.kind) || orack_entry_is_good(&d.h, &e));
	}
}

u32 write_price_again(u8 *to, const orack_datagram &d)
{
	orack_price_entry price;

	orack_read_price(&d, &price);
	HOLDS(price.price_q <= ORACK_PRICE_MAX_Q);
	HOLDS(d.h.kind == ORACK_PRICE || price.told_q <= ORACK_PRICE_MAX_Q);
	HOLDS(price.weight && price.weight <= ORACK_WEIGHT_MAX);
	return orack_encode_price(to, &d.h, &price);
}

u32 write_again(u8 *to, const orack_datagram &d)
{
	orack_entry entries[ORACK_ENTRIES_MAX];
	orack_clock_entry clock;

	if (d.h.kind == ORACK_CLOCK) {
		orack_read_clock(&d, &clock);
		HOLDS(clock.error_ns <= ORACK_ERROR_MAX_NS);
		return orack_encode_clock(to, &d.h, &clock);
	}
	if (orack_kind_is_price(d.h.kind))
		return write_price_again(to, d);
	for (u32 i = 0; i < d.h.count; i++)
		orack_read_entry(&d, i, &entries[i]);
	return orack_encode(to, &d.h, entries);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
	std::vector<u8> copy = exact_copy(data, bytes);
	std::vector<u8> again(ORACK_BYTES_MAX);
	orack_datagram d = {};
	u32 length;

	if (orack_decode(copy.data(), copy.size(), &d) != ORACK_GOOD)
		return 0;
	HOLDS(d.h.count >= 1 && d.h.count <= ORACK_ENTRIES_MAX);
	HOLDS(d.maced_bytes + (d.mac ? ORACK_MAC_BYTES : 0) == bytes);
	check_entries(d);
	length = write_again(again.data(), d);
	HOLDS(length == d.maced_bytes && std::equal(again.begin(), again.begin() + length, copy.begin()));
	return 0;
}
