// SPDX-License-Identifier: GPL-2.0
//
// The TCP counters of the hosts' namespaces over the measured window: what TCP_INFO does not tell
// per socket on every kernel (timeouts before Linux 6.7, loss probes).
#pragma once

#include "net.h"

#include <nlohmann/json.hpp>

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace vload
{

// `Prefix: name name...' lines followed by `Prefix: value value...' lines, as in /proc/net/netstat;
// the keys are the names without the prefix.
std::map<std::string, uint64_t> counters_parse(std::istream &in);

class HostCounters {
public:
	explicit HostCounters(Network &network) : network_(network) {}

	void open_window() { first_ = read_all(); }
	void close_window() { last_ = read_all(); }
	nlohmann::ordered_json result() const;

private:
	using Counters = std::map<std::string, uint64_t>;

	std::vector<Counters> read_all();

	Network &network_;
	std::vector<Counters> first_, last_;
};

} // namespace vload
