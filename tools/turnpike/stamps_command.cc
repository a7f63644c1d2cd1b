// SPDX-License-Identifier: GPL-2.0
//
// turnpike stamps: what NICs stamp, how well their clocks are known, and the RTTs; which
// devices have stamps taken for their drivers.

#include <array>
#include <iostream>
#include <memory>

#include <net/if.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "counter_names.h"
#include "genl.h"
#include "include/uapi/turnpike.h"
#include "netns.h"
#include "shown.h"
#include "stamps_follow.h"
#include "tlt.h"

namespace turnpike {
namespace {

constexpr char kMissing[] =
	"the kernel knows no NIC stamps: load its module with 'modprobe nicstamp'";
// NICs and their clocks are the host's, so that the module answers in one namespace alone.
constexpr char kElsewhere[] =
	"the stamps of NICs are the host's: ask in its own network namespace, not in a container's";
constexpr char kModule[] = "/sys/module/nicstamp";

// Clocks of NICs count in steps of 1 ns to some tens of ns; what is not known is no error less.
constexpr std::uint32_t kStepNs = 100;

constexpr std::array kStats = std::to_array<CounterName>({
	{STAMPS_STAT_WANTED, "wanted"},
	{STAMPS_STAT_TX, "tx"},
	{STAMPS_STAT_TX_UNKNOWN, "tx_unknown"},
	{STAMPS_STAT_RX, "rx"},
	{STAMPS_STAT_RX_ABSURD, "rx_absurd"},
	{STAMPS_STAT_FULL, "full"},
	{STAMPS_STAT_NO_SLOT, "no_slot"},
	{STAMPS_STAT_RETRANSMITTED, "retransmitted"},
	{STAMPS_STAT_READINGS, "readings"},
	{STAMPS_STAT_POOR, "poor"},
	{STAMPS_STAT_STEPS, "steps"},
	{STAMPS_STAT_SAMPLES, "samples"},
	{STAMPS_STAT_NO_RECORD, "no_record"},
	{STAMPS_STAT_UNSENT, "unsent"},
	{STAMPS_STAT_AMBIGUOUS, "ambiguous"},
	{STAMPS_STAT_CLOCKS, "clocks"},
	{STAMPS_STAT_ABSURD, "absurd"},
	{STAMPS_STAT_FLOWS, "flows"},
	{STAMPS_STAT_FLOWS_REFUSED, "flows_refused"},
	{STAMPS_STAT_ARRIVALS, "arrivals"},
	{STAMPS_STAT_ARRIVALS_FOUND, "arrivals_found"},
	{STAMPS_STAT_RX_NIC, "rx_nic"},
	{STAMPS_STAT_RX_NIC_REFUSED, "rx_nic_refused"},
});
static_assert(names_all(kStats, STAMPS_STAT_WANTED, STAMPS_STATS - 1));

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
			json[kStats[type - 1].name] = attribute_u64(value);
	}
	return json;
}

void print(const Json &all, const Shown &shown, const std::vector<ShownColumn> &columns)
{
	std::cout << (shown.json ? all.dump(2) + "\n" : list_text(all, columns, shown.all));
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

Json devices_json()
{
	Json all = Json::array();

	open_family().call(STAMPS_CMD_PORTS, nullptr, [&](const Attributes &a) {
		if (a.count(STAMPS_A_PORT))
			all.push_back(port_json(parse_nest(a.at(STAMPS_A_PORT))));
	}, true);
	return all;
}

ShownColumn counter_column(const char *name, When when)
{
	return {name, Align::right, when, [name](const Json &port) {
		auto found = port["stats"].find(name);
		return found == port["stats"].end() ? "-" : found->dump();
	}};
}

std::vector<ShownColumn> device_columns()
{
	std::vector<ShownColumn> columns = {
		word_column("dev", "dev"),
		value_column("ifindex", "ifindex", When::verbose),
		value_column("netns", "netns"),
		word_column("feed", "feed"),
		word_column("clock", "clock"),
		word_column("rx_clock", "rx_clock"),
		value_column("clock_bits", "clock_bits", When::verbose),
		value_column("step", "step_ns", When::verbose),
		word_column("tx_stamp", "tx_stamp", When::verbose),
		value_column("rate", "rate_ppb", When::verbose),
		value_column("error", "error_ns"),
	};

	// Whether stamps come, and are of use, is seen without -v.
	for (std::size_t i = 0; i < STAMPS_PORT_STATS_COUNT; i++) {
		bool first = i == STAMPS_STAT_WANTED || i == STAMPS_STAT_TX || i == STAMPS_STAT_RX || i == STAMPS_STAT_NO_SLOT;
		columns.push_back(counter_column(kStats[i].name, first ? When::always : When::verbose));
	}
	return columns;
}

void devices(const Shown &shown)
{
	print(devices_json(), shown, device_columns());
}

// -- counters

void stats(const Shown &shown)
{
	open_family().call(STAMPS_CMD_STATS, nullptr, [&](const Attributes &a) {
		Json all = stats_json(a.at(STAMPS_A_STATS));
		all["probes"] = attribute_u32(a.at(STAMPS_A_PROBES));
		std::cout << (shown.json ? all.dump(2) + "\n" : counters_text(all, shown.all));
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

std::vector<ShownColumn> flow_columns()
{
	return {
		end_column("local", "local", "local_port"),
		end_column("remote", "remote", "remote_port"),
		word_column("tx", "tx"),
		word_column("rx", "rx"),
		value_column("samples", "samples"),
		value_column("rtt", "rtt_ns"),
		value_column("error", "error_ns", When::verbose),
		value_column("rtt_min", "rtt_min_ns", When::verbose),
		value_column("tcp_rtt", "tcp_rtt_ns"),
	};
}

void flows(const Shown &shown)
{
	Json all = Json::array();

	open_family().call(STAMPS_CMD_FLOWS, nullptr, [&](const Attributes &a) {
		if (a.count(STAMPS_A_FLOW))
			all.push_back(flow_json(parse_nest(a.at(STAMPS_A_FLOW))));
	}, true);
	print(all, shown, flow_columns());
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

void feed(const Device &device, std::uint8_t command, const Shown &shown)
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
	if (shown.json)
		std::cout << Json({{"devices", devices_json()}}).dump(2) << '\n';
}

void follow(const Device &device, std::uint32_t step_ns, const Shown &shown)
{
	check_name(device);
	Genl family = open_family();
	follow_device(family, {device.name, device.netns, step_ns, shown.json});
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

	auto shown = std::make_shared<Shown>();
	add_device(command, *device);
	command->add_flag("-j,--json", shown->json, "print the devices that are stamped now");
	command->callback([device, which, shown, &action] {
		action = [device, which, shown] { feed(*device, which, *shown); };
	});
}

void add_follow(CLI::App &stamps, Action &action)
{
	auto device = std::make_shared<Device>();
	auto step_ns = std::make_shared<std::uint32_t>(kStepNs);
	auto shown = std::make_shared<Shown>();
	CLI::App *command = stamps.add_subcommand(
		"follow", "as long as it runs, have the NIC stamp what such a device receives");

	add_device(command, *device);
	command->add_option("--step-ns", *step_ns, "resolution of the NIC's clock and stamps")
		->check(CLI::Range(1, 1000000))
		->capture_default_str();
	command->add_flag("-j,--json", shown->json, "print the device and its clock as JSON, once it is followed");
	command->callback([device, step_ns, shown, &action] {
		action = [device, step_ns, shown] { follow(*device, *step_ns, *shown); };
	});
}

void add(CLI::App &stamps, const char *name, const char *what, Action &action,
	 void (*run)(const Shown &))
{
	auto shown = std::make_shared<Shown>();
	CLI::App *command = stamps.add_subcommand(name, what);

	shown->add_both(*command);
	command->callback([shown, &action, run] { action = [shown, run] { run(*shown); }; });
}

}  // namespace

void add_stamps_command(CLI::App &app, Action &action)
{
	CLI::App *stamps = app.add_subcommand("stamps", "Look at NIC timestamps, and take them for drivers that give none");

	stamps->require_subcommand(1);
	add(*stamps, "devices", "NICs, their clocks and counters", action, devices);
	add(*stamps, "flows", "flows: RTT by the NIC and by TCP", action, flows);
	add(*stamps, "stats", "counters of all together that are not 0", action, stats);
	add_feed(*stamps, "use", "take stamps of a device whose driver gives none", action,
		 STAMPS_CMD_USE);
	add_feed(*stamps, "drop", "take no more stamps of it", action, STAMPS_CMD_DROP);
	add_follow(*stamps, action);
}

}  // namespace turnpike
