// SPDX-License-Identifier: GPL-2.0
#include "onramp_flows.h"

#include <net/if.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>

#include "onramp.h"
#include "onramp_family.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// -- from the kernel; a number that it left out is null

Json number64(const Attributes &a, unsigned type)
{
	auto found = a.find(type);

	return found == a.end() ? Json(nullptr) : Json(attribute_u64(found->second));
}

Json number32(const Attributes &a, unsigned type)
{
	auto found = a.find(type);

	return found == a.end() ? Json(nullptr) : Json(attribute_u32(found->second));
}

Json device_json(const Attributes &a)
{
	auto found = a.find(ONRAMP_FLOW_IFINDEX);
	char name[IF_NAMESIZE];

	if (found == a.end())
		return nullptr;
	unsigned index = attribute_u32(found->second);
	return if_indextoname(index, name) ? name : "#" + std::to_string(index);
}

Json handle_json(const Attributes &a, unsigned type)
{
	auto found = a.find(type);

	return found == a.end() ? Json(nullptr) :
				  Json(onramp_handle_text(attribute_u32(found->second)));
}

std::string source_text(unsigned source)
{
	static const char *const names[] = {"none", "tcpts", "orack"};

	return source < std::size(names) ? names[source] : std::to_string(source);
}

Json grade_json(const Attributes &a)
{
	auto found = a.find(ONRAMP_FLOW_GRADE);

	return found == a.end() ? Json(nullptr) :
				  Json(onramp_grade_text(attribute_u8(found->second)));
}

Json base_json(const Attributes &a)
{
	auto found = a.find(ONRAMP_FLOW_BASE_OWD);

	return found == a.end() ? Json(nullptr) :
				  Json(static_cast<std::int64_t>(attribute_u64(found->second)));
}

Json age_json(const Attributes &a)
{
	Json age_ns = number64(a, ONRAMP_FLOW_AGE);

	return age_ns.is_null() ? age_ns : Json(age_ns.get<std::uint64_t>() / 1000000);
}

// -- for people

std::string end_text(const Json &flow, const char *address, const char *port)
{
	std::string text = flow[address].get<std::string>();

	if (text.find(':') != std::string::npos)
		text = "[" + text + "]";
	return text + ":" + flow[port].dump();
}

// Divided, with so many digits behind the point; "-" where there is none.
std::string scaled(const Json &value, double unit, int digits)
{
	char text[64];

	if (value.is_null())
		return "-";
	std::snprintf(text, sizeof(text), "%.*f", digits, value.get<double>() / unit);
	return text;
}

std::string us(const Json &ns) { return scaled(ns, 1e3, 1); }

std::string word(const Json &value)
{
	return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
}

// "orack-c", "tcpts", "orack-c!": with ! since the peer's timestamps do not serve. "tcpts~": noisy.
std::string feedback_text(const Json &flow)
{
	return flow["source"].get<std::string>() +
	       (flow["grade"].is_null() ? "" : "-" + flow["grade"].get<std::string>()) +
	       (flow["coarse"].get<bool>() ? "!" : "") + (flow["noisy"].get<bool>() ? "~" : "");
}

using Row = std::vector<std::string>;

const Row kTitles = {
	"local", "remote", "dev", "feedback", "left_us", "queued", "pauses", "paused_ms", "held",
	"held_ms", "beta", "samples", "age_ms", "delay_us", "p50_us", "p90_us", "p99_us",
	"rate_mbit", "burst_kb",
};

// Of what is limited by nobody there is nothing to say.
Json unless_zero(const Json &value)
{
	return value == 0 ? Json(nullptr) : value;
}

Row row_of(const Json &flow)
{
	return {
		end_text(flow, "local", "local_port"),
		end_text(flow, "remote", "remote_port"),
		word(flow["dev"]),
		feedback_text(flow),
		us(flow["pause_left_ns"]),
		word(flow["queued_packets"]),
		word(flow["pauses"]),
		scaled(flow["paused_ns"], 1e6, 3),
		word(flow["held_packets"]),
		scaled(flow["held_ns"], 1e6, 3),
		scaled(flow["beta"], 1, 3),
		word(flow["samples"]),
		word(flow["feedback_age_ms"]),
		us(flow["delay_ns"]),
		us(flow["delay_p50_ns"]),
		us(flow["delay_p90_ns"]),
		us(flow["delay_p99_ns"]),
		scaled(unless_zero(flow["release_rate_bytes_per_s"]), 125e3, 1),
		scaled(unless_zero(flow["burst_limit_bytes"]), 1e3, 1),
	};
}

// Columns as wide as what is in them; the first four are words, and begin at the left.
std::string aligned(const std::vector<Row> &rows)
{
	constexpr std::size_t kWords = 4;
	std::vector<std::size_t> width(kTitles.size());
	std::string text;

	for (const Row &row : rows) {
		for (std::size_t i = 0; i < row.size(); i++)
			width[i] = std::max(width[i], row[i].size());
	}
	for (const Row &row : rows) {
		for (std::size_t i = 0; i < row.size(); i++) {
			std::string pad(width[i] - row[i].size(), ' ');
			text += (i ? " " : "") + (i < kWords ? row[i] + pad : pad + row[i]);
		}
		text += '\n';
	}
	return text;
}

struct Arguments {
	std::string peer;
	bool json = false;
};

void flows(const Arguments &arguments)
{
	OnrampAddress peer{};
	OnrampFlows all;

	if (!arguments.peer.empty())
		peer = onramp_address(arguments.peer);
	onramp_family().call(ONRAMP_CMD_FLOWS, [&](nlmsghdr *message) {
		if (!arguments.peer.empty())
			mnl_attr_put(message, ONRAMP_A_REMOTE, peer.size(), peer.data());
	}, [&](const Attributes &a) {
		if (a.count(ONRAMP_A_FLOW))
			all.add(parse_nest(a.at(ONRAMP_A_FLOW)));
	}, true);
	std::cout << (arguments.json ? all.json().dump(2) + "\n" : all.table());
}

}  // namespace

std::string onramp_handle_text(unsigned handle)
{
	char text[32];

	if (handle == TC_H_ROOT)
		return "root";
	if (TC_H_MIN(handle))
		std::snprintf(text, sizeof(text), "%x:%x", TC_H_MAJ(handle) >> 16, TC_H_MIN(handle));
	else
		std::snprintf(text, sizeof(text), "%x:", TC_H_MAJ(handle) >> 16);
	return text;
}

Json onramp_flow_json(const Attributes &a)
{
	Json left_ns = number64(a, ONRAMP_FLOW_LEFT);

	return {
		{"local", address_text(a, ONRAMP_FLOW_LOCAL)},
		{"local_port", attribute_u16(a.at(ONRAMP_FLOW_LOCAL_PORT))},
		{"remote", address_text(a, ONRAMP_FLOW_REMOTE)},
		{"remote_port", attribute_u16(a.at(ONRAMP_FLOW_REMOTE_PORT))},
		{"dev", device_json(a)},
		{"qdisc", handle_json(a, ONRAMP_FLOW_HANDLE)},
		{"parent", handle_json(a, ONRAMP_FLOW_PARENT)},
		{"source", source_text(attribute_u8(a.at(ONRAMP_FLOW_SOURCE)))},
		{"grade", grade_json(a)},
		{"coarse", attribute_u8(a.at(ONRAMP_FLOW_COARSE)) != 0},
		{"held", left_ns != 0},
		{"pause_left_ns", left_ns},
		{"queued_packets", number32(a, ONRAMP_FLOW_QUEUED)},
		{"pauses", number64(a, ONRAMP_FLOW_PAUSES)},
		{"paused_ns", number64(a, ONRAMP_FLOW_PAUSED)},
		{"held_packets", number64(a, ONRAMP_FLOW_HELD)},
		{"held_ns", number64(a, ONRAMP_FLOW_HELD_TIME)},
		{"beta", attribute_u32(a.at(ONRAMP_FLOW_BETA)) / 1e6},
		{"samples", number64(a, ONRAMP_FLOW_SAMPLES)},
		{"noisy", a.count(ONRAMP_FLOW_NOISY) && attribute_u8(a.at(ONRAMP_FLOW_NOISY)) != 0},
		{"feedback_age_ms", age_json(a)},
		{"delay_ns", number64(a, ONRAMP_FLOW_DELAY)},
		{"delay_p50_ns", number64(a, ONRAMP_FLOW_DELAY_P50)},
		{"delay_p90_ns", number64(a, ONRAMP_FLOW_DELAY_P90)},
		{"delay_p99_ns", number64(a, ONRAMP_FLOW_DELAY_P99)},
		{"base_owd_ns", base_json(a)},
		{"release_rate_bytes_per_s", number64(a, ONRAMP_FLOW_RATE)},
		{"burst_limit_bytes", number32(a, ONRAMP_FLOW_BURST)},
	};
}

void OnrampFlows::add(const Attributes &a)
{
	auto address = [&a](unsigned type) {
		auto *bytes = static_cast<const char *>(attribute_bytes(a.at(type), sizeof(OnrampAddress)));
		return std::string(bytes, sizeof(OnrampAddress));
	};
	auto port = [&a](unsigned type) { return unsigned(attribute_u16(a.at(type))); };

	flows_.insert_or_assign({address(ONRAMP_FLOW_REMOTE), port(ONRAMP_FLOW_REMOTE_PORT),
				 address(ONRAMP_FLOW_LOCAL), port(ONRAMP_FLOW_LOCAL_PORT)},
				onramp_flow_json(a));
}

Json OnrampFlows::json() const
{
	Json all = Json::array();

	for (const auto &[key, flow] : flows_)
		all.push_back(flow);
	return all;
}

std::string OnrampFlows::table() const
{
	std::vector<Row> rows = {kTitles};

	for (const auto &[key, flow] : flows_)
		rows.push_back(row_of(flow));
	return aligned(rows);
}

void add_onramp_flows(CLI::App &onramp, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = onramp.add_subcommand("flows", "print the flows that are held when need be");

	command->add_flag("-j,--json", arguments->json, "print JSON");
	command->add_option("--peer", arguments->peer, "only those to this address");
	command->callback([arguments, &action] {
		action = [arguments] { flows(*arguments); };
	});
}

}  // namespace turnpike
