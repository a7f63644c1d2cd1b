// SPDX-License-Identifier: GPL-2.0
//
// turnpike onramp flows: the flows that are held when need be.
#ifndef TURNPIKE_TOOLS_ONRAMP_FLOWS_H
#define TURNPIKE_TOOLS_ONRAMP_FLOWS_H

#include <map>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include "command.h"
#include "genl.h"

namespace turnpike {

// A flow as `turnpike onramp flows --json' prints it, of a nest of ONRAMP_FLOW_.
nlohmann::ordered_json onramp_flow_json(const Attributes &a);

// The answer to a dump.  A dump that began anew tells of a flow twice: the later one is right.
class OnrampFlows {
public:
	void add(const Attributes &a);

	// By address and port.
	nlohmann::ordered_json json() const;

	// A line each, below a line of titles; only that without flows. all: with what operators seldom need.
	std::string table(bool all) const;

private:
	using Key = std::tuple<std::string, unsigned, std::string, unsigned>;

	std::map<Key, nlohmann::ordered_json> flows_;
};

// "1:", "8001:2"; 0 is what mq's own have.
std::string onramp_handle_text(unsigned handle);

void add_onramp_flows(CLI::App &onramp, Action &action);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ONRAMP_FLOWS_H
