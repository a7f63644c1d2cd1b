// SPDX-License-Identifier: GPL-2.0
//
// The TCP connections of this network namespace, as `ss -ti' asks for them.
#ifndef TURNPIKE_TOOLS_SHOW_SOCKETS_H
#define TURNPIKE_TOOLS_SHOW_SOCKETS_H

#include <cstdint>
#include <string>
#include <vector>

namespace turnpike {

struct Socket {
	std::string local, remote;	// addresses
	unsigned local_port = 0, remote_port = 0;
	std::string congctl;
	std::uint32_t rtt_us = 0, min_rtt_us = 0;
	std::uint64_t pacing_bytes_s = 0, sent_bytes = 0;
	std::uint32_t retransmits = 0;
	bool has_ecn = false;
};

// Those that are established. Throws Error.
std::vector<Socket> tcp_sockets();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_SOCKETS_H
