// SPDX-License-Identifier: GPL-2.0
//
// What happened between two looks. A number that two looks do not tell is none: what was there at one of them only, and
// counters that fell, since somebody began to count anew.
#ifndef TURNPIKE_TOOLS_LIVE_CHANGE_H
#define TURNPIKE_TOOLS_LIVE_CHANGE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "look.h"

namespace turnpike {

using Number = std::optional<double>;

struct Connection {
	std::string netns;
	Ends ends;
	std::string congctl;
	double rtt_ns = 0;			// smoothed
	Number acked_bps, sent_bps, received_bps;	// payload
	Number retransmits;			// segments
	// On-Ramp's: delays if there was a sample; held: share of the time, 0 to 1.
	Number delay_ns, delay_p99_ns, held;
	std::string feedback;			// "tcpts", "orack-c"; "none!"; empty: no flow of On-Ramp's
	std::string tlt;			// "unknown", "tlt", "deaf"; empty: no flow of TLT's
};

struct Device {
	std::string netns, name;
	std::uint64_t space = 0;		// with the name, what it is known by
	bool loopback = false, onramp = false;
	Number sent_bps, received_bps;		// frames
	Number held;				// share of packets, 0 to 1
	// Of flows that had a sample: the median of their medians, and the worst of their 99th percentiles.
	Number delay_p50_ns, delay_p99_ns;
	Number drops;				// by the queueing discipline
	Number retransmits, timeouts;		// of its namespace
};

struct Changes {
	std::int64_t at_ns = 0;
	std::vector<Connection> connections;
	std::vector<Device> devices;
	bool refused = false;			// rights lack to see flows of On-Ramp or TLT
};

Changes changes_between(const Look &before, const Look &now);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_CHANGE_H
