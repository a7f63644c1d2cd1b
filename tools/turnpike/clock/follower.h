// SPDX-License-Identifier: GPL-2.0
//
// What the kernel is told of this host's clock, reading by reading. State in, event in, what to tell out.
#ifndef TURNPIKE_TOOLS_CLOCK_FOLLOWER_H
#define TURNPIKE_TOOLS_CLOCK_FOLLOWER_H

#include <cstdint>

#include "reading.h"

namespace turnpike {

// The kernel takes no larger error (ONRAMP_A_CLOCK_ERROR).
constexpr std::int64_t kClockErrorMaxNs = 1000000;

// Polls for which one reading counts. Fewer would end grade (a) for a reading that comes late.
constexpr unsigned kClockPolls = 4;

// What the kernel is told: right to error_ns for so many seconds; 0 and 0: not disciplined.
struct ClockTold {
	std::uint32_t error_ns;
	std::uint32_t seconds;

	bool operator==(const ClockTold &) const = default;
};

class ClockFollower {
public:
	// drift_ppb: of a clock that nothing steers.
	ClockFollower(unsigned poll_s, std::int64_t drift_ppb) : poll_s_(poll_s), drift_ppb_(drift_ppb) {}

	// A reading came. What is told holds until the next, so that the error has its growth in it.
	ClockTold heard(const ClockReading &reading, std::int64_t now_ns);

	// None came. The last one counts on, with the drift since; not beyond the polls for which it was to count.
	ClockTold lost(std::int64_t now_ns) const;

	// The clock is being set.
	ClockTold unsettled();

private:
	ClockTold on_its_own(std::int64_t now_ns, std::int64_t more_ns) const;

	unsigned poll_s_;
	std::int64_t drift_ppb_;
	std::int64_t error_ns_ = 0;	// of the last reading; 0: there was none
	std::int64_t heard_ns_ = 0;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCK_FOLLOWER_H
