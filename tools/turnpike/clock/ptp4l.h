// SPDX-License-Identifier: GPL-2.0
//
// ptp4l, by pmc and ptp4l's management socket; and how far the system's clock is from the NIC's that ptp4l steers.
#ifndef TURNPIKE_TOOLS_CLOCK_PTP4L_H
#define TURNPIKE_TOOLS_CLOCK_PTP4L_H

#include <array>
#include <cstddef>

#include "../phc.h"
#include "reading.h"

namespace turnpike {

// What one question to ptp4l gave.
struct PtpStatus {
	std::int64_t offset_ns;		// from the master, of the newest Sync
	std::int64_t delay_ns;		// mean, to the master
	std::int64_t synced_ns;		// when the newest Sync came, by the clock itself
	std::int64_t utc_offset_s;	// by which the clock is ahead of CLOCK_REALTIME when both are right
	std::string grandmaster;
	std::string device;		// whose clock ptp4l steers; empty: CLOCK_REALTIME, by software
};

// Of what pmc prints. Throws ClockUnsettled while ptp4l sets the clock, ClockLost if it follows no master, or something
// is missing.
PtpStatus ptp_status(const std::string &printed);

// How far CLOCK_REALTIME may be from the NIC's clock, which is ahead of it by so many seconds when both are right.
std::int64_t clocks_apart_ns(const Crossing &crossing, std::int64_t utc_offset_s);

// The error of the clock that ptp4l steers, of what some looks at it showed. Asymmetry that is always there is seen by
// nothing.
class PtpError {
public:
	struct Heard {
		std::int64_t error_ns;
		std::int64_t age_ns;	// since the newest Sync, as far as the looks tell
	};

	// Twice the largest offset of the last looks, since the largest of all came between two of them; and twice what
	// the delay is above the least one. PTP halves the way there and back. A queue on one of them is in half of
	// the delay, and in all of the offset until the delay follows.
	Heard heard(const PtpStatus &status, std::int64_t now_ns);

private:
	std::int64_t least_delay(std::int64_t delay_ns);

	// A servo has left an offset behind by then.
	static constexpr size_t kLooks = 8;
	// For so many looks, or twice as many, a path that became longer counts as a queue.
	static constexpr size_t kLeastLooks = 64;

	std::array<std::int64_t, kLooks> offsets_ns_ = {};
	size_t looks_ = 0;
	std::int64_t least_ns_ = INT64_MAX;		// delay, of the present kLeastLooks
	std::int64_t least_before_ns_ = INT64_MAX;	// and of those before
	std::int64_t synced_ns_ = INT64_MIN;
	std::int64_t changed_ns_ = 0;
};

std::unique_ptr<ClockSource> ptp4l_source(const std::string &uds, bool nic);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCK_PTP4L_H
