// SPDX-License-Identifier: GPL-2.0
//
// turnpike up, down, diff: a host is made what is wanted, and what it was.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "../command.h"
#include "host.h"
#include "plan.h"
#include "state_file.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kStateDirectory[] = "/run/turnpike";
constexpr char kConfig[] = "/etc/turnpike/turnpike.conf";
constexpr char kKey[] = "/etc/turnpike/onramp.key";
constexpr char kUnit[] = "turnpike.service";

struct Arguments {
	std::vector<std::string> devices;
	bool all = false, dry_run = false, persist = false, json = false;
	std::vector<std::string> prefixes;
	std::vector<std::string> pieces;
	std::string profile;
	std::string config = kConfig;
	std::vector<std::string> rules;
};

std::string text_of(const std::string &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	if (!file)
		throw Error("cannot read " + path);
	text << file.rdbuf();
	return text.str();
}

Wanted config_of(const std::string &path)
{
	try {
		return parse_config(text_of(path));
	} catch (const Error &error) {
		throw Error(path + ": " + error.what());
	}
}

// What the words of the command line say.
Wanted wanted_by(const Arguments &arguments)
{
	Wanted wanted;
	std::vector<std::string> pieces = arguments.pieces;

	if (pieces.empty())
		pieces = profile_pieces(arguments.profile.empty() ? profile_names().front() : arguments.profile);
	for (const std::string &prefix : arguments.prefixes)
		wanted.prefixes.push_back(onramp_prefix_text(onramp_prefix(prefix)));
	for (const std::string &piece : pieces)
		add_piece(wanted, piece, arguments.devices);
	if (!wanted.congestion.empty() && wanted.prefixes.empty())
		throw Error("which hosts are the datacenter? --for 10.0.0.0/8: timely is not for the Internet");
	if (wanted.tlt && arguments.rules.empty())
		throw Error("which packets are TLT's? --rule port=5000, or --rule all for all TCP of this namespace");
	if (arguments.rules != std::vector<std::string>{"all"})
		wanted.tlt_rules = arguments.rules;
	for (WantedDevice &device : wanted.devices) {
		device.usec = device.onramp && !wanted.prefixes.empty();
		if (device.onramp && std::filesystem::exists(kKey))
			wanted.key = kKey;
	}
	return wanted;
}

Wanted wanted_of(const Arguments &arguments)
{
	if (!arguments.all)
		return wanted_by(arguments);
	if (!arguments.pieces.empty() || !arguments.profile.empty() || !arguments.prefixes.empty())
		throw Error("--all takes what " + arguments.config + " says: no --for, --with or --profile beside it");
	return config_of(arguments.config);
}

// -- changes

const Change *find_change(const State &state, const std::string &key)
{
	for (const Change &change : state.changes)
		if (change.key() == key)
			return &change;
	return nullptr;
}

// What was changed before and is not wanted any more; the newest first.
std::vector<Change> left_over(const State &state, const Plan &plan)
{
	std::vector<Change> found;

	for (auto change = state.changes.rbegin(); change != state.changes.rend(); ++change)
		if (std::none_of(plan.steps.begin(), plan.steps.end(),
				 [&](const Step &step) { return step.change.key() == change->key(); }))
			found.push_back(*change);
	return found;
}

void forget(State &state, const std::string &key)
{
	std::erase_if(state.changes, [&](const Change &change) { return change.key() == key; });
}

// A module that connections use goes later: no reason to leave the rest as it is.
bool may_stay(const Change &change)
{
	return change.kind == Kind::module;
}

// Takes one change back. The host is looked at anew: what came before may have changed it.
void take_back(const Change &change)
{
	for (const Command &command : undo(change, look_at_host())) {
		try {
			carry_out(command);
		} catch (const Error &error) {
			if (!may_stay(change))
				throw;
			std::cerr << "turnpike: " << change.name << " stays loaded, as something uses it (" << error.what()
				  << "); later: modprobe -r " << change.name << '\n';
		}
	}
}

// All of a plan or nothing.
class Transaction {
public:
	Transaction(const StateFile &file, State &state) : file_(file), state_(state) {}

	void make(const Step &step)
	{
		bool known = find_change(state_, step.change.key());

		// Written first: what is half done can be undone.
		if (!known) {
			state_.changes.push_back(step.change);
			made_.push_back(step.change);
		}
		file_.write(state_);
		for (const Command &command : step.commands)
			carry_out(command);
	}

	// Whatever goes wrong here is told, and the rest goes on.
	void roll_back()
	{
		for (auto change = made_.rbegin(); change != made_.rend(); ++change) {
			try {
				take_back(*change);
				forget(state_, change->key());
			} catch (const Error &error) {
				std::cerr << "turnpike: cannot take back " << change->key() << ": " << error.what() << '\n';
			}
		}
		file_.write(state_);
	}

private:
	const StateFile &file_;
	State &state_;
	std::vector<Change> made_;
};

// -- what is told

void print_commands(const std::vector<Command> &commands)
{
	for (const Command &command : commands)
		std::cout << command_text(command) << '\n';
}

void print_remarks(const Plan &plan)
{
	for (const std::string &remark : plan.remarks)
		std::cerr << "turnpike: " << remark << '\n';
}

void dry_run(const Plan &plan, const State &state, const Host &host)
{
	for (const Change &change : left_over(state, plan))
		print_commands(undo(change, host));
	for (const Step &step : plan.steps)
		if (!step.holds)
			print_commands(step.commands);
}

// -- persist

void systemctl(const std::string &verb)
{
	Words words = {"systemctl"};

	words.push_back(verb);
	words.push_back(kUnit);
	carry_out({words, std::nullopt});
}

void persist(const Wanted &wanted, const std::string &config)
{
	std::filesystem::create_directories(std::filesystem::path(config).parent_path());
	if (std::filesystem::exists(config) && config_of(config) != wanted)
		throw Error(config + " says otherwise: change it and call 'turnpike up --all --persist', or move it away");
	if (!std::filesystem::exists(config)) {
		std::ofstream file(config);
		file << config_text(wanted);
		if (!file.flush())
			throw Error("cannot write " + config);
		std::cout << "wrote " << config << '\n';
	}
	systemctl("enable");
	std::cout << "enabled " << kUnit << ": 'turnpike up --all' at each boot\n";
}

void require_root()
{
	if (geteuid())
		throw Error("needs root (CAP_NET_ADMIN and CAP_SYS_MODULE)");
}

// -- commands

void up(const Arguments &arguments)
{
	Wanted wanted = wanted_of(arguments);
	if (!arguments.dry_run)
		require_root();
	StateFile file(kStateDirectory, !arguments.dry_run);
	State state = file.read();
	Host host = look_at_host();
	Plan todo = plan(wanted, host);
	unsigned done = 0;

	print_remarks(todo);
	if (arguments.dry_run) {
		dry_run(todo, state, host);
		return;
	}
	if (state.changes.empty()) {
		state.since_s = std::time(nullptr);
		state.by = caller();
	}
	state.wanted = wanted;
	Transaction transaction(file, state);
	try {
		for (const Step &step : todo.steps) {
			if (step.holds)
				continue;
			transaction.make(step);
			done++;
			std::cout << step.change.key() << ": " << step.now << " -> " << step.wanted << '\n';
		}
	} catch (const std::exception &error) {
		transaction.roll_back();
		throw Error(std::string(error.what()) + "; all is as it was");
	}
	for (const Change &change : left_over(state, todo)) {
		take_back(change);
		forget(state, change.key());
		done++;
		std::cout << change.key() << ": as before\n";
	}
	file.write(state);
	if (!done)
		std::cout << "nothing to do: all is as wanted\n";
	if (arguments.persist)
		persist(wanted, arguments.config);
}

void down(const Arguments &arguments)
{
	if (!arguments.dry_run)
		require_root();
	StateFile file(kStateDirectory, !arguments.dry_run);
	State state = file.read();
	bool failed = false;

	if (state.changes.empty()) {
		std::cout << "nothing to undo: 'turnpike up' changed nothing here\n";
		return;
	}
	std::vector<Change> changes(state.changes.rbegin(), state.changes.rend());
	for (const Change &change : changes) {
		if (arguments.dry_run) {
			print_commands(undo(change, look_at_host()));
			continue;
		}
		try {
			take_back(change);
			forget(state, change.key());
			std::cout << change.key() << ": as before\n";
		} catch (const Error &error) {
			std::cerr << "turnpike: " << change.key() << ": " << error.what() << '\n';
			failed = true;
		}
		file.write(state);
	}
	if (failed)
		throw Error("not all could be taken back: mend that, and call 'turnpike down' again");
	if (!arguments.dry_run && arguments.persist) {
		systemctl("disable");
		std::cout << "disabled " << kUnit << '\n';
	}
}

// Wanted by what: the configuration file if there is one, or else what up was told.
Wanted wanted_now(const Arguments &arguments, const State &state)
{
	if (std::filesystem::exists(arguments.config) || state.changes.empty())
		return config_of(arguments.config);
	return state.wanted;
}

void diff(const Arguments &arguments, int &status)
{
	StateFile file(kStateDirectory, false);
	State state = file.read();
	Plan todo = plan(wanted_now(arguments, state), look_at_host());
	Json json = Json::array();

	for (const Step &step : todo.steps)
		if (!step.holds)
			json.push_back({{"what", step.change.key()}, {"wanted", step.wanted}, {"now", step.now}});
	for (const Change &change : left_over(state, todo))
		json.push_back({{"what", change.key()}, {"wanted", nullptr}, {"now", "as turnpike up made it"}});
	status = json.empty() ? 0 : 1;
	if (arguments.json) {
		std::cout << json.dump(2) << '\n';
		return;
	}
	print_remarks(todo);
	for (const Json &one : json)
		std::cout << one["what"].get<std::string>() << ": wanted "
			  << (one["wanted"].is_null() ? "no change" : one["wanted"].get<std::string>()) << ", is "
			  << one["now"].get<std::string>() << '\n';
	if (json.empty())
		std::cout << "all is as wanted\n";
}

}  // namespace

void add_up_commands(CLI::App &app, Action &action, int &status)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("up", "make this host what is wanted, and remember what it was");

	command->add_option("DEV", arguments->devices, "devices that lead to the datacenter");
	command->add_flag("--all", arguments->all, "all that the configuration file says");
	command->add_option("--for", arguments->prefixes, "the datacenter's networks, as 10.0.0.0/8; others are not touched")
		->delimiter(',');
	command->add_option("--profile", arguments->profile, "timely (default), onramp, tlt or all")
		->check(CLI::IsMember(profile_names()));
	command->add_option("--with", arguments->pieces, "pieces in place of a profile: timely, timely_patched, onramp, tlt")
		->delimiter(',');
	command->add_option("--rule", arguments->rules, "what is TLT's, as turnpike tlt set takes it; or all");
	command->add_flag("--dry-run", arguments->dry_run, "print the commands, do nothing");
	command->add_flag("--persist", arguments->persist, "write the configuration file, and do this at each boot");
	command->add_option("--config", arguments->config, "the configuration file (default: /etc/turnpike/turnpike.conf)");
	command->callback([arguments, &action] {
		if (arguments->all != arguments->devices.empty())
			throw CLI::ValidationError("name devices, or --all");
		action = [arguments] { up(*arguments); };
	});

	command = app.add_subcommand("down", "undo exactly what up did");
	command->add_flag("--dry-run", arguments->dry_run, "print the commands, do nothing");
	command->add_flag("--persist", arguments->persist, "nor do it at the next boot");
	command->callback([arguments, &action] { action = [arguments] { down(*arguments); }; });

	command = app.add_subcommand("diff", "what of the wanted is not so; status 1 if there is any");
	command->add_flag("-j,--json", arguments->json, "print JSON");
	command->add_option("--config", arguments->config, "the configuration file (default: /etc/turnpike/turnpike.conf)");
	command->callback([arguments, &action, &status] {
		action = [arguments, &status] { diff(*arguments, status); };
	});
}

}  // namespace turnpike
