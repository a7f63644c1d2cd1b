// SPDX-License-Identifier: GPL-2.0
//
// What keeps the time of this host, asked how good it is.
#ifndef TURNPIKE_TOOLS_CLOCK_READING_H
#define TURNPIKE_TOOLS_CLOCK_READING_H

#include <cstdint>
#include <memory>
#include <string>

#include "../command.h"

namespace turnpike {

// CLOCK_REALTIME, at one moment.
struct ClockReading {
	std::int64_t error_ns;		// right to that
	std::int64_t drift_ppb;		// what the source says that the error grows by, until it is asked again
	std::int64_t age_ns;		// the source has not heard its reference for so long; not in the error
	std::string reference;		// whom it follows, as the source calls him
};

// Nothing keeps the time at present, or nothing is known of it: a sentence. The clock goes on by itself.
class ClockLost : public Error {
public:
	using Error::Error;
};

// The clock is being set: what was known of it before is void.
class ClockUnsettled : public ClockLost {
public:
	using ClockLost::ClockLost;
};

class ClockSource {
public:
	virtual ~ClockSource() = default;

	virtual std::string name() const = 0;

	// Throws ClockLost or ClockUnsettled.
	virtual ClockReading read() = 0;
};

struct ClockSourceOptions {
	std::string name;		// chrony, ptp4l, kernel, or auto: the first of these that keeps time
	std::string uds;		// ptp4l's socket
	bool nic;			// of ptp4l: how good the NIC's clock is, not the system's
};

// auto: the one that keeps time now. Throws ClockLost, with what each said, if none does.
std::unique_ptr<ClockSource> clock_source(const ClockSourceOptions &options);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCK_READING_H
