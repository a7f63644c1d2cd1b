// SPDX-License-Identifier: GPL-2.0
//
// turnpike stamps: what NICs stamp, how well their clocks are known, and the RTTs; which
// devices have stamps taken for their drivers.

#include <array>
#include <iomanip>
#include <iostream>
#include <memory>

#include <net/if.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "genl.h"
#include "include/uapi/turnpike.h"
#include "netns.h"
#include "stamps_follow.h"
#include "tlt.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kMissing[] =
	"the kernel knows no NIC stamps: load its module with 'modprobe nicstamp'";
// NICs and their clocks are the host's, so that the module answers in one namespace alone.
constexpr char kElsewhere[] =
	"the stamps of NICs are the host's: ask in its own network namespace, not in a container's";
constexpr char kModule[] = "/sys/module/nicstamp";

// Clocks of NICs count in steps of 1 ns to some tens of ns; what is not known is no error less.
constexpr std::uint32_t kStepNs = 100;

// In the order of enum stamps_stat.
constexpr std::array kStats = std::to_array<const char *>({
	"wanted", "tx", "tx_unknown", "rx", "rx_absurd", "full", "no_slot",
	"retransmitted", "readings", "poor", "steps", "samples", "no_record", "unsent", "ambiguous",
	"clocks", "absurd", "flows", "flows_refused", "arrivals", "arrivals_found", "rx_nic",
	"rx_nic_refused",
});
static_assert(kStats.size() == STAMPS_STATS);

Genl open_family()
{
	return Genl(STAMPS_GENL_NAME, STAMPS_GENL_VERSION,
		    access(kModule, F_OK) == 0 ? kElsewhere : kMissing);
}

Json stats_json(const nlattr *nest)
{
	Json json = Json::object();

	for (const auto &[type, value] : parse_nest(nest)) {
		if (type >= 1 && type <= kStats.size())
			json[kStats[type - 1]] = attribute_u64(value);
	}
	return json;
}

std::string value_text(const Json &value)
{
	return value.is_string() ? value.get<std::string>() : value.dump();
}

// Names and values in one line; what is an object itself goes on.
void print_line(const Json &object, const char *separator = "")
{
	for (const auto &[name, value] : object.items()) {
		if (value.is_object()) {
			print_line(value, separator);
			continue;
		}
		std::cout << separator << name << ' ' << value_text(value);
		separator = " ";
	}
}

void print(const Json &all, bool json)
{
	if (json) {
		std::cout << all.dump(2) << '\n';
		return;
	}
	for (const Json &object : all) {
		print_line(object);
		std::cout << '\n';
	}
}

// -- devices

Json port_json(const Attributes &a)
{
	Json port = {
		{"dev", attribute_text(a.at(STAMPS_PORT_NAME))},
		{"ifindex", attribute_u32(a.at(STAMPS_PORT_IFINDEX))},
		{"netns", attribute_u32(a.at(STAMPS_PORT_NETNS))},
		{"feed", a.count(STAMPS_PORT_GENERIC) ? "generic" : "driver"},
		{"clock", a.count(STAMPS_PORT_HOST) ? "host" : "nic"},
		{"clock_bits", attribute_u32(a.at(STAMPS_PORT_BITS))},
		{"step_ns", attribute_u32(a.at(STAMPS_PORT_STEP_NS))},
		{"tx_stamp", a.count(STAMPS_PORT_TX_FIRST) ? "first" : "last"},
	};

	if (a.count(STAMPS_PORT_FOLLOWED))
		port["rx_clock"] = "nic";
	if (a.count(STAMPS_PORT_RATE_PPB))
		port["rate_ppb"] = static_cast<std::int32_t>(
			attribute_u32(a.at(STAMPS_PORT_RATE_PPB)));
	if (a.count(STAMPS_PORT_ERROR_NS))
		port["error_ns"] = attribute_u64(a.at(STAMPS_PORT_ERROR_NS));
	port["stats"] = stats_json(a.at(STAMPS_PORT_STATS));
	return port;
}

void devices(bool json)
{
	Json all = Json::array();

	open_family().call(STAMPS_CMD_PORTS, nullptr, [&](const Attributes &a) {
		if (a.count(STAMPS_A_PORT))
			all.push_back(port_json(parse_nest(a.at(STAMPS_A_PORT))));
	}, true);
	print(all, json);
}

// -- counters

void stats(bool json)
{
	open_family().call(STAMPS_CMD_STATS, nullptr, [&](const Attributes &a) {
		Json all = stats_json(a.at(STAMPS_A_STATS));
		all["probes"] = attribute_u32(a.at(STAMPS_A_PROBES));
		if (json) {
			std::cout << all.dump(2) << '\n';
			return;
		}
		for (const auto &[name, value] : all.items())
			std::cout << name << ' ' << value << '\n';
	});
}

// -- flows

std::string address(const nlattr *attribute)
{
	auto *first = static_cast<const std::uint8_t *>(mnl_attr_get_payload(attribute));
	std::vector<std::uint8_t> bytes(first, first + mnl_attr_get_payload_len(attribute));
	static const std::vector<std::uint8_t> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};

	if (bytes.size() == 16 && std::equal(mapped.begin(), mapped.end(), bytes.begin()))
		bytes.erase(bytes.begin(), bytes.begin() + 12);
	return tlt_address_text(bytes);
}

Json flow_json(const Attributes &a)
{
	return {
		{"local", address(a.at(STAMPS_FLOW_LOCAL))},
		{"local_port", attribute_u16(a.at(STAMPS_FLOW_LOCAL_PORT))},
		{"remote", address(a.at(STAMPS_FLOW_REMOTE))},
		{"remote_port", attribute_u16(a.at(STAMPS_FLOW_REMOTE_PORT))},
		{"tx", a.count(STAMPS_FLOW_TX_HOST) ? "host" : "nic"},
		{"rx", a.count(STAMPS_FLOW_RX_HOST) ? "host" : "nic"},
		{"samples", attribute_u64(a.at(STAMPS_FLOW_SAMPLES))},
		{"rtt_ns", attribute_u64(a.at(STAMPS_FLOW_RTT_NS))},
		{"error_ns", attribute_u32(a.at(STAMPS_FLOW_ERROR_NS))},
		{"rtt_min_ns", attribute_u64(a.at(STAMPS_FLOW_RTT_MIN_NS))},
		{"tcp_rtt_ns", attribute_u64(a.at(STAMPS_FLOW_TCP_RTT_NS))},
	};
}

void flows(bool json)
{
	Json all = Json::array();

	open_family().call(STAMPS_CMD_FLOWS, nullptr, [&](const Attributes &a) {
		if (a.count(STAMPS_A_FLOW))
			all.push_back(flow_json(parse_nest(a.at(STAMPS_A_FLOW))));
	}, true);
	print(all, json);
}

// -- the generic feed

struct Device {
	std::string name;
	std::string netns;
};

void check_name(const Device &device)
{
	if (device.name.empty() || device.name.size() >= IFNAMSIZ)
		throw Error("no such device");
}

void feed(const Device &device, std::uint8_t command)
{
	std::unique_ptr<Netns> netns;

	check_name(device);
	if (!device.netns.empty())
		netns = std::make_unique<Netns>(device.netns);
	open_family().call(command, [&](nlmsghdr *message) {
		mnl_attr_put_strz(message, STAMPS_A_DEV, device.name.c_str());
		if (netns)
			mnl_attr_put_u32(message, STAMPS_A_NETNS_FD, netns->fd());
	}, nullptr);
}

void follow(const Device &device, std::uint32_t step_ns)
{
	check_name(device);
	Genl family = open_family();
	follow_device(family, {device.name, device.netns, step_ns});
}

void add_device(CLI::App *command, Device &device)
{
	command->add_option("DEV", device.name, "network device")->required();
	command->add_option("--netns", device.netns, "its network namespace: a name or a path");
}

void add_feed(CLI::App &stamps, const char *name, const char *what, Action &action,
	      std::uint8_t which)
{
	auto device = std::make_shared<Device>();
	CLI::App *command = stamps.add_subcommand(name, what);

	add_device(command, *device);
	command->callback([device, which, &action] {
		action = [device, which] { feed(*device, which); };
	});
}

void add_follow(CLI::App &stamps, Action &action)
{
	auto device = std::make_shared<Device>();
	auto step_ns = std::make_shared<std::uint32_t>(kStepNs);
	CLI::App *command = stamps.add_subcommand(
		"follow", "as long as it runs, have the NIC stamp what such a device receives");

	add_device(command, *device);
	command->add_option("--step-ns", *step_ns, "resolution of the NIC's clock and stamps")
		->check(CLI::Range(1, 1000000))
		->capture_default_str();
	command->callback([device, step_ns, &action] {
		action = [device, step_ns] { follow(*device, *step_ns); };
	});
}

void add(CLI::App &stamps, const char *name, const char *what, Action &action,
	 void (*run)(bool json))
{
	auto json = std::make_shared<bool>(false);
	CLI::App *command = stamps.add_subcommand(name, what);

	command->add_flag("-j,--json", *json, "print JSON");
	command->callback([json, &action, run] { action = [json, run] { run(*json); }; });
}

}  // namespace

void add_stamps_command(CLI::App &app, Action &action)
{
	CLI::App *stamps = app.add_subcommand("stamps", "Look at NIC timestamps, and take them for drivers that give none");

	stamps->require_subcommand(1);
	add(*stamps, "devices", "NICs, their clocks and counters", action, devices);
	add(*stamps, "flows", "flows: RTT by the NIC and by TCP", action, flows);
	add(*stamps, "stats", "counters of all together", action, stats);
	add_feed(*stamps, "use", "take stamps of a device whose driver gives none", action,
		 STAMPS_CMD_USE);
	add_feed(*stamps, "drop", "take no more stamps of it", action, STAMPS_CMD_DROP);
	add_follow(*stamps, action);
}

}  // namespace turnpike
