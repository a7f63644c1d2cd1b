// SPDX-License-Identifier: GPL-2.0
#include "onramp_flows.h"

#include <net/if.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>

#include "onramp.h"
#include "onramp_family.h"
#include "show/sockets.h"
#include "shown.h"
#include "silence_look.h"
#include "units.h"

namespace turnpike {
namespace {

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

// -- for people

// "orack-c", "tcpts", "orack-c!": with ! since the peer's timestamps do not serve. "tcpts~": noisy.
std::string feedback_text(const Json &flow)
{
	return flow["source"].get<std::string>() +
	       (flow["grade"].is_null() ? "" : "-" + flow["grade"].get<std::string>()) +
	       (flow["coarse"].get<bool>() ? "!" : "") + (flow["noisy"].get<bool>() ? "~" : "");
}

// Of what is limited by nobody there is nothing to say.
ShownColumn limit_column(const std::string &title, const std::string &name, When when)
{
	return {title, Align::right, when, [name](const Json &flow) {
		return flow[name] == 0 ? "-" : value_text(name, flow[name]);
	}};
}

ShownColumn beta_column()
{
	return {"beta", Align::right, When::verbose,
		[](const Json &flow) { return number_text("%.3f", flow["beta"].get<double>()); }};
}

// What says whether flows are held, and whether delay is low, comes without -v.
std::vector<ShownColumn> columns()
{
	return {
		end_column("local", "local", "local_port"),
		end_column("remote", "remote", "remote_port"),
		word_column("dev", "dev"),
		word_column("qdisc", "qdisc", When::verbose),
		word_column("parent", "parent", When::verbose),
		{"feedback", Align::left, When::always, feedback_text},
		value_column("left", "pause_left_ns"),
		value_column("queued", "queued_packets", When::verbose),
		value_column("pauses", "pauses", When::verbose),
		value_column("paused", "paused_ns"),
		value_column("held", "held_packets", When::verbose),
		value_column("held_time", "held_ns", When::verbose),
		beta_column(),
		value_column("samples", "samples", When::verbose),
		value_column("age", "feedback_age_ns", When::verbose),
		value_column("delay", "delay_ns", When::verbose),
		value_column("p50", "delay_p50_ns"),
		value_column("p90", "delay_p90_ns", When::verbose),
		value_column("p99", "delay_p99_ns"),
		value_column("base_owd", "base_owd_ns", When::verbose),
		limit_column("rate", "release_rate_bytes_per_s", When::verbose),
		limit_column("burst", "burst_limit_bytes", When::verbose),
	};
}

struct Arguments {
	std::string peer;
	Shown shown;
};

// Why flows are missing, or why those that are there have no feedback. peer: the only one to tell of, or empty.
std::string silence_below(const Json &flows, const std::string &peer)
{
	std::set<std::string> sampled, connected;
	std::string only = peer.empty() ? peer : onramp_address_text(onramp_address(peer).data());

	for (const Json &flow : flows)
		if (flow.at("samples") != 0)
			sampled.insert(flow.at("remote"));
	for (const Socket &socket : tcp_sockets())
		connected.insert(end_text(socket.ends.remote, std::nullopt));
	return look_for_silence(flows.empty() ? no_flow : nullptr, [&](const std::string &address) {
		return connected.count(address) && !sampled.count(address) && (only.empty() || address == only);
	});
}

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
	if (arguments.shown.json)
		std::cout << all.json().dump(2) << '\n';
	else
		std::cout << all.table(arguments.shown.all) << silence_below(all.json(), arguments.peer);
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
		{"feedback_age_ns", number64(a, ONRAMP_FLOW_AGE)},
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

std::string OnrampFlows::table(bool all) const
{
	return list_text(json(), columns(), all);
}

void add_onramp_flows(CLI::App &onramp, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = onramp.add_subcommand("flows", "print the flows that are held when need be");

	arguments->shown.add_both(*command);
	command->add_option("--peer", arguments->peer, "only those to this address");
	command->callback([arguments, &action] {
		action = [arguments] { flows(*arguments); };
	});
}

}  // namespace turnpike
