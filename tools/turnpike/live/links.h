// SPDX-License-Identifier: GPL-2.0
//
// The devices of this network namespace that are up, and what they sent.
#ifndef TURNPIKE_TOOLS_LIVE_LINKS_H
#define TURNPIKE_TOOLS_LIVE_LINKS_H

#include <cstdint>
#include <string>
#include <vector>

namespace turnpike {

struct Link {
	unsigned index = 0;
	std::string name;
	bool loopback = false;
	std::uint64_t sent_bytes = 0, received_bytes = 0;
};

// Throws Error.
std::vector<Link> links();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_LIVE_LINKS_H
