// SPDX-License-Identifier: GPL-2.0
#include "look.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../command.h"
#include "../monotonic.h"
#include "../proc_counter.h"
#include "../process.h"
#include "../show/namespaces.h"
#include "../show/status.h"
#include "connections.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// A busy host has ten thousands of connections, and those that carry most tell most.
constexpr std::size_t kConnectionsMost = 1000;
// Of a file or of what a command prints: a host may have a full table of the Internet's routes.
constexpr std::size_t kTextMost = 1 << 16;

std::string text_of(const std::string &path)
{
	std::ifstream file(path);
	std::string text(std::istreambuf_iterator<char>(file), {});

	return text.substr(0, kTextMost);
}

Json tcp_counters()
{
	std::string snmp = text_of("/proc/net/snmp"), netstat = text_of("/proc/net/netstat");

	return {{"out_segs", proc_counter(snmp, "Tcp:", "OutSegs").value_or(0)},
		{"retrans_segs", proc_counter(snmp, "Tcp:", "RetransSegs").value_or(0)},
		{"timeouts", proc_counter(netstat, "TcpExt:", "TCPTimeouts").value_or(0)}};
}

void add_list(Json &space, const char *name, std::vector<Json> list, const char *by)
{
	Kept kept = keep_largest(std::move(list), by, kConnectionsMost);

	space[name] = std::move(kept.list);
	if (kept.left_out)
		space[std::string(name) + "_left_out"] = kept.left_out;
}

std::vector<Json> flows_of(const char *what)
{
	Json all = answer_if_any({what, "flows"});

	return all.is_array() ? all.get<std::vector<Json>>() : std::vector<Json>();
}

void keep_device(std::vector<Json> &list, const char *key, const std::string &device)
{
	std::erase_if(list, [&](const Json &one) { return one.value(key, "") != device; });
}

Json look_at(const std::string &name, const std::string &device)
{
	Json space = look_at_namespace(name);
	std::vector<Json> devices = space["devices"].get<std::vector<Json>>();
	std::vector<Json> held = devices.empty() ? std::vector<Json>() : flows_of("onramp");

	if (!device.empty()) {
		keep_device(devices, "name", device);
		keep_device(held, "dev", device);
		space["devices"] = devices;
	}
	space["tcp"] = tcp_counters();
	add_list(space, "connections", connections_json(tcp_sockets()), "bytes_acked");
	add_list(space, "onramp_flows", std::move(held), "samples");
	add_list(space, "tlt_flows", space["tlt"].is_null() ? std::vector<Json>() : flows_of("tlt"), "important");
	return space;
}

bool is_anything_on(const Json &space)
{
	const Json &timely = space.at("timely");

	return (timely.is_object() && timely.at("flows") != 0) || !space.at("devices").empty() ||
	       !space.at("tlt").is_null() || !space.at("setup").is_null();
}

Json sysctls()
{
	const std::string root = "/proc/sys/net/";
	Json values = Json::object();
	auto add = [&](const std::string &path) {
		std::string text = text_of(path);

		text.erase(text.find_last_not_of('\n') + 1);
		if (!text.empty())
			values[path.substr(std::string("/proc/sys/").size())] = text;
	};

	for (const char *name : {"core/default_qdisc", "ipv4/tcp_congestion_control", "ipv4/tcp_ecn", "ipv4/tcp_timestamps",
				 "ipv4/tcp_rmem", "ipv4/tcp_wmem"})
		add(root + name);
	for (const char *name : {"ipv4/tcp_timely", "ipv4/tcp_timely_patched", "ipv4/tcp_timely_pi"}) {
		std::error_code error;

		for (const fs::directory_entry &entry : fs::directory_iterator(root + name, error))
			add(entry.path());
	}
	return values;
}

}  // namespace

Json look_at_all(const std::string &device)
{
	Json look = {{"look", true}, {"t_ns", monotonic_ns()}, {"namespaces", Json::array()}};

	each_namespace([&](const std::string &name) {
		try {
			Json space = look_at(name, device);

			if (name.empty() || is_anything_on(space))
				look["namespaces"].push_back(std::move(space));
		} catch (const std::exception &error) {
			look["namespaces"].push_back({{"netns", name}, {"error", error.what()}});
		}
	});
	look["took_ns"] = monotonic_ns() - look["t_ns"].get<std::int64_t>();
	return look;
}

Json look_at_configuration()
{
	Json commands = Json::object(), files = Json::object();

	for (const Words &words : {Words{"tc", "qdisc", "show"}, Words{"ip", "route", "show"}, Words{"ip", "-6", "route", "show"},
				   Words{"turnpike", "onramp", "show"}, Words{"turnpike", "tlt", "show"},
				   Words{"turnpike", "version"}}) {
		Ended ended = run(words);

		if (!ended.status)
			commands[shell_text(words)] = ended.output.substr(0, kTextMost);
	}
	for (const char *path : {"/etc/turnpike/turnpike.conf"}) {
		std::error_code hidden;

		if (fs::exists(path, hidden))
			files[path] = text_of(path);
	}
	return {{"configuration", true}, {"sysctls", sysctls()}, {"commands", commands}, {"files", files}};
}

}  // namespace turnpike
