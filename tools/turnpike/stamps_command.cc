// SPDX-License-Identifier: GPL-2.0
//
// turnpike stamps: what NICs stamp, how well their clocks are known, and the RTTs.
#include <iomanip>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "genl.h"
#include "include/uapi/turnpike.h"
#include "tlt.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kMissing[] =
	"the kernel knows no NIC stamps: load its module with 'modprobe nicstamp'";

// In the order of enum stamps_stat.
const std::vector<std::string> kStats = {
	"wanted", "tx", "tx_unknown", "rx", "rx_absurd", "full", "no_slot",
	"retransmitted", "readings", "poor", "steps", "samples", "no_record", "unsent", "ambiguous",
	"clocks", "absurd", "flows", "flows_refused",
};

Genl open_family()
{
	return Genl(STAMPS_GENL_NAME, STAMPS_GENL_VERSION, kMissing);
}

Json stats_json(const nlattr *nest)
{
	Json json = Json::object();

	for (const auto &[type, value] : parse_nest(nest)) {
		if (type >= 1 && type <= kStats.size())
			json[kStats[type - 1]] = mnl_attr_get_u64(value);
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
		{"dev", mnl_attr_get_str(a.at(STAMPS_PORT_NAME))},
		{"ifindex", mnl_attr_get_u32(a.at(STAMPS_PORT_IFINDEX))},
		{"netns", mnl_attr_get_u32(a.at(STAMPS_PORT_NETNS))},
		{"clock", a.count(STAMPS_PORT_HOST) ? "host" : "nic"},
		{"clock_bits", mnl_attr_get_u32(a.at(STAMPS_PORT_BITS))},
		{"step_ns", mnl_attr_get_u32(a.at(STAMPS_PORT_STEP_NS))},
		{"tx_stamp", a.count(STAMPS_PORT_TX_FIRST) ? "first" : "last"},
	};

	if (a.count(STAMPS_PORT_RATE_PPB))
		port["rate_ppb"] = static_cast<std::int32_t>(
			mnl_attr_get_u32(a.at(STAMPS_PORT_RATE_PPB)));
	if (a.count(STAMPS_PORT_ERROR_NS))
		port["error_ns"] = mnl_attr_get_u64(a.at(STAMPS_PORT_ERROR_NS));
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
		{"local_port", mnl_attr_get_u16(a.at(STAMPS_FLOW_LOCAL_PORT))},
		{"remote", address(a.at(STAMPS_FLOW_REMOTE))},
		{"remote_port", mnl_attr_get_u16(a.at(STAMPS_FLOW_REMOTE_PORT))},
		{"samples", mnl_attr_get_u64(a.at(STAMPS_FLOW_SAMPLES))},
		{"rtt_ns", mnl_attr_get_u64(a.at(STAMPS_FLOW_RTT_NS))},
		{"rtt_min_ns", mnl_attr_get_u64(a.at(STAMPS_FLOW_RTT_MIN_NS))},
		{"tcp_rtt_ns", mnl_attr_get_u64(a.at(STAMPS_FLOW_TCP_RTT_NS))},
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
	CLI::App *stamps = app.add_subcommand("stamps", "Look at NIC timestamps");

	stamps->require_subcommand(1);
	add(*stamps, "devices", "NICs, their clocks and counters", action, devices);
	add(*stamps, "flows", "flows: RTT by the NIC and by TCP", action, flows);
	add(*stamps, "stats", "counters of all together", action, stats);
}

}  // namespace turnpike
