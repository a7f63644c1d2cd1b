// SPDX-License-Identifier: GPL-2.0
//
// turnpike stamps follow: the NIC of a stock driver stamps what it receives, as long as
// this runs, and nicstamp is told what the NIC's clock is.
#ifndef TURNPIKE_TOOLS_STAMPS_FOLLOW_H
#define TURNPIKE_TOOLS_STAMPS_FOLLOW_H

#include <cstdint>
#include <string>

#include "genl.h"

namespace turnpike {

struct FollowOptions {
	std::string device;
	std::string netns;	// empty: the own one
	std::uint32_t step_ns;	// resolution of the NIC's clock and stamps
	bool json;
};

// Until SIGINT, SIGTERM or SIGHUP; throws Error. `family' is nicstamp's.
void follow_device(Genl &family, const FollowOptions &options);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_STAMPS_FOLLOW_H
