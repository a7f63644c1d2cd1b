// SPDX-License-Identifier: GPL-2.0
//
// The clock that probes are stamped by, and what CLOCK_REALTIME is by it.
#ifndef TURNPIKE_TOOLS_CLOCKD_STAMP_CLOCK_H
#define TURNPIKE_TOOLS_CLOCKD_STAMP_CLOCK_H

#include <cstdint>
#include <memory>
#include <string>

namespace turnpike {

class StampClock {
public:
	virtual ~StampClock() = default;

	virtual std::string name() const = 0;
	virtual bool hardware() const = 0;

	// Of stamps.
	virtual double grain_ns() const = 0;

	// Looks at the clock, now and then. Throws Error if it is gone, or somebody else has set what is stamped.
	virtual void look() = 0;

	// A stamp, as it is told to peers; 0: it is not known yet.
	virtual std::int64_t told_ns(std::int64_t stamp_ns) const = 0;

	// What that is now.
	virtual std::int64_t now_ns() const = 0;

	// By which CLOCK_REALTIME may be off against stamps.
	virtual double error_ns() const = 0;
};

// CLOCK_REALTIME, by the kernel.
std::unique_ptr<StampClock> software_clock();

// The clock of a NIC, which stamps all as long as this lives; nic: peers are told of that clock itself, not of
// CLOCK_REALTIME. Throws Error if the NIC cannot, or somebody else has it stamp.
std::unique_ptr<StampClock> hardware_clock(const std::string &device, bool nic);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_STAMP_CLOCK_H
