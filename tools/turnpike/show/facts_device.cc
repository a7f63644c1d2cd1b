// SPDX-License-Identifier: GPL-2.0
#include "facts_device.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/pkt_sched.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>

#include "../netns.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Of a NIC's driver, by ethtool. False if it does not say.
template <typename Question>
bool ask_driver(const std::string &device, Question &question)
{
	File socket(socket_in(nullptr));
	struct ifreq request = {};

	std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
	request.ifr_data = reinterpret_cast<char *>(&question);
	return !ioctl(socket.fd(), SIOCETHTOOL, &request);
}

// How long the NIC waits for further frames, and for how many; null where it does not say.
void look_at_coalescing(Json &device)
{
	struct ethtool_coalesce coalesce = {};

	coalesce.cmd = ETHTOOL_GCOALESCE;
	bool says = ask_driver(device.at("name").get<std::string>(), coalesce);
	device["rx_usecs"] = says ? Json(coalesce.rx_coalesce_usecs) : Json();
	device["rx_frames"] = says ? Json(coalesce.rx_max_coalesced_frames) : Json();
	device["adaptive_rx"] = says && coalesce.use_adaptive_rx_coalesce;
}

// What stamps frames: "nic", "host", or "none"; null where the driver does not say.
Json stamps_of(const std::string &device)
{
	struct ethtool_ts_info info = {};

	info.cmd = ETHTOOL_GET_TS_INFO;
	if (!ask_driver(device, info))
		return nullptr;
	if (info.phc_index >= 0 && info.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE &&
	    info.rx_filters & 1U << HWTSTAMP_FILTER_ALL)
		return "nic";
	return info.so_timestamping & SOF_TIMESTAMPING_TX_SOFTWARE ? "host" : "none";
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

// The kernel's, where neither the host nor a route says another (TCP_RTO_MIN).
constexpr std::uint64_t kRtoMinUs = 200000;

// Options of its onramps: the least threshold, the longest pause; null without any.
void look_at_onramps(Json &device, const std::vector<Qdisc> &qdiscs)
{
	for (const Qdisc &qdisc : qdiscs) {
		if (qdisc.kind != "onramp" || qdisc.device != device.at("name").get<std::string>())
			continue;
		OnrampOptions options = onramp_options(qdisc);
		bool first = device["threshold_ns"].is_null();
		device["threshold_ns"] = std::min(options.threshold_ns, first ? ~0U : device["threshold_ns"].get<std::uint32_t>());
		device["pause_max_us"] = std::max(options.pause_max_us, first ? 0U : device["pause_max_us"].get<std::uint32_t>());
	}
}

}  // namespace

std::uint64_t route_time_us(const std::string &text)
{
	char *end;
	double value = std::strtod(text.c_str(), &end);
	std::string unit = end;
	double unit_us = unit == "ms" ? 1e3 : unit == "s" ? 1e6 : 0;

	return value > 0 && value < 1e9 ? std::llround(value * unit_us) : 0;
}

std::uint64_t least_rto_us(const std::vector<Route> &routes, const std::string &device, std::uint64_t host_us)
{
	std::uint64_t least_us = host_us ? host_us : kRtoMinUs;

	for (const Route &route : routes) {
		std::uint64_t route_us = route_time_us(route.rto_min);
		if (route_us && route.device() == device)
			least_us = std::min(least_us, route_us);
	}
	return least_us;
}

// Of a device without a queue it chooses none, and mq for one with several.
Json left_qdiscs(const std::vector<Qdisc> &qdiscs, const std::string &chosen, const std::set<std::string> &devices)
{
	std::set<std::string> with_mq, seen;
	Json left = Json::array();

	for (const Qdisc &qdisc : qdiscs)
		if (qdisc.kind == "mq" && qdisc.parent == TC_H_ROOT)
			with_mq.insert(qdisc.device);
	for (const Qdisc &qdisc : qdiscs) {
		bool by_kernel = !qdisc.handle && (qdisc.parent == TC_H_ROOT || with_mq.count(qdisc.device));
		if (by_kernel && qdisc.kind != chosen && qdisc.kind != "mq" && qdisc.kind != "noqueue" &&
		    devices.count(qdisc.device) && seen.insert(qdisc.device).second)
			left.push_back({{"device", qdisc.device}, {"kind", qdisc.kind}, {"mq", with_mq.count(qdisc.device) != 0}});
	}
	return left;
}

std::set<std::string> ethernet_devices(const std::set<std::string> &names)
{
	std::set<std::string> found;

	for (const std::string &name : names) {
		std::ifstream file("/sys/class/net/" + name + "/type");
		int type = -1;

		if (file >> type && (type == ARPHRD_ETHER || type == ARPHRD_INFINIBAND))
			found.insert(name);
	}
	return found;
}

Json device_json(const std::string &name, const Host &host)
{
	Json device = {{"name", name}, {"onramp", false}, {"root", "none"}, {"tx_queues", tx_queues(name)},
		       {"timely", false}, {"speed_mbps", speed_of(name)}, {"stamps", stamps_of(name)},
		       {"threshold_ns", nullptr}, {"pause_max_us", nullptr}};
	std::uint64_t host_us = 0;
	std::ifstream("/proc/sys/net/ipv4/tcp_rto_min_us") >> host_us;

	for (const Qdisc &qdisc : host.qdiscs) {
		if (qdisc.device != name)
			continue;
		if (qdisc.kind == "onramp")
			device["onramp"] = true;
		if (qdisc.parent == 0xffffffff)
			device["root"] = qdisc.kind;
	}
	for (const Route &route : host.routes)
		if (route.congctl.starts_with("timely") && route.device() == name)
			device["timely"] = true;
	look_at_coalescing(device);
	look_at_onramps(device, host.qdiscs);
	device["rto_min_us"] = least_rto_us(host.routes, name, host_us);
	return device;
}

}  // namespace turnpike
