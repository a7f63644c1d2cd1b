// SPDX-License-Identifier: GPL-2.0
#include "facts_device.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "../netns.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Microseconds that the NIC waits for further frames; null where it does not say.
Json rx_usecs(const std::string &device)
{
	File socket(socket_in(nullptr));
	struct ethtool_coalesce coalesce = {};
	struct ifreq request = {};

	coalesce.cmd = ETHTOOL_GCOALESCE;
	std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
	request.ifr_data = reinterpret_cast<char *>(&coalesce);
	if (ioctl(socket.fd(), SIOCETHTOOL, &request))
		return nullptr;
	return coalesce.rx_coalesce_usecs;
}

// Mbit/s; null where the device does not know. A line that is down says -1.
Json speed_of(const std::string &device)
{
	std::ifstream file("/sys/class/net/" + device + "/speed");
	long mbps = -1;

	file >> mbps;
	return file && mbps > 0 ? Json(mbps) : Json(nullptr);
}

unsigned tx_queues(const std::string &device)
{
	std::error_code error;
	unsigned count = 0;

	for (const auto &entry : std::filesystem::directory_iterator("/sys/class/net/" + device + "/queues", error))
		count += entry.path().filename().string().starts_with("tx-");
	return count;
}

}  // namespace

Json device_json(const std::string &name, const Host &host)
{
	Json device = {{"name", name}, {"onramp", false}, {"root", "none"}, {"tx_queues", tx_queues(name)},
		       {"rx_usecs", rx_usecs(name)}, {"speed_mbps", speed_of(name)}};

	for (const Qdisc &qdisc : host.qdiscs) {
		if (qdisc.device != name)
			continue;
		if (qdisc.kind == "onramp")
			device["onramp"] = true;
		if (qdisc.parent == 0xffffffff)
			device["root"] = qdisc.kind;
	}
	return device;
}

}  // namespace turnpike
