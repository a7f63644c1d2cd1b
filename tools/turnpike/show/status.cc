// SPDX-License-Identifier: GPL-2.0
#include "status.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

#include <sys/utsname.h>

#include "../command.h"
#include "../percentile.h"
#include "../process.h"
#include "../setup/config_file.h"
#include "../setup/host.h"
#include "../setup/state_file.h"
#include "../units.h"
#include "include/uapi/turnpike.h"
#include "namespaces.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Null for users without rights, who may not ask.
Json peers_json()
{
	Json all = answer_if_any({"onramp", "peers"});
	Json silent = Json::array();
	unsigned known = 0;

	if (!all.is_array())
		return nullptr;
	// Hosts that this one sends to; the others only receive.
	for (const Json &peer : all) {
		if (peer.value("acks", false))
			known++;
		else if (!peer.value("hears", false))
			silent.push_back(peer.at("remote"));
	}
	return {{"answering", known}, {"silent", silent}};
}

Json tlt_json()
{
	Json show = answer_if_any({"tlt", "show"}), stats = answer_if_any({"tlt", "stats"}), flows = answer_if_any({"tlt", "flows"});
	unsigned deaf = 0;

	if (!show.is_object() || !show.value("enabled", false))
		return nullptr;
	for (const Json &flow : flows.is_array() ? flows : Json::array())
		deaf += flow.value("peer", "") == "deaf";
	return {{"rules", show.value("rules", Json::array())}, {"flows", flows.size()}, {"deaf", deaf},
		{"rtos", stats.is_object() ? stats.value("rtos", std::uint64_t(0)) : 0},
		{"began", stats.is_object() ? stats.value("flows", std::uint64_t(0)) : 0}};
}

// Least rates of this namespace; none where the file says nothing.
Floors floors()
{
	Floors floors_bps;

	for (const char *name : {"timely", "timely_patched", "timely_pi"}) {
		std::ifstream file(std::string("/proc/sys/net/ipv4/tcp_") + name + "/min_rate_bps");
		std::uint64_t floor_bps;

		if (file >> floor_bps)
			floors_bps[name] = floor_bps;
	}
	return floors_bps;
}

// A socket's rate is told in whole bytes.
bool is_at_floor(const Socket &socket, const Floors &floors_bps)
{
	auto floor = floors_bps.find(socket.congctl);

	return floor != floors_bps.end() && socket.rate_bytes && socket.rate_bytes <= floor->second / 8;
}

// What turnpike up did, and what of it is not so any more.
Json setup_json()
{
	Json differs = Json::array();
	State state;

	try {
		state = StateFile(kStateDirectory, false).read();
		if (state.changes.empty())
			return nullptr;
		differs = not_so(state.wanted);
	} catch (const Error &error) {
		differs.push_back(error.what());
	}
	return {{"since", state.since_s}, {"by", state.by}, {"differs", differs}};
}

tc_onramp_stats stats_of(const Qdisc &qdisc)
{
	tc_onramp_stats stats = {};

	std::memcpy(&stats, qdisc.app.data(), std::min(sizeof(stats), qdisc.app.size()));
	return stats;
}

// most_samples: of the queues that were added before
void add_queue(Json &device, const Qdisc &qdisc, std::uint64_t &most_samples)
{
	tc_onramp_stats stats = stats_of(qdisc);
	auto add = [&](const char *name, std::uint64_t value) {
		device[name] = device.value(name, std::uint64_t(0)) + value;
	};

	add("queues", 1);
	add("packets", qdisc.packets);
	add("drops", qdisc.drops);
	add("held_packets", stats.held_packets);
	add("held_ns", stats.held_ns);
	add("flows", stats.controlled_flows);
	add("pauses", stats.pauses);
	add("timeouts", stats.timeouts);
	add("coarse", stats.coarse);
	add("ignored", stats.ignored_unknown + stats.ignored_late + stats.ignored_unstamped);
	if (stats.samples > most_samples) {
		most_samples = stats.samples;
		device["delay_p50_ns"] = stats.delay_p50_ns;
	}
	if (stats.samples)
		device["delay_p99_ns"] = std::max(device.value("delay_p99_ns", std::uint64_t(0)),
						  std::uint64_t(stats.delay_p99_ns));
	add("samples", stats.samples);
	device["line_rate_bps"] = 8 * stats.line_rate;
}

// -- text

// Its value; null where it has none.
const Json &value_or_null(const Json &object, const char *name)
{
	static const Json none;
	auto found = object.find(name);

	return found == object.end() ? none : *found;
}

// Of so many nanoseconds; "-" where there is none.
std::string time_text(const Json &object, const char *name)
{
	auto found = object.find(name);

	return found == object.end() || found->is_null() ? "-" : duration_text(found->get<double>());
}

std::string line(const char *name, const std::string &text)
{
	char head[16];

	std::snprintf(head, sizeof(head), "%-*s", static_cast<int>(kStatusIndent), name);
	return head + text + "\n";
}

std::string timely_text(const Json &timely)
{
	std::string text = count_text(timely.at("flows"), "flow");

	if (timely.at("flows") != 0)
		text += ", RTT p50 " + time_text(timely, "rtt_p50_ns") + ", p99 " + time_text(timely, "rtt_p99_ns") +
			", " + count_text(timely.at("retransmits"), "segment") + " sent again";
	if (timely.at("at_floor") != 0)
		text += ", " + timely.at("at_floor").dump() + " at the least rate";
	for (const Json &device : value_or_null(timely, "devices"))
		text += (&device == &timely.at("devices").front() ? "; by routes of " : ", ") + printable(device.get<std::string>());
	return text + "; " + timely.at("other_flows").dump() + " with others, " +
	       timely.at("default").get<std::string>() + " by default";
}

std::string device_text(const Json &device)
{
	double packets = std::max(device.at("packets").get<double>(), 1.0);
	std::string text = printable(device.at("name").get<std::string>()) + ": ";

	if (device.at("queues") > 1)
		text += device.at("queues").dump() + " queues, ";
	text += count_text(device.at("flows"), "flow");
	if (device.at("samples") != 0)
		text += ", queueing delay p50 " + time_text(device, "delay_p50_ns") + ", p99 " +
			time_text(device, "delay_p99_ns");
	return text + ", " + percent_text(device.at("held_packets").get<double>() / packets) + " of packets held, " +
	       count_text(device.at("drops"), "drop");
}

std::string peers_text(const Json &peers)
{
	std::string text = count_text(peers.at("answering"), "host") + " with receipts";
	unsigned shown = 0;

	if (peers.at("silent").empty())
		return text;
	text += ", " + std::to_string(peers.at("silent").size()) + " without:";
	for (const Json &peer : peers.at("silent")) {
		if (shown++ == 3)
			return text + " ...";
		text += " " + peer.get<std::string>();
	}
	return text;
}

std::string rules_text(const Json &rules)
{
	std::string text;

	for (const Json &rule : rules) {
		text += text.empty() ? "" : " ";
		std::string words;
		for (const auto &[name, value] : rule.items())
			words += (words.empty() ? "" : ",") + name + "=" +
				 (value.is_string() ? value.get<std::string>() : value.dump());
		text += words;
	}
	return text.empty() ? "all TCP" : text;
}

std::string setup_text(const Json &setup, std::int64_t now_s)
{
	// Its file cannot be read.
	if (setup.at("since") == 0 && !setup.at("differs").empty())
		return "cannot be told: " + setup.at("differs").front().get<std::string>();
	std::string text = "by " + setup.at("by").get<std::string>() + ", " +
			   age_text(now_s - setup.at("since").get<std::int64_t>()) + " ago; ";

	if (setup.at("differs").empty())
		return text + "all of it stands";
	text += "not so any more: ";
	for (const Json &one : setup.at("differs"))
		text += (&one == &setup.at("differs").front() ? "" : ", ") + one.get<std::string>();
	return text + " (turnpike diff)";
}

std::string stamps_text(const Json &stamps)
{
	std::string text;

	for (const Json &port : stamps) {
		text += (text.empty() ? "" : "; ") + printable(port.at("name").get<std::string>()) + " by " + port.at("clock").get<std::string>();
		if (port.at("clock") != port.at("rx_clock"))
			text += ", received by " + port.at("rx_clock").get<std::string>();
		if (!port.at("error_ns").is_null())
			text += ", error " + time_text(port, "error_ns");
	}
	return text;
}

std::string clock_text(const Json &clock)
{
	std::string text = clock.at("own_error_ns").is_null() ? "own not disciplined" : "own right to " + time_text(clock, "own_error_ns");

	if (clock.at("peers") == 0)
		return text;
	text += "; " + count_text(clock.at("peers"), "peer") + ", known to " + time_text(clock, "error_max_ns") + " at worst";
	for (const auto &[grade, count] : clock.at("grades").items())
		text += ", " + count.dump() + " in grade " + grade;
	return text;
}

std::string file_text(const Json &file)
{
	std::string text = file.at("path").get<std::string>();

	if (!file.at("trouble").is_null())
		return file.at("trouble").get<std::string>();
	return text + (file.at("differs").empty() ? ": as in the kernel" : ": differs from the kernel: turnpike diff");
}

std::string namespace_text(const Json &one, std::int64_t now_s)
{
	std::string text;

	if (!one.at("netns").get<std::string>().empty())
		text += "\nnetwork namespace " + one.at("netns").get<std::string>() + "\n";
	if (!one.at("timely").is_null())
		text += line("timely", timely_text(one.at("timely")));
	for (const Json &device : one.at("devices"))
		text += line("onramp", device_text(device));
	if (!one.at("peers").is_null())
		text += line("", peers_text(one.at("peers")));
	if (!one.at("tlt").is_null()) {
		const Json &tlt = one.at("tlt");
		text += line("tlt", rules_text(tlt.at("rules")) + ": " + count_text(tlt.at("flows"), "flow") + ", " +
				     count_text(tlt.at("rtos"), "timeout") + ", " + count_text(tlt.at("deaf"), "peer") +
				     " without TLT");
	}
	if (const Json &stamps = value_or_null(one, "stamps"); !stamps.is_null())
		text += line("stamps", stamps_text(stamps));
	if (const Json &clock = value_or_null(one, "clock"); !clock.is_null())
		text += line("clock", clock_text(clock));
	if (!one.at("setup").is_null())
		text += line("set up", setup_text(one.at("setup"), now_s));
	return text + line("verdict", one.at("verdict").get<std::string>());
}

}  // namespace

Json not_so(const Wanted &wanted)
{
	Json differs = Json::array();

	for (const Step &step : compare(wanted, look_at_host(wanted)).steps)
		if (!step.holds)
			differs.push_back(step.change.key());
	return differs;
}

Json timely_json(const std::vector<Socket> &sockets, const Floors &floors_bps)
{
	std::vector<std::uint32_t> rtts, least_rtts;
	std::uint64_t acked_bytes = 0, others = 0, retransmits = 0, at_floor = 0;

	for (const Socket &socket : sockets) {
		if (!socket.congctl.starts_with("timely")) {
			others++;
			continue;
		}
		rtts.push_back(socket.rtt_us);
		if (socket.min_rtt_us)
			least_rtts.push_back(*socket.min_rtt_us);
		acked_bytes += socket.bytes_acked;
		at_floor += is_at_floor(socket, floors_bps);
		retransmits += socket.retransmits;
	}
	std::sort(rtts.begin(), rtts.end());
	Json json = {{"flows", rtts.size()}, {"other_flows", others}, {"at_floor", at_floor}, {"retransmits", retransmits},
		     {"acked_bytes", acked_bytes}};
	if (!rtts.empty()) {
		json["rtt_p50_ns"] = 1000 * std::uint64_t(percentile(rtts, 50));
		json["rtt_p99_ns"] = 1000 * std::uint64_t(percentile(rtts, 99));
	}
	std::sort(least_rtts.begin(), least_rtts.end());
	if (!least_rtts.empty())
		json["least_rtt_p50_ns"] = 1000 * std::uint64_t(percentile(least_rtts, 50));
	return json;
}

Json onramp_json(const std::vector<Qdisc> &qdiscs)
{
	std::map<std::string, std::uint64_t> most_samples;
	Json devices = Json::array();

	for (const Qdisc &qdisc : qdiscs) {
		if (qdisc.kind != "onramp")
			continue;
		auto found = std::find_if(devices.begin(), devices.end(),
					  [&](const Json &device) { return device.at("name") == qdisc.device; });
		if (found == devices.end()) {
			devices.push_back({{"name", qdisc.device}});
			found = devices.end() - 1;
		}
		add_queue(*found, qdisc, most_samples[qdisc.device]);
	}
	return devices;
}

bool lacks_feedback(const Json &status, const Json &device)
{
	const Json &peers = status.at("peers");

	// Who was asked for receipts had data to take, and whose timestamps are coarse, too.
	return device.at("samples") == 0 &&
	       (device.at("coarse") != 0 || (!peers.is_null() && !peers.at("silent").empty()));
}

namespace {

// What is in use, and whether it does something.
struct Effect {
	bool works = false;
	std::string why_not;	// of the pieces that do not

	void add(bool does, const std::string &reason)
	{
		works = works || does;
		if (!does)
			why_not += (why_not.empty() ? "" : ", and ") + reason;
	}

	std::string text() const
	{
		if (why_not.empty())
			return "working";
		return (works ? "working, but " : "no effect because ") + why_not + ": turnpike doctor says more";
	}
};

}  // namespace

std::string verdict(const Json &status)
{
	const Json &timely = status.at("timely"), &tlt = status.at("tlt");
	bool on = !status.at("devices").empty() || !tlt.is_null();
	Effect effect;

	if (!status.at("setup").is_null() && !status.at("setup").at("differs").empty())
		return "not as it was set up: turnpike diff";
	if (!timely.is_null() && timely.at("flows") != 0)
		effect.add(timely.at("at_floor") != timely.at("flows"), "all flows of timely are at their least rate");
	for (const Json &device : status.at("devices")) {
		std::string name = device.at("name").get<std::string>();
		if (device.at("flows") != 0 || lacks_feedback(status, device))
			effect.add(!lacks_feedback(status, device), "onramp on " + name + " gets no feedback");
	}
	if (!tlt.is_null() && tlt.at("flows") != 0)
		effect.add(tlt.at("deaf") != tlt.at("flows"), "no peer of TLT answers its marks");
	if (effect.works || !effect.why_not.empty())
		return effect.text();
	if (on || !status.at("setup").is_null())
		return "idle: no connection that it acts on";
	return "off: turnpike up DEV --for PREFIX --dry-run shows what it would do";
}

Json look_at_namespace(const std::string &name)
{
	std::set<std::string> modules = loaded_modules();
	Json json = {{"netns", name}, {"timely", nullptr}, {"devices", onramp_json(qdiscs())}, {"peers", nullptr},
		     {"tlt", nullptr}, {"setup", setup_json()}};

	if (modules.count("tcp_timely")) {
		json["timely"] = timely_json(tcp_sockets(), floors());
		json["timely"]["default"] = first_word("/proc/sys/net/ipv4/tcp_congestion_control");
	}
	if (!json["devices"].empty())
		json["peers"] = peers_json();
	if (modules.count("tlt"))
		json["tlt"] = tlt_json();
	json["verdict"] = verdict(json);
	return json;
}

void add_details(Json &one, const Json &ports)
{
	one["stamps"] = stamps_json(ports, number_of_namespace());
	one["clock"] = one["devices"].empty() ? Json() : clock_json(answer_if_any({"clock", "show"}));
	if (one["timely"].is_null())
		return;
	std::set<std::string> devices;
	for (const Route &route : look_at_host().routes)
		if (route.congctl.starts_with("timely"))
			devices.insert(route.device());
	one["timely"]["devices"] = devices;
}

Json file_json()
{
	Json file = {{"path", kConfig}, {"differs", Json::array()}, {"trouble", nullptr}};

	if (is_absent(kConfig))
		return nullptr;
	try {
		file["differs"] = not_so(read_config(kConfig));
	} catch (const Error &error) {
		file["trouble"] = error.what();
	}
	return file;
}

Json stamps_json(const Json &ports, std::uint64_t netns)
{
	Json list = Json::array();

	for (const Json &port : ports)
		if (port.at("netns") == netns)
			list.push_back({{"name", port.at("dev")}, {"clock", port.at("clock")},
					{"rx_clock", port.value("rx_clock", port.at("clock"))}, {"error_ns", value_or_null(port, "error_ns")}});
	return list.empty() ? Json() : list;
}

Json clock_json(const Json &shown)
{
	Json grades = Json::object(), most;

	if (!shown.is_object() || (shown.at("own_error_ns").is_null() && shown.at("peers").empty()))
		return nullptr;
	for (const Json &peer : shown.at("peers")) {
		if (!peer.at("grade").is_null()) {
			std::string grade = peer.at("grade");
			grades[grade] = grades.value(grade, 0) + 1;
		}
		if (most.is_null() || peer.at("error_ns") > most)
			most = peer.at("error_ns");
	}
	return {{"own_error_ns", shown.at("own_error_ns")}, {"peers", shown.at("peers").size()}, {"error_max_ns", most}, {"grades", grades}};
}

bool keep_device(Json &status, const std::string &device)
{
	Json kept = Json::array();
	auto only = [&](const Json &list) {
		Json found = Json::array();
		for (const Json &has : list)
			if (has.at("name") == device)
				found.push_back(has);
		return found;
	};

	for (Json one : status["namespaces"]) {
		const Json &routes = value_or_null(one["timely"], "devices");
		Json stamps = only(value_or_null(one, "stamps"));

		one["devices"] = only(one["devices"]);
		one["stamps"] = stamps.empty() ? Json() : stamps;
		if (!one["devices"].empty() || !stamps.empty() || std::find(routes.begin(), routes.end(), device) != routes.end())
			kept.push_back(one);
	}
	status["namespaces"] = kept;
	return !kept.empty();
}

Json look_at_status(const AddTo &add)
{
	struct utsname name = {};
	Json spaces = Json::array();

	uname(&name);
	each_namespace([&](const std::string &netns) {
		Json one = look_at_namespace(netns);
		bool timely = !one["timely"].is_null() && one["timely"]["flows"] != 0;

		if (!netns.empty() && !timely && one["devices"].empty() && one["tlt"].is_null() && one["setup"].is_null())
			return;
		if (add)
			add(one);
		spaces.push_back(one);
	});
	return {{"version", kVersion}, {"host", name.nodename}, {"kernel", name.release}, {"namespaces", spaces}};
}

Json stale_json(const std::vector<ModuleState> &modules)
{
	Json list = Json::array();

	for (const ModuleState &module : modules)
		list.push_back({{"name", module.name}, {"differ", stale_text(module)}});
	return list;
}

std::string status_text(const Json &status, std::int64_t now_s)
{
	std::string text = "turnpike " + status.at("version").get<std::string>() + " on " +
			   status.at("host").get<std::string>() + ", Linux " + status.at("kernel").get<std::string>() + "\n";

	// Of the host, and so before the namespaces; one that looks at them alone has none.
	for (const Json &module : status.value("stale", Json::array()))
		text += line("module", module.at("name").get<std::string>() + ": " + module.at("differ").get<std::string>() +
					       "; turnpike doctor says how to load that");
	for (const Json &one : status.at("namespaces"))
		text += namespace_text(one, now_s);
	if (const Json &file = value_or_null(status, "file"); !file.is_null())
		text += line("file", file_text(file));
	return text;
}

}  // namespace turnpike
