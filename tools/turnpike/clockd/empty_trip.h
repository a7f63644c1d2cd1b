// SPDX-License-Identifier: GPL-2.0
//
// How good the offset of one strip is. A strip is as wide as the round trip of the earliest probes. On the same path
// the empty round trip is always the same, so that a wider strip is a window in which some queue was never empty, on
// one of the ways or on both: its offset is wrong by half of that at most. A strip as narrow as any is exact, and known
// to be.
//
//   width |     .        .
//         | .       .           .
//         |    .  .    .   . .     .  <--- the least: the empty round trip, if others are close to it
//         +-------------------------- windows
#ifndef TURNPIKE_TOOLS_CLOCKD_EMPTY_TRIP_H
#define TURNPIKE_TOOLS_CLOCKD_EMPTY_TRIP_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "strip_fit.h"

namespace turnpike {

class EmptyTrip {
public:
	// The sigma of this strip's offset, which counts for those to come. grain_ns: of stamps.
	double sigma_ns(const Strip &strip, double grain_ns)
	{
		widths_ns_[strips_++ % kStrips] = strip.width_ns;
		std::array<double, kStrips> widths_ns = widths_ns_;
		auto end = widths_ns.begin() + std::min(strips_, kStrips);
		if (end - widths_ns.begin() < kKnown)
			return std::hypot(grain_ns, strip.sigma_ns);
		std::partial_sort(widths_ns.begin(), widths_ns.begin() + kLeast, end);
		// anything from all of it on one way to all of it on the other
		double queue_ns = (strip.width_ns - widths_ns[0]) / 2 / kUniform;
		// the least of all may have had a queue, too, as far as the next ones are from it
		double doubt_ns = (widths_ns[kLeast - 1] - widths_ns[0]) / 2;
		return std::hypot(grain_ns, queue_ns, doubt_ns);
	}

	// No window was as narrow, and many were seen: its line is not the clocks'.
	bool is_narrower(double width_ns, double grain_ns) const
	{
		auto end = widths_ns_.begin() + std::min(strips_, kStrips);

		return end - widths_ns_.begin() >= kKnown &&
		       width_ns < *std::min_element(widths_ns_.begin(), end) - kGrains * grain_ns;
	}

private:
	// Stamps at both ends, of both ways.
	static constexpr double kGrains = 4;
	// A path that became longer is taken for a queue for so long.
	static constexpr std::size_t kStrips = 32;
	// Of fewer strips the least says nothing.
	static constexpr std::ptrdiff_t kKnown = 8;
	// So many as narrow as each other are no accident.
	static constexpr std::ptrdiff_t kLeast = 4;
	// The root of 3: the half width of a uniform distribution, in its sigmas.
	static constexpr double kUniform = 1.7320508;

	std::array<double, kStrips> widths_ns_ = {};
	std::size_t strips_ = 0;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_EMPTY_TRIP_H
