// SPDX-License-Identifier: GPL-2.0
//
// Names of a family's counters, each beside its number in include/uapi/turnpike.h.
#ifndef TURNPIKE_COUNTER_NAMES_H
#define TURNPIKE_COUNTER_NAMES_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace turnpike {

struct CounterName {
	unsigned number;	// in the family's enum
	const char *name;	// for people, and in JSON
};

// Has each counter from first to last its name, in the enum's order?
template <std::size_t kCount>
constexpr bool names_all(const std::array<CounterName, kCount> &names, unsigned first, unsigned last)
{
	for (std::size_t i = 0; i < kCount; i++) {
		if (names[i].number != first + i)
			return false;
	}
	return kCount == last - first + 1;
}

// The number of the counter with that name, which there is.
template <std::size_t kCount>
constexpr unsigned number_of(const std::array<CounterName, kCount> &names, std::string_view name)
{
	return std::ranges::find(names, name, &CounterName::name)->number;
}

} // namespace turnpike

#endif // TURNPIKE_COUNTER_NAMES_H
