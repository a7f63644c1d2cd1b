// SPDX-License-Identifier: GPL-2.0
//
// The TCP connections of this network namespace with what the kernel counts of each, for a recording.
#ifndef TURNPIKE_TOOLS_RECORD_CONNECTIONS_H
#define TURNPIKE_TOOLS_RECORD_CONNECTIONS_H

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike {

// Those that are established and lead to another host, as turnpike-record(1) lists what is said of each. Throws Error.
std::vector<nlohmann::ordered_json> tcp_connections();

// At most so many, those that had most data acknowledged; the others are counted.
struct Kept {
	nlohmann::ordered_json list = nlohmann::ordered_json::array();
	std::size_t left_out = 0;
};

Kept keep_largest(std::vector<nlohmann::ordered_json> list, const char *by, std::size_t most);

// A value of /proc/net/snmp or netstat: there is a line of names for each group, and below it one of values. 0 if there
// is none.
std::uint64_t tcp_counter(const std::string &text, const std::string &group, const std::string &name);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_CONNECTIONS_H
