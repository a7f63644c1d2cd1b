// SPDX-License-Identifier: GPL-2.0
//
// A NIC's clock, /dev/ptpN, read beside the system's.
#ifndef TURNPIKE_TOOLS_PHC_H
#define TURNPIKE_TOOLS_PHC_H

#include <cstdint>
#include <optional>
#include <string>

#include "netns.h"

namespace turnpike {

// What the NIC's clock said between two moments of the system's.
struct Crossing {
	std::int64_t before_ns;
	std::int64_t nic_ns;
	std::int64_t after_ns;
};

// CLOCK_REALTIME between two looks at CLOCK_MONOTONIC: how far the two are apart.
struct ClockLook {
	std::int64_t before_ns;
	std::int64_t realtime_ns;
	std::int64_t after_ns;
};

// The kernel tells by CLOCK_REALTIME; `first' and `last' were taken around that. Nothing if
// that clock was set in between, or the times cannot be.
std::optional<Crossing> to_monotonic(const ClockLook &first, const Crossing &by_realtime,
				     const ClockLook &last);

// What drivers can do, the best first: both clocks at one moment by the hardware; the
// system's around the reading of the device; around all that the kernel does for it.
enum class PhcWay { kPrecise, kExtended, kPlain, kNone };

// After a reading failed with this number of errno. The kernel says ENODEV of a clock that is gone,
// but also where the hardware captured another clock than the one that keeps time.
PhcWay way_after(PhcWay way, int why);

class Phc {
public:
	// Throws Error.
	explicit Phc(int index);

	const std::string &path() const { return path_; }

	// By CLOCK_MONOTONIC; nothing if this reading is of no use. Throws Error when there is
	// no way to read the clock, or it is gone.
	std::optional<Crossing> read();

	// The same, by CLOCK_REALTIME.
	std::optional<Crossing> read_realtime();

private:
	bool precise(Crossing &crossing);
	bool extended(Crossing &crossing);
	bool plain(Crossing &crossing);

	std::string path_;
	File file_;
	PhcWay way_ = PhcWay::kPrecise;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_PHC_H
