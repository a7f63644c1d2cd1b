// SPDX-License-Identifier: GPL-2.0
//
// The TCP connections of this network namespace with what the kernel counts of each, for a recording.
#ifndef TURNPIKE_TOOLS_RECORD_CONNECTIONS_H
#define TURNPIKE_TOOLS_RECORD_CONNECTIONS_H

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../show/sockets.h"

namespace turnpike {

// What turnpike-record(1) lists of a connection.
nlohmann::ordered_json connection_json(const Socket &socket);

// Of those that lead to another host.
std::vector<nlohmann::ordered_json> connections_json(const std::vector<Socket> &sockets);

// At most so many, those that had most data acknowledged; the others are counted.
struct Kept {
	nlohmann::ordered_json list = nlohmann::ordered_json::array();
	std::size_t left_out = 0;
};

Kept keep_largest(std::vector<nlohmann::ordered_json> list, const char *by, std::size_t most);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_CONNECTIONS_H
