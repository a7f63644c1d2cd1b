// SPDX-License-Identifier: GPL-2.0
//
// Percentiles of samples that are all there, by nearest rank.
#ifndef TURNPIKE_TOOLS_PERCENTILE_H
#define TURNPIKE_TOOLS_PERCENTILE_H

#include <cstddef>
#include <vector>

namespace turnpike {

// Of sorted values, at least one, the smallest that so many hundredths (0 to 100) of them are not above.
template <typename Value> Value percentile(const std::vector<Value> &sorted, unsigned hundredths)
{
	std::size_t rank = (sorted.size() * hundredths + 99) / 100;

	return sorted.at(rank ? rank - 1 : 0);
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_PERCENTILE_H
