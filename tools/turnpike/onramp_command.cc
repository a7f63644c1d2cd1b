// SPDX-License-Identifier: GPL-2.0
//
// turnpike onramp: port, keys, counters and peers of the OR-ACKs of sch_onramp.
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "counter_names.h"
#include "genl.h"
#include "onramp.h"
#include "onramp_family.h"
#include "onramp_flows.h"
#include "shown.h"
#include "silence_look.h"
#include "subcommand.h"
#include "units.h"

namespace turnpike {
namespace {

constexpr std::array kStats = std::to_array<CounterName>({
	{ONRAMP_STAT_RECEIPTS_SENT, "receipts_sent"},
	{ONRAMP_STAT_RECEIPTS_FLOWS, "receipts_flows"},
	{ONRAMP_STAT_RECEIPTS_BYTES, "receipts_bytes"},
	{ONRAMP_STAT_RECEIPTS_DATA, "receipts_data"},
	{ONRAMP_STAT_RECEIPTS_SPARED, "receipts_spared"},
	{ONRAMP_STAT_ANNOUNCED, "announced"},
	{ONRAMP_STAT_SEND_FAILED, "send_failed"},
	{ONRAMP_STAT_RECEIPTS_TAKEN, "receipts_taken"},
	{ONRAMP_STAT_SAMPLES, "samples"},
	{ONRAMP_STAT_ANNOUNCEMENTS_TAKEN, "announcements_taken"},
	{ONRAMP_STAT_REFUSED_LENGTH, "refused_length"},
	{ONRAMP_STAT_REFUSED_VERSION, "refused_version"},
	{ONRAMP_STAT_REFUSED_KIND, "refused_kind"},
	{ONRAMP_STAT_REFUSED_COUNT, "refused_count"},
	{ONRAMP_STAT_REFUSED_VALUE, "refused_value"},
	{ONRAMP_STAT_REFUSED_KEY, "refused_key"},
	{ONRAMP_STAT_REFUSED_MAC, "refused_mac"},
	{ONRAMP_STAT_REFUSED_REPLAY, "refused_replay"},
	{ONRAMP_STAT_REFUSED_PEER, "refused_peer"},
	{ONRAMP_STAT_REFUSED_RATE, "refused_rate"},
	{ONRAMP_STAT_REFUSED_FLOW, "refused_flow"},
	{ONRAMP_STAT_REFUSED_SEQUENCE, "refused_sequence"},
	{ONRAMP_STAT_REFUSED_AMBIGUOUS, "refused_ambiguous"},
	{ONRAMP_STAT_REFUSED_TIME, "refused_time"},
	{ONRAMP_STAT_REFUSED_FULL, "refused_full"},
	{ONRAMP_STAT_CLOCKS_SENT, "clocks_sent"},
	{ONRAMP_STAT_CLOCKS_TAKEN, "clocks_taken"},
	{ONRAMP_STAT_SAMPLES_ABSOLUTE, "samples_absolute"},
	{ONRAMP_STAT_RECEIPTS_NIC, "receipts_nic"},
	{ONRAMP_STAT_RECEIPTS_UNSTAMPED, "receipts_unstamped"},
	{ONRAMP_STAT_SAMPLES_NIC, "samples_nic"},
	{ONRAMP_STAT_REFUSED_UNSTAMPED, "refused_unstamped"},
	{ONRAMP_STAT_REFUSED_PORT, "refused_port"},
	{ONRAMP_STAT_PRICES_SENT, "prices_sent"},
	{ONRAMP_STAT_PRICES_TAKEN, "prices_taken"},
	{ONRAMP_STAT_PRICES_ANSWERED, "prices_answered"},
	{ONRAMP_STAT_SAMPLES_UNUSED, "samples_unused"},
});
static_assert(names_all(kStats, ONRAMP_STAT_RECEIPTS_SENT, ONRAMP_STATS - 1));

struct Arguments {
	unsigned port = 0;
	std::vector<std::string> ask;
	unsigned key = 0;
	std::string secret_file = "/etc/turnpike/onramp.key";
	Shown shown;
};

// -- set, key

void set(const Arguments &arguments)
{
	std::vector<onramp_ask> ask;

	if (!arguments.port && arguments.ask.empty())
		throw Error("nothing to set: --port or --ask");
	if (arguments.ask != std::vector<std::string>{"all"}) {
		for (const std::string &text : arguments.ask)
			ask.push_back(onramp_prefix(text));
	}
	if (ask.size() > ONRAMP_ASKS_MAX)
		throw Error("16 prefixes are the most");
	onramp_family().call(ONRAMP_CMD_SET, [&](nlmsghdr *message) {
		if (arguments.port)
			mnl_attr_put_u16(message, ONRAMP_A_PORT, arguments.port);
		if (!arguments.ask.empty())
			mnl_attr_put(message, ONRAMP_A_ASK, ask.size() * sizeof(onramp_ask), ask.data());
	}, nullptr);
}

// The secret is in a file, or comes by standard input: arguments are seen by everybody.
std::string read_secret(const std::string &path)
{
	std::string line;

	if (path == "-") {
		std::getline(std::cin, line);
		return line;
	}
	std::ifstream file(path);
	if (!std::getline(file, line))
		throw Error("cannot read a key from " + path);
	return line;
}

void put_key(unsigned id, const OnrampKey &key)
{
	onramp_family().call(ONRAMP_CMD_KEY_ADD, [&](nlmsghdr *message) {
		mnl_attr_put_u8(message, ONRAMP_A_KEY_ID, id);
		mnl_attr_put(message, ONRAMP_A_KEY, key.size(), key.data());
	}, nullptr);
}

void key_add(const Arguments &arguments)
{
	put_key(arguments.key, onramp_key(read_secret(arguments.secret_file)));
}

void key_call(unsigned id, std::uint8_t command)
{
	onramp_family().call(command, [&](nlmsghdr *message) {
		mnl_attr_put_u8(message, ONRAMP_A_KEY_ID, id);
	}, nullptr);
}

void key_generate(const Arguments &arguments)
{
	bool to_output = arguments.secret_file == "-";
	std::string key;

	if (to_output)
		key = onramp_new_key();
	else
		onramp_write_new_key(arguments.secret_file);
	if (arguments.shown.json)
		std::cout << (to_output ? Json{{"key", key}} : Json{{"file", printable(arguments.secret_file)}}).dump(2) << '\n';
	else
		std::cout << (to_output ? key : "wrote " + printable(arguments.secret_file) + ": copy it to each host that answers") << '\n';
}

// The numbers of the keys that are set, the one that signs first.
std::vector<unsigned> keys_set()
{
	std::vector<unsigned> ids;

	onramp_family().call(ONRAMP_CMD_GET, nullptr, [&](const Attributes &a) {
		auto keys = a.find(ONRAMP_A_KEY_ID);
		if (keys == a.end())
			return;
		auto *id = static_cast<const std::uint8_t *>(mnl_attr_get_payload(keys->second));
		ids.assign(id, id + mnl_attr_get_payload_len(keys->second));
	});
	return ids;
}

// Who may be asked for receipts; none: everybody.
std::vector<std::string> asked()
{
	std::vector<std::string> prefixes;

	onramp_family().call(ONRAMP_CMD_GET, nullptr, [&](const Attributes &a) {
		auto found = a.find(ONRAMP_A_ASK);
		if (found == a.end())
			return;
		auto *ask = static_cast<const onramp_ask *>(mnl_attr_get_payload(found->second));
		for (unsigned i = 0; i < mnl_attr_get_payload_len(found->second) / sizeof(*ask); i++)
			prefixes.push_back(onramp_prefix_text(ask[i]));
	});
	return prefixes;
}

// What is in the file is in use then, and nothing else.
void key_load(const Arguments &arguments)
{
	std::vector<OnrampNumberedKey> keys = onramp_key_file(arguments.secret_file);

	for (unsigned id : keys_set())
		key_call(id, ONRAMP_CMD_KEY_DEL);
	for (const OnrampNumberedKey &key : keys)
		put_key(key.id, key.key);
}

// -- show

Json config_json()
{
	Json config;

	onramp_family().call(ONRAMP_CMD_GET, nullptr, [&](const Attributes &a) {
		config["port"] = attribute_u16(a.at(ONRAMP_A_PORT));
		config["active"] = attribute_u8(a.at(ONRAMP_A_ACTIVE)) != 0;
		config["clock_error_ns"] = nullptr;
		if (std::uint32_t error = attribute_u32(a.at(ONRAMP_A_CLOCK_ERROR)))
			config["clock_error_ns"] = error;
	});
	config["keys"] = keys_set();
	config["ask"] = asked();
	return config;
}

std::string config_text(const Json &config)
{
	return settings_text({
		{"UDP port", config["port"].dump() + (config["active"] ? ", open" : ", closed: no onramp pauses here")},
		{"keys", config["keys"].empty() ? Json("none") : config["keys"]},
		{"may be asked", config["ask"].empty() ? Json("everybody near") : config["ask"]},
		{"own clock", config["clock_error_ns"].is_null() ?
				      "not disciplined" :
				      "right to " + value_text("error_ns", config["clock_error_ns"])},
	});
}

void show(const Arguments &arguments)
{
	Json config = config_json();

	if (config["active"] && config["keys"].empty())
		std::cerr << "turnpike: no key: who can send with another host's address can forge receipts "
			     "(turnpike onramp key generate, then load)\n";
	std::cout << (arguments.shown.json ? config.dump(2) + "\n" : config_text(config));
}

// -- stats

void stats(const Arguments &arguments)
{
	Json json;

	onramp_family().call(ONRAMP_CMD_STATS, nullptr, [&](const Attributes &a) {
		Attributes counters = parse_nest(a.at(ONRAMP_A_STATS));
		for (const CounterName &counter : kStats) {
			auto found = counters.find(counter.number + 1);
			json[counter.name] = found == counters.end() ? 0 : attribute_u64(found->second);
		}
	});
	std::cout << (arguments.shown.json ? json.dump(2) + "\n" : counters_text(json, arguments.shown.all));
}

// -- peers

// A number that only synchronized clocks have.
Json absolute(const Attributes &a, unsigned type)
{
	auto found = a.find(type);

	if (found == a.end())
		return nullptr;
	if (type == ONRAMP_PEER_OWD || type == ONRAMP_PEER_BASE_OWD)
		return static_cast<std::int64_t>(attribute_u64(found->second));
	return attribute_u32(found->second);
}

// Whose times receipts carry.
Json stamps(const Attributes &a, unsigned type)
{
	auto found = a.find(type);

	if (found == a.end())
		return nullptr;
	return attribute_u8(found->second) ? "nic" : "host";
}

// Of receipts.
Json few(const Attributes &a, unsigned type)
{
	auto found = a.find(type);

	return found == a.end() ? Json(nullptr) : Json(attribute_u8(found->second) != 0);
}

// Of which delay the percentiles are; and one of them.
Json delay_kind(const Attributes &a)
{
	auto found = a.find(ONRAMP_PEER_DELAY_KIND);

	if (found == a.end())
		return nullptr;
	return attribute_u8(found->second) ? "owd" : "queue";
}

Json delay(const Attributes &a, unsigned type)
{
	auto found = a.find(type);

	return found == a.end() ? Json(nullptr) : Json(attribute_u64(found->second));
}

Json peer_json(const Attributes &a)
{
	char clock[16];

	std::snprintf(clock, sizeof(clock), "%08x", attribute_u32(a.at(ONRAMP_PEER_CLOCK)));
	return {
		{"remote", address_text(a, ONRAMP_PEER_REMOTE)},
		{"local", address_text(a, ONRAMP_PEER_LOCAL)},
		{"acks", attribute_u8(a.at(ONRAMP_PEER_ACKS)) != 0},
		{"hears", attribute_u8(a.at(ONRAMP_PEER_HEARS)) != 0},
		{"grade", onramp_grade_text(attribute_u8(a.at(ONRAMP_PEER_GRADE)))},
		{"error_ns", absolute(a, ONRAMP_PEER_ERROR)},
		{"owd_ns", absolute(a, ONRAMP_PEER_OWD)},
		{"base_owd_ns", absolute(a, ONRAMP_PEER_BASE_OWD)},
		{"delay", delay_kind(a)},
		{"delay_p50_ns", delay(a, ONRAMP_PEER_DELAY_P50)},
		{"delay_p90_ns", delay(a, ONRAMP_PEER_DELAY_P90)},
		{"delay_p99_ns", delay(a, ONRAMP_PEER_DELAY_P99)},
		{"stamps", stamps(a, ONRAMP_PEER_NIC)},
		{"own_stamps", stamps(a, ONRAMP_PEER_NIC_OURS)},
		{"few", few(a, ONRAMP_PEER_FEW)},
		{"own_few", few(a, ONRAMP_PEER_FEW_OURS)},
		{"clock", clock},
		{"drift_ppb", static_cast<std::int32_t>(attribute_u32(a.at(ONRAMP_PEER_DRIFT)))},
		{"clock_steps", attribute_u32(a.at(ONRAMP_PEER_STEPS))},
		{"clock_absurd", attribute_u32(a.at(ONRAMP_PEER_ABSURD))},
		{"receipts", attribute_u64(a.at(ONRAMP_PEER_RECEIPTS))},
		{"samples", attribute_u64(a.at(ONRAMP_PEER_SAMPLES))},
		{"refused", attribute_u64(a.at(ONRAMP_PEER_REFUSED))},
	};
}

// Who does not answer, or whose delay is not known, is seen without -v.
std::vector<ShownColumn> peer_columns()
{
	return {
		word_column("remote", "remote"),
		word_column("local", "local", When::verbose),
		word_column("acks", "acks"),
		word_column("hears", "hears"),
		word_column("grade", "grade"),
		value_column("error", "error_ns", When::verbose),
		value_column("owd", "owd_ns", When::verbose),
		value_column("base_owd", "base_owd_ns", When::verbose),
		word_column("delay", "delay"),
		value_column("p50", "delay_p50_ns"),
		value_column("p90", "delay_p90_ns", When::verbose),
		value_column("p99", "delay_p99_ns"),
		word_column("stamps", "stamps"),
		word_column("own_stamps", "own_stamps", When::verbose),
		word_column("few", "few", When::verbose),
		word_column("own_few", "own_few", When::verbose),
		word_column("clock", "clock", When::verbose),
		value_column("drift", "drift_ppb", When::verbose),
		value_column("clock_steps", "clock_steps", When::verbose),
		value_column("clock_absurd", "clock_absurd", When::verbose),
		value_column("receipts", "receipts", When::verbose),
		value_column("samples", "samples"),
		value_column("refused", "refused"),
	};
}

void peers(const Arguments &arguments)
{
	Json all = Json::array();

	onramp_family().call(ONRAMP_CMD_PEERS, nullptr, [&](const Attributes &a) {
		if (a.count(ONRAMP_A_PEER))
			all.push_back(peer_json(parse_nest(a.at(ONRAMP_A_PEER))));
	}, true);
	if (arguments.shown.json)
		std::cout << all.dump(2) << '\n';
	else
		std::cout << list_text(all, peer_columns(), arguments.shown.all)
			  << look_for_silence(all.empty() ? no_peer : nullptr, [](const std::string &) { return true; });
}

// -- command line

CLI::App *add_key(CLI::App &parent, const char *name, const char *what,
		  const std::shared_ptr<Arguments> &arguments, Action &action, const Run<Arguments> &run)
{
	CLI::App *command = add_change(parent, name, what, arguments, action, run, config_json);

	command->add_option("ID", arguments->key, "number of the key, the same on all hosts")
		->required()
		->check(CLI::Range(1u, 255u));
	return command;
}

void add_keys(CLI::App &onramp, const std::shared_ptr<Arguments> &arguments, Action &action)
{
	CLI::App *key = onramp.add_subcommand("key", "keys that OR-ACKs are signed with, two at most");

	key->require_subcommand(1);
	add_key(*key, "add", "take what is signed with this key", arguments, action, key_add)
		->add_option("FILE", arguments->secret_file,
			     "a file with 32 hexadecimal digits; - for standard input")
		->required();
	add_key(*key, "use", "sign with this key", arguments, action,
		[](const Arguments &a) { key_call(a.key, ONRAMP_CMD_KEY_USE); });
	add_key(*key, "del", "forget this key", arguments, action,
		[](const Arguments &a) { key_call(a.key, ONRAMP_CMD_KEY_DEL); });
	CLI::App *generate = add_shown(*key, "generate", "make a new key", More::none, arguments, action, key_generate);
	generate->add_option("FILE", arguments->secret_file,
			     "a file that is not there yet; - for standard output (default: "
			     "/etc/turnpike/onramp.key)");
	add_change(*key, "load", "use the keys of a file, and no others", arguments, action, key_load, config_json)
		->add_option("FILE", arguments->secret_file,
			     "a line each, the first signs: KEY, or ID KEY where that is not 1 (default: "
			     "/etc/turnpike/onramp.key)");
}

}  // namespace

void add_onramp_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *onramp = app.add_subcommand("onramp", "The qdisc onramp: flows; OR-ACKs: peers, keys, port, clocks");

	onramp->require_subcommand(1);
	add_shown(*onramp, "show", "print port and numbers of keys, the one that signs first", More::none,
		  arguments, action, show);
	add_shown(*onramp, "peers", "print the hosts on the other side", More::verbose, arguments, action, peers);
	add_onramp_flows(*onramp, action);
	add_shown(*onramp, "stats", "print the counters that are not 0", More::verbose, arguments, action, stats);
	CLI::App *settings = add_change(*onramp, "set", "set the UDP port, and who may be asked for receipts",
					arguments, action, set, config_json);
	settings->add_option("--port", arguments->port, "the same on all hosts (default: 61004)")
		->check(CLI::Range(1u, 65535u));
	settings->add_option("--ask", arguments->ask,
			     "networks of hosts that may be asked, as 10.0.0.0/8, 16 at most; all: everybody "
			     "near (default: all)");
	add_keys(*onramp, arguments, action);
	add_clock_command(*onramp, action);
}

}  // namespace turnpike
