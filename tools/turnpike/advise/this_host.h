// SPDX-License-Identifier: GPL-2.0
//
// What this host knows of a path, and which of its settings are not those that an advice is of.
#ifndef TURNPIKE_TOOLS_ADVISE_THIS_HOST_H
#define TURNPIKE_TOOLS_ADVISE_THIS_HOST_H

#include <optional>
#include <string>
#include <vector>

#include "../show/sockets.h"

namespace turnpike {

// Of connections to a peer.
struct SeenPath {
	unsigned flows = 0;
	std::optional<double> rtt_s;		// the least of all
	std::vector<std::string> congctls;	// each once
};

SeenPath seen_path(const std::vector<Socket> &sockets, const std::string &peer);

// Of /sys/class/net; none where the device does not know. Throws Error if there is no such device.
std::optional<double> device_rate_bps(const std::string &device, const std::string &root = "");

struct SettingDiffers {
	std::string setting, now, advised;
};

// Sysctls of a shipped law that are not its defaults; all of them are missing where its module is not loaded.
std::vector<SettingDiffers> sysctls_that_differ(const std::string &law, const std::string &root = "");

// T of the device's onramp, where it is below the least.
std::vector<SettingDiffers> threshold_that_differs(const std::string &device, double least_s);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_THIS_HOST_H
