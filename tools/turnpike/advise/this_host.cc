// SPDX-License-Identifier: GPL-2.0
#include "this_host.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <libmnl/libmnl.h>

#include "../command.h"
#include "../genl.h"
#include "../onramp.h"
#include "../presets.h"
#include "../setup/qdiscs.h"
#include "../units.h"

namespace turnpike {
namespace {

std::optional<std::uint32_t> threshold_ns(const Qdisc &qdisc)
{
	auto *at = reinterpret_cast<const nlattr *>(qdisc.options.data());
	auto left = [&] { return static_cast<int>(qdisc.options.data() + qdisc.options.size() -
						  reinterpret_cast<const char *>(at)); };

	for (; mnl_attr_ok(at, left()); at = mnl_attr_next(at))
		if (mnl_attr_get_type(at) == TCA_ONRAMP_THRESHOLD)
			return attribute_u32(at);
	return {};
}

}  // namespace

SeenPath seen_path(const std::vector<Socket> &sockets, const std::string &peer)
{
	OnrampAddress address = onramp_address(peer);
	SeenPath path;

	for (const Socket &socket : sockets) {
		if (socket.ends.remote != address)
			continue;
		path.flows++;
		if (socket.min_rtt_us)
			path.rtt_s = std::min(path.rtt_s.value_or(1e9), *socket.min_rtt_us * 1e-6);
		if (std::find(path.congctls.begin(), path.congctls.end(), socket.congctl) == path.congctls.end())
			path.congctls.push_back(socket.congctl);
	}
	return path;
}

std::optional<double> device_rate_bps(const std::string &device, const std::string &root)
{
	std::string place = root + "/sys/class/net/" + device;
	long mbps = -1;

	if (device.find('/') != std::string::npos || !std::filesystem::exists(place))
		throw Error("no device '" + device + "'");
	std::ifstream(place + "/speed") >> mbps;
	return mbps > 0 ? std::optional(mbps * 1e6) : std::nullopt;
}

std::vector<SettingDiffers> sysctls_that_differ(const std::string &law, const std::string &root)
{
	const timely_preset preset = find_preset(variant_of(law), "default");
	std::vector<SettingDiffers> differ;
	auto compare = [&](const timely_knob &knob) {
		std::string name = "net.ipv4.tcp_" + law + "." + knob.name;
		std::string advised = std::to_string(timely_knob_get(&knob, &preset.params)), now;

		std::ifstream(root + "/proc/sys/net/ipv4/tcp_" + law + "/" + knob.name) >> now;
		if (!now.empty() && now != advised)
			differ.push_back({name, now, advised});
	};

	if (!std::filesystem::exists(root + "/proc/sys/net/ipv4/tcp_" + law))
		return {{"module tcp_timely", "not loaded", "loaded"}};
	for (const timely_knob &knob : timely_knobs)
		compare(knob);
	for (const timely_knob &knob : timely_pi_knobs)
		if (preset.variant == TIMELY_VARIANT_PI)
			compare(knob);
	return differ;
}

std::vector<SettingDiffers> threshold_that_differs(const std::string &device, double least_s)
{
	for (const Qdisc &qdisc : qdiscs()) {
		std::optional<std::uint32_t> now;

		if (qdisc.device == device && qdisc.kind == "onramp")
			now = threshold_ns(qdisc);
		if (now && *now < least_s * 1e9)
			return {{"onramp threshold of " + device, duration_text(*now),
				 "at least " + duration_text(least_s * 1e9)}};
	}
	return {};
}

}  // namespace turnpike
