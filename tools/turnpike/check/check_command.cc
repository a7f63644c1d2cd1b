// SPDX-License-Identifier: GPL-2.0
//
// turnpike check: is a profile worth it on the way to a peer? Own traffic without and with it, by turns.
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../exit_status.h"
#include "../folded.h"
#include "../setup/asked.h"
#include "../setup/config_file.h"
#include "../suggest.h"
#include "../units.h"
#include "peer.h"
#include "protocol.h"
#include "route_get.h"
#include "serve.h"
#include "setting.h"
#include "turn.h"
#include "verdict.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// A flow needs some round trips to find its rate, and a p99 needs requests.
constexpr double kShortestTurnS = 0.2, kLongestS = 600;
// Signals end a program by this and their number, as a shell says it.
constexpr int kBySignal = 128;

struct Arguments {
	std::string peer, profile = profile_names().front(), time = "10s";
	std::vector<std::string> allow;
	std::uint16_t port = kCheckPort;
	unsigned rounds = 5;
	bool serve = false, json = false;
};

// What a check is of, found before anything is changed.
struct Path {
	Address address;
	std::string device;
	Wanted wanted;
};

double seconds_of(const Arguments &arguments)
{
	double seconds = static_cast<double>(onramp_time_ns(arguments.time)) / 1e9, turns = 2 * arguments.rounds;

	if (seconds < kShortestTurnS * turns || seconds > kLongestS)
		throw Error("--for " + arguments.time + ": " + duration_text(kShortestTurnS * turns * 1e9) + " to " +
			    duration_text(kLongestS * 1e9) + " for " + count_text(arguments.rounds, "round") + ", as 10s");
	return seconds;
}

Wanted wanted_for(const Arguments &arguments, const Address &peer, const std::string &device)
{
	std::vector<std::string> pieces = profile_pieces(arguments.profile);
	bool tlt = std::find(pieces.begin(), pieces.end(), "tlt") != pieces.end();
	Asked asked;

	asked.devices = {device};
	asked.prefixes = {host_prefix(peer)};
	asked.profile = arguments.profile;
	if (tlt)
		asked.rules = {"peer=" + host_prefix(peer)};
	return wanted_by(asked);
}

// What was wanted has to be what the traffic had.
void refuse_other_congestion(const Turn &turn, const Wanted &wanted)
{
	if (wanted.congestion.empty() || turn.with_profile == (turn.congestion == wanted.congestion))
		return;
	throw Error("connections had " + turn.congestion + (turn.with_profile ? " in place of " + wanted.congestion : " before, too") +
		    ": is there a rule (ip rule) or a program that sets it?");
}

// Neither setting is always the first: what grows or shrinks meanwhile is in both.
std::vector<Turn> run_turns(const Arguments &arguments, const Peer &peer, const Path &path, Setting &setting)
{
	double seconds = seconds_of(arguments) / (2 * arguments.rounds);
	std::vector<Turn> turns;

	for (unsigned i = 0; i < 2 * arguments.rounds; i++) {
		bool with_profile = i % 4 == 1 || i % 4 == 2;

		peer.signals().check();
		if (with_profile)
			setting.on();
		turns.push_back(run_turn(peer, seconds, path.device));
		turns.back().with_profile = with_profile;
		refuse_other_congestion(turns.back(), path.wanted);
		if (with_profile)
			setting.off();
	}
	return turns;
}

Path path_to_peer(const Arguments &arguments)
{
	Address address = address_of(arguments.peer, arguments.port);
	std::string device = device_to(address);

	return {address, device, wanted_for(arguments, address, device)};
}

// All of it is put back, whatever ends it.
std::vector<Turn> compare(const Arguments &arguments, const Path &path)
{
	Setting setting(path.wanted);
	Signals signals;
	std::vector<Turn> turns;

	try {
		Peer peer(printable(arguments.peer) + " port " + std::to_string(arguments.port), path.address, signals);
		if (!arguments.json)
			std::cerr << "turnpike: fills the path of " << path.device << " to " << host_text(path.address) << " for "
				  << duration_text(seconds_of(arguments) * 1e9) << ", by turns with " << arguments.profile << '\n';
		turns = run_turns(arguments, peer, path, setting);
	} catch (...) {
		setting.end();
		throw;
	}
	setting.end();
	return turns;
}

Worth check(const Arguments &arguments)
{
	seconds_of(arguments);
	require_rights();
	Path path = path_to_peer(arguments);
	std::vector<Turn> turns = compare(arguments, path);
	Verdict verdict = judge(turns);

	if (arguments.json) {
		Json json = {{"peer", host_text(path.address)}, {"device", path.device}, {"profile", arguments.profile}};
		json.update(report_json(verdict, turns));
		std::cout << json.dump(2) << '\n';
	} else {
		std::cout << report_table(verdict, arguments.profile)
			  << folded(report_sentences(verdict, arguments.profile), screen_columns(), 2);
	}
	return verdict.worth;
}

void check_and_set(const Arguments &arguments, int &status)
{
	try {
		status = check(arguments) == Worth::yes ? 0 : kAmiss;
	} catch (const Stopped &stopped) {
		status = kBySignal + stopped.number;
		throw Error(std::string(stopped.what()) + "; all is as it was");
	}
}

std::vector<std::string> who_may_ask(const Arguments &arguments)
{
	std::vector<std::string> networks;

	for (const std::string &prefix : arguments.allow)
		networks.push_back(datacenter_prefix(prefix));
	if (networks.empty() && !is_absent(kConfig))
		networks = read_config(kConfig).prefixes;
	if (networks.empty())
		throw Error("who may ask? --allow 10.0.0.0/8");
	return networks;
}

void require_one_end(const Arguments &arguments, const std::vector<CLI::Option *> &of_clients)
{
	if (arguments.serve == !arguments.peer.empty())
		throw CLI::ValidationError("name a PEER, or --serve");
	for (const CLI::Option *option : of_clients)
		if (arguments.serve && option->count())
			throw CLI::ValidationError(option->get_name() + " is not for --serve");
	if (!arguments.serve && !arguments.allow.empty())
		throw CLI::ValidationError("--allow is for --serve");
	if (!arguments.serve && !arguments.port)
		throw CLI::ValidationError("--port 0 is for --serve");
}

}  // namespace

void add_check_command(CLI::App &app, Action &action, int &status)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("check", "is a profile worth it on the way to a peer? own traffic, without and with it");

	command->add_option("PEER", arguments->peer, "the host to check with, which runs turnpike check --serve");
	CLI::Option *time = command->add_option("--for", arguments->time, "how long traffic flows (default: 10s)");
	CLI::Option *profile = command->add_option("--profile", arguments->profile, "timely (default), onramp, tlt or all")
		->check(is_one_of(profile_names()));
	CLI::Option *rounds = command->add_option("--rounds", arguments->rounds, "turns of each setting (default: 5)")
		->check(CLI::Range(3, 50));
	command->add_option("--port", arguments->port, "TCP port of the peer, or to serve on (default: 61005)");
	CLI::Option *json = command->add_flag("-j,--json", arguments->json, "print JSON");
	command->add_flag("--serve", arguments->serve, "be the peer, until a signal ends it");
	command->add_option("--allow", arguments->allow,
			    "with --serve: networks whose hosts may ask, as 10.0.0.0/8; else those of turnpike.conf")
		->delimiter(',')
		->allow_extra_args(false);
	std::vector<CLI::Option *> of_clients = {time, profile, rounds, json};
	command->callback([arguments, of_clients, &action, &status] {
		require_one_end(*arguments, of_clients);
		action = [arguments, &status] {
			if (!arguments->serve)
				return check_and_set(*arguments, status);
			serve_checks(arguments->port, who_may_ask(*arguments));
		};
	});
}

}  // namespace turnpike
