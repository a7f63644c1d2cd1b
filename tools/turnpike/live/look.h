// SPDX-License-Identifier: GPL-2.0
//
// What turnpike top and watch read at one time, of all network namespaces: counters, of which two looks make rates.
#ifndef TURNPIKE_TOOLS_LIVE_LOOK_H
#define TURNPIKE_TOOLS_LIVE_LOOK_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../show/sockets.h"
#include "links.h"

namespace turnpike {

// A root queueing discipline; its counters cover those below it.
struct RootQdisc {
	std::string kind;
	std::uint32_t handle = 0;
	std::uint64_t drops = 0;
};

struct Space {
	std::uint64_t id = 0;	// the kernel's number of the namespace, never given twice
	std::string name;	// as each_namespace() has it
	std::int64_t at_ns = 0;	// CLOCK_MONOTONIC: others were read before
	std::vector<Socket> sockets;
	std::vector<Link> links;
	std::map<std::string, RootQdisc> roots;				// by device
	nlohmann::ordered_json onramp = nlohmann::ordered_json::array();	// as onramp_json() has it
	std::map<Ends, nlohmann::ordered_json> onramp_flows;		// each as onramp_flow_json() has it
	std::set<std::array<std::uint8_t, 16>> silent;			// hosts that were asked for receipts, in vain
	std::map<Ends, std::string> tlt_peers;				// "unknown", "tlt" or "deaf"
	std::optional<std::uint64_t> retransmits, timeouts;		// of all TCP, also of connections that ended
	bool refused = false;	// rights lack to ask for flows
};

struct Look {
	std::int64_t at_ns = 0;	// CLOCK_MONOTONIC, when it began
	std::vector<Space> spaces;	// the own one first
};

// A namespace that goes meanwhile is left out. Throws Error if the own one does not answer.
Look look_at_all();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_LOOK_H
