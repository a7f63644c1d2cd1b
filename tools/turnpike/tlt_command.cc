// SPDX-License-Identifier: GPL-2.0
//
// turnpike tlt: configuration, counters and flows of the module tlt, and K.
#include <net/if.h>

#include <array>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "counter_names.h"
#include "genl.h"
#include "shown.h"
#include "subcommand.h"
#include "tlt.h"
#include "tlt_shown.h"

namespace turnpike {
namespace {

constexpr char kMissing[] =
	"the kernel knows no TLT: load its module with 'modprobe tlt'";

const std::vector<std::string> kClocks = {"adaptive", "byte", "segment"};
const std::vector<std::string> kSenders = {"auto", "window", "rate"};
const std::vector<std::string> kForeign = {"override", "keep"};
const std::vector<std::string> kPeers = {"unknown", "tlt", "deaf"};

// Behind the three arrays of counters by kind.
constexpr std::array kStats = std::to_array<CounterName>({
	{TLT_STAT_INJECTED_BYTE, "injected_byte"},
	{TLT_STAT_INJECTED_SEGMENT, "injected_segment"},
	{TLT_STAT_INJECTED_BYTES, "injected_bytes"},
	{TLT_STAT_INJECT_LIMITED, "inject_limited"},
	{TLT_STAT_INJECT_REFUSED, "inject_refused"},
	{TLT_STAT_INJECT_FAILED, "inject_failed"},
	{TLT_STAT_ECHOES_DROPPED, "echoes_dropped"},
	{TLT_STAT_ECHOES_UNASKED, "echoes_unasked"},
	{TLT_STAT_ANSWERS, "answers"},
	{TLT_STAT_CUTS, "cuts"},
	{TLT_STAT_CUT_BYTES, "cut_bytes"},
	{TLT_STAT_CUT_FAILED, "cut_failed"},
	{TLT_STAT_RTOS, "rtos"},
	{TLT_STAT_FLOWS, "flows"},
	{TLT_STAT_FLOWS_REFUSED, "flows_refused"},
	{TLT_STAT_DEAF, "deaf"},
	{TLT_STAT_CLOCKS_DROPPED, "clocks_dropped"},
	{TLT_STAT_LEFT, "left"},
});
static_assert(names_all(kStats, TLT_STAT_INJECTED_BYTE, TLT_STATS - 1));

struct Arguments {
	std::string map = "local";
	std::vector<std::string> rules;
	std::string clock = "adaptive";
	std::string sender = "auto";
	std::string foreign = "override";
	unsigned period = 96;
	bool everything = false;
	Shown shown;
	std::string bdp, buffer, ecn = "0", k = "0";
	double alpha = 1;
	unsigned ports = 1;
	unsigned mtu = 1500;
};

Genl open_family()
{
	return Genl(TLT_GENL_NAME, TLT_GENL_VERSION, kMissing);
}

std::uint8_t index_of(const auto &names, const std::string &name)
{
	for (std::size_t i = 0; i < names.size(); i++) {
		if (names[i] == name)
			return static_cast<std::uint8_t>(i);
	}
	throw Error("'" + name + "' is unknown");
}

std::string name_of(const std::vector<std::string> &names, unsigned index)
{
	return index < names.size() ? names[index] : std::to_string(index);
}

// -- set and off

void put_rule(nlmsghdr *message, const TltRule &rule)
{
	nlattr *nest = mnl_attr_nest_start(message, TLT_A_RULE);

	if (!rule.device.empty()) {
		unsigned index = if_nametoindex(rule.device.c_str());
		if (!index)
			throw Error("no device '" + rule.device + "'");
		mnl_attr_put_u32(message, TLT_RULE_IFINDEX, index);
	}
	if (rule.port_low) {
		mnl_attr_put_u16(message, TLT_RULE_PORT_LOW, rule.port_low);
		mnl_attr_put_u16(message, TLT_RULE_PORT_HIGH, rule.port_high);
	}
	if (!rule.address.empty()) {
		mnl_attr_put(message, TLT_RULE_ADDRESS, rule.address.size(),
			     rule.address.data());
		mnl_attr_put_u8(message, TLT_RULE_PREFIX, rule.prefix);
	}
	if (rule.by_uid) {
		mnl_attr_put_u32(message, TLT_RULE_UID_LOW, rule.uid_low);
		mnl_attr_put_u32(message, TLT_RULE_UID_HIGH, rule.uid_high);
	}
	if (!rule.cgroup.empty())
		mnl_attr_put_strz(message, TLT_RULE_CGROUP, rule.cgroup.c_str());
	mnl_attr_nest_end(message, nest);
}

void put_rules(nlmsghdr *message, const std::vector<TltRule> &rules)
{
	if (rules.empty())
		return;
	nlattr *nest = mnl_attr_nest_start(message, TLT_A_RULES);
	for (const TltRule &rule : rules)
		put_rule(message, rule);
	mnl_attr_nest_end(message, nest);
}

void set_config(const Arguments &arguments)
{
	TltMap map = tlt_map(arguments.map);
	std::vector<TltRule> rules;

	if (arguments.rules.size() > TLT_RULES_MAX)
		throw Error("there are at most " + std::to_string(TLT_RULES_MAX) + " rules");
	for (const std::string &text : arguments.rules)
		rules.push_back(tlt_rule(text));
	Genl genl = open_family();
	genl.call(TLT_CMD_SET, [&](nlmsghdr *message) {
		mnl_attr_put(message, TLT_A_MAP, map.size(), map.data());
		mnl_attr_put_u32(message, TLT_A_PERIOD, arguments.period);
		mnl_attr_put_u8(message, TLT_A_CLOCK, index_of(kClocks, arguments.clock));
		mnl_attr_put_u8(message, TLT_A_SENDER, index_of(kSenders, arguments.sender));
		mnl_attr_put_u8(message, TLT_A_FOREIGN, index_of(kForeign, arguments.foreign));
		put_rules(message, rules);
	}, nullptr);
}

// -- show

std::vector<std::uint8_t> bytes_of(const nlattr *attribute)
{
	auto *first = static_cast<const std::uint8_t *>(mnl_attr_get_payload(attribute));

	return {first, first + mnl_attr_get_payload_len(attribute)};
}

std::string range_text(unsigned low, unsigned high)
{
	return std::to_string(low) + (high > low ? "-" + std::to_string(high) : "");
}

Json rule_json(const nlattr *nest)
{
	Attributes a = parse_nest(nest);
	Json rule = Json::object();

	if (a.count(TLT_RULE_IFINDEX)) {
		char name[IF_NAMESIZE] = "?";
		unsigned index = attribute_u32(a[TLT_RULE_IFINDEX]);
		rule["dev"] = if_indextoname(index, name) ? name : "#" + std::to_string(index);
	}
	if (a.count(TLT_RULE_PORT_LOW) && a.count(TLT_RULE_PORT_HIGH))
		rule["port"] = range_text(attribute_u16(a[TLT_RULE_PORT_LOW]),
					  attribute_u16(a[TLT_RULE_PORT_HIGH]));
	if (a.count(TLT_RULE_ADDRESS) && a.count(TLT_RULE_PREFIX))
		rule["peer"] = tlt_address_text(bytes_of(a[TLT_RULE_ADDRESS])) + "/" +
			       std::to_string(attribute_u8(a[TLT_RULE_PREFIX]));
	if (a.count(TLT_RULE_UID_LOW) && a.count(TLT_RULE_UID_HIGH))
		rule["uid"] = range_text(attribute_u32(a[TLT_RULE_UID_LOW]),
					 attribute_u32(a[TLT_RULE_UID_HIGH]));
	if (a.count(TLT_RULE_CGROUP))
		rule["cgroup"] = attribute_text(a[TLT_RULE_CGROUP]);
	return rule;
}

Json rules_json(const Attributes &a)
{
	Json rules = Json::array();
	auto nest = a.find(TLT_A_RULES);

	if (nest == a.end())
		return rules;
	auto *rule = static_cast<const nlattr *>(mnl_attr_get_payload(nest->second));
	auto *end = reinterpret_cast<const char *>(rule) +
		    mnl_attr_get_payload_len(nest->second);
	for (; mnl_attr_ok(rule, static_cast<int>(end - reinterpret_cast<const char *>(rule)));
	     rule = mnl_attr_next(rule))
		rules.push_back(rule_json(rule));
	return rules;
}

Json config_json(const Attributes &a)
{
	Json config = {{"enabled", attribute_u8(a.at(TLT_A_ENABLED)) != 0}};

	if (!config["enabled"])
		return config;
	auto codes = bytes_of(a.at(TLT_A_MAP));
	TltMap map{};
	std::copy_n(codes.begin(), std::min(codes.size(), map.size()), map.begin());
	config["map"] = tlt_map_text(map);
	for (unsigned kind = 0; kind < TLT_KINDS; kind++)
		config["dscp"][kTltKinds[kind]] = map[kind];
	config["period"] = attribute_u32(a.at(TLT_A_PERIOD));
	config["clock"] = name_of(kClocks, attribute_u8(a.at(TLT_A_CLOCK)));
	config["sender"] = name_of(kSenders, attribute_u8(a.at(TLT_A_SENDER)));
	config["foreign"] = name_of(kForeign, attribute_u8(a.at(TLT_A_FOREIGN)));
	config["rules"] = rules_json(a);
	return config;
}

Json config()
{
	Json json;

	open_family().call(TLT_CMD_GET, nullptr, [&](const Attributes &a) { json = config_json(a); });
	return json;
}

void show(const Arguments &arguments)
{
	Json json = config();

	std::cout << (arguments.shown.json ? json.dump(2) + "\n" : tlt_config_text(json));
}

// Says what is on, since that is all TCP of the namespace where no rule says otherwise.
void set(const Arguments &arguments)
{
	set_config(arguments);
	show(arguments);
	if (!arguments.shown.json)
		std::cout << "undo with: turnpike tlt off\n";
}

void off(const Arguments &arguments)
{
	open_family().call(TLT_CMD_OFF, nullptr, nullptr);
	if (arguments.shown.json)
		show(arguments);
}

// -- stats

std::uint64_t stat(const Attributes &counters, unsigned number)
{
	auto found = counters.find(number + 1);

	return found == counters.end() ? 0 : attribute_u64(found->second);
}

Json sent_json(const Attributes &counters)
{
	Json json;

	for (unsigned kind = 0; kind < TLT_KINDS; kind++)
		json[kTltKinds[kind]] = {
			{"packets", stat(counters, TLT_STAT_PACKETS + kind)},
			{"bytes", stat(counters, TLT_STAT_BYTES + kind)}};
	return json;
}

Json stats_json(const Attributes &counters)
{
	Json json = {{"sent", sent_json(counters)}};

	for (unsigned kind = 0; kind < TLT_KINDS; kind++)
		json["received"][kTltKinds[kind]] = stat(counters, TLT_STAT_RECEIVED + kind);
	for (const CounterName &counter : kStats)
		json[counter.name] = stat(counters, counter.number);
	return json;
}

void stats(const Arguments &arguments)
{
	open_family().call(TLT_CMD_STATS, nullptr, [&](const Attributes &a) {
		Json json = stats_json(parse_nest(a.at(TLT_A_STATS)));
		std::cout << (arguments.shown.json ? json.dump(2) + "\n" : tlt_stats_text(json, arguments.shown.all));
	});
}

// -- flows

Json flow_stats_json(const Attributes &counters)
{
	Json json = {{"sent", sent_json(counters)}};

	for (const char *name : kTltFlowStats)
		json[name] = stat(counters, number_of(kStats, name));
	return json;
}

Json flow_json(const Attributes &a)
{
	auto number = [&a](unsigned type) { return attribute_u32(a.at(type)); };
	Json flow = {
		{"local", tlt_address_text(bytes_of(a.at(TLT_FLOW_LOCAL)))},
		{"local_port", attribute_u16(a.at(TLT_FLOW_LOCAL_PORT))},
		{"remote", tlt_address_text(bytes_of(a.at(TLT_FLOW_REMOTE)))},
		{"remote_port", attribute_u16(a.at(TLT_FLOW_REMOTE_PORT))},
		{"peer", name_of(kPeers, attribute_u8(a.at(TLT_FLOW_PEER)))},
		{"important", number(TLT_FLOW_IMPORTANT)},
		{"echoes", number(TLT_FLOW_ECHOES)},
		{"injected", number(TLT_FLOW_INJECTED)},
		{"rtos", number(TLT_FLOW_RTOS)},
		{"idle_ns", 1000000 * std::uint64_t(number(TLT_FLOW_IDLE_MS))},
	};

	// A module of before it had them says nothing.
	if (a.count(TLT_FLOW_STATS))
		flow.update(flow_stats_json(parse_nest(a.at(TLT_FLOW_STATS))));
	return flow;
}

void flows(const Arguments &arguments)
{
	Json all = Json::array();

	open_family().call(TLT_CMD_FLOWS, nullptr, [&](const Attributes &a) {
		if (a.count(TLT_A_FLOW))
			all.push_back(flow_json(parse_nest(a.at(TLT_A_FLOW))));
	}, true);
	std::cout << (arguments.shown.json ? all.dump(2) + "\n" : tlt_flows_text(all, arguments.shown.all));
}

// -- threshold

Json threshold_json(const TltThreshold &t)
{
	return {{"k_bytes", t.k_bytes}, {"port_bytes", t.port_bytes},
		{"reserve_bytes", t.reserve_bytes}, {"flows_per_port", t.flows_per_port},
		{"flows", t.flows}};
}

void print_threshold(const TltThreshold &t)
{
	std::cout << std::fixed << std::setprecision(2)
		  << "K " << t.k_bytes / 1e3 << " KB\n"
		  << "a congested port gets " << t.port_bytes / 1e3 << " KB, "
		  << t.reserve_bytes / 1e3 << " KB of it for important packets\n"
		  << "flows without loss of important packets: " << t.flows_per_port
		  << " a port, " << t.flows << " in all\n"
		  << "this holds where TLT's packets have a queue of their own: "
		     "in one with others they starve\n";
}

void threshold(const Arguments &arguments)
{
	TltSwitch sw = {
		.bdp_bytes = tlt_bytes(arguments.bdp),
		.buffer_bytes = tlt_bytes(arguments.buffer),
		.alpha = arguments.alpha,
		.ports = arguments.ports,
		.packet_bytes = static_cast<double>(arguments.mtu),
		.ecn_bytes = tlt_bytes(arguments.ecn),
		.k_bytes = tlt_bytes(arguments.k),
	};
	TltThreshold t = tlt_threshold(sw);

	if (arguments.shown.json)
		std::cout << threshold_json(t).dump(2) << '\n';
	else
		print_threshold(t);
	if (t.reserve_bytes <= 0)
		throw Error("K leaves no room for important packets: a larger buffer or "
			    "alpha, or fewer congested ports, is needed");
}

// -- command line

void add_set_options(CLI::App &command, Arguments &a)
{
	command.add_option("--map", a.map, "code points: local (default), vma, or "
			   "data=N,echo=N,clock=N,clock-echo=N,control=N,plain=N");
	command.add_option("--rule", a.rules, "what is TLT's: dev=NAME,port=LOW[-HIGH],"
			   "peer=ADDRESS[/BITS],uid=LOW[-HIGH],cgroup=PATH; may be "
			   "repeated");
	command.add_flag("--all", a.everything, "all TCP of this namespace, in place of rules");
	command.add_option("--clock", a.clock, "what clocking sends (default: adaptive)")
		->check(CLI::IsMember(kClocks));
	command.add_option("--sender", a.sender, "how packets are chosen (default: auto)")
		->check(CLI::IsMember(kSenders));
	command.add_option("--period", a.period, "rate-based senders: packets between "
			   "important ones (default: 96; 0: none)")
		->check(CLI::Range(0u, 32767u));
	command.add_option("--foreign", a.foreign, "packets whose application chose a "
			   "code point: override (default) or keep")
		->check(CLI::IsMember(kForeign));
}

// All TCP of a host is marked only for who says so: switches treat it differently then.
void check_what(const Arguments &arguments)
{
	if (arguments.everything && !arguments.rules.empty())
		throw CLI::ValidationError("--all or --rule, not both");
	if (!arguments.everything && arguments.rules.empty())
		throw CLI::ValidationError("which packets are TLT's? --rule port=5000, or --all for all TCP of this namespace");
}

void add_threshold_options(CLI::App &command, Arguments &a)
{
	command.add_option("--bdp", a.bdp, "bandwidth-delay product of the path, bytes")
		->required();
	command.add_option("--buffer", a.buffer, "shared buffer of the switch, bytes")
		->required();
	command.add_option("--alpha", a.alpha, "dynamic threshold parameter (default: 1)")
		->check(CLI::Range(0.001, 1000.0));
	command.add_option("--ports", a.ports, "ports congested at once (default: 1)")
		->check(CLI::Range(1u, 4096u));
	command.add_option("--mtu", a.mtu, "bytes of an important packet (default: 1500)")
		->check(CLI::Range(64u, 65535u));
	command.add_option("--ecn", a.ecn, "ECN marking threshold, bytes (default: none)");
	command.add_option("--k", a.k, "take this K in place of the least");
}

}  // namespace

void add_tlt_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *tlt = app.add_subcommand("tlt", "Configure TLT, and look at it");

	tlt->require_subcommand(1);
	CLI::App *settings = tlt->add_subcommand("set", "switch TLT on in this network namespace");
	arguments->shown.add_json(*settings);
	settings->callback([arguments, &action] {
		check_what(*arguments);
		action = [arguments] { set(*arguments); };
	});
	add_set_options(*settings, *arguments);
	settings->footer("Switches need a queue for TLT's packets alone, or those of hosts without TLT "
			 "starve them:\nsee turnpike tlt threshold.");
	add_shown(*tlt, "off", "switch it off", More::none, arguments, action, off);
	add_shown(*tlt, "show", "print the configuration", More::none, arguments, action, show);
	add_shown(*tlt, "stats", "print the counters that are not 0", More::verbose, arguments, action, stats);
	add_shown(*tlt, "flows", "print the flows", More::verbose, arguments, action, flows);
	add_threshold_options(*add_shown(*tlt, "threshold", "the switch's K and how many flows fit",
				   More::none, arguments, action, threshold), *arguments);
}

}  // namespace turnpike
