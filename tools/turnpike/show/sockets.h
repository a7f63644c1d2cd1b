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
	std::string congctl;
	std::uint32_t rtt_us = 0;	// smoothed
	std::uint32_t retransmits = 0;	// segments
};

// Those that are established. Throws Error.
std::vector<Socket> tcp_sockets();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_SOCKETS_H
