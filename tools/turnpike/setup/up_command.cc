// SPDX-License-Identifier: GPL-2.0
//
// turnpike up, down, diff: a host is made what is wanted, and what it was.
#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "../command.h"
#include "../exit_status.h"
#include "../modules.h"
#include "../suggest.h"
#include "apply.h"
#include "asked.h"
#include "config_file.h"
#include "host.h"
#include "plan.h"
#include "state_file.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kUnit[] = "turnpike.service";

struct Arguments {
	Asked asked;
	bool all = false, dry_run = false, persist = false, json = false;
	std::string config = kConfig;
};

Wanted wanted_of(const Arguments &arguments)
{
	const Asked &asked = arguments.asked;

	if (!arguments.all)
		return wanted_by(asked);
	if (!asked.pieces.empty() || !asked.profile.empty() || !asked.prefixes.empty() || !asked.rules.empty() ||
	    !(asked.threshold + asked.line_rate).empty())
		throw Error("--all takes what " + arguments.config +
			    " says: no --for, --with, --profile, --rule, --threshold or --line-rate beside it");
	return read_config(arguments.config);
}

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

// What is loaded is taken as it is: after an upgrade that is what was there before.
void tell_stale(const Wanted &wanted)
{
	std::set<std::string> names = modules_of(wanted);

	for (const ModuleState &module : stale_modules())
		if (names.count(module.name))
			std::cerr << "turnpike: " << module.name << ": " << stale_text(module)
				  << "; turnpike doctor says how to load that\n";
}

void dry_run(const Plan &plan)
{
	for (const Step &step : plan.steps)
		if (!step.holds)
			print_commands(step.commands);
}

// -- persist

Words systemctl(const std::string &verb)
{
	Words words = {"systemctl"};

	words.push_back(verb);
	words.push_back(kUnit);
	return words;
}

// Before anything is done.
void check_persist(const Wanted &wanted, const std::string &config)
{
	if (config != kConfig)
		throw Error("--persist is for " + std::string(kConfig) + " alone");
	if (run(systemctl("cat")).status)
		throw Error("--persist needs systemd and its unit " + std::string(kUnit) + ": apt install turnpike-tools, or make install");
	if (!is_absent(config) && read_config(config) != wanted)
		throw Error(config + " says otherwise: change it and call 'turnpike up --all --persist', or move it away");
}

void persist(const Wanted &wanted, const std::string &config)
{
	if (is_absent(config)) {
		std::filesystem::create_directories(std::filesystem::path(config).parent_path());
		std::ofstream file(config);
		file << config_text(wanted);
		if (!file.flush())
			throw Error("cannot write " + config);
		std::cout << "wrote " << config << '\n';
	}
	Words start = systemctl("start");

	output_of(systemctl("enable"));
	// Finds all as it should be, and can be stopped and reloaded from now on, not from the next boot on.
	// It is not to wait for the network again.
	start.insert(start.begin() + 1, "--job-mode=ignore-dependencies");
	output_of(start);
	std::cout << "enabled " << kUnit << ": 'turnpike up --all' at each boot\n";
}

// -- commands

// A reader that goes, or Ctrl-C, does not end this half way: the command that runs fails, and all is taken back.
void finish_what_is_begun()
{
	for (int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP})
		std::signal(number, SIG_IGN);
}

void make_so(const Wanted &wanted)
{
	StateFile file(kStateDirectory, true);
	State state = file.read();
	finish_what_is_begun();
	// What is impossible is refused before anything is taken back.
	Plan todo = plan(wanted, look_at_host(wanted));
	if (!state.changes.empty() && state.wanted != wanted) {
		if (!take_all_back(file, state, true))
			throw Error("not all could be taken back: mend that, and call 'turnpike down'");
		todo = plan(wanted, look_at_host(wanted));
	}
	print_remarks(todo);
	if (state.changes.empty()) {
		state.since_s = std::time(nullptr);
		state.by = caller();
	}
	state.wanted = wanted;
	make(todo, file, state, true);
	if (std::all_of(todo.steps.begin(), todo.steps.end(), [](const Step &step) { return step.holds; }))
		std::cout << "nothing to do: all is as wanted\n";
	tell_stale(wanted);
}

void up(const Arguments &arguments)
{
	Wanted wanted = wanted_of(arguments);

	if (!arguments.dry_run)
		require_root();
	if (arguments.persist)
		check_persist(wanted, arguments.config);
	if (arguments.dry_run) {
		Plan todo = plan(wanted, look_at_host(wanted));
		print_remarks(todo);
		dry_run(todo);
		return;
	}
	make_so(wanted);
	if (arguments.persist)
		persist(wanted, arguments.config);
}

void show_undo(const StateFile &file, const State &state)
{
	Host host = look_at_host(state.wanted);

	for (auto change = state.changes.rbegin(); change != state.changes.rend(); ++change)
		if (change->kind != Kind::module || !file.others_need(change->name))
			print_commands(undo(*change, host));
}

void take_back(bool dry)
{
	StateFile file(kStateDirectory, !dry);
	State state = file.read();

	if (state.changes.empty())
		std::cout << "nothing to undo: 'turnpike up' changed nothing here\n";
	if (dry) {
		show_undo(file, state);
		return;
	}
	finish_what_is_begun();
	if (!take_all_back(file, state, true))
		throw Error("not all could be taken back: mend that, and call 'turnpike down' again");
}

void down(const Arguments &arguments)
{
	if (!arguments.dry_run)
		require_root();
	take_back(arguments.dry_run);
	if (arguments.persist && !arguments.dry_run) {
		output_of(systemctl("disable"));
		// Nothing is left for it to undo.
		output_of(systemctl("stop"));
		std::cout << "disabled " << kUnit << '\n';
	}
}

// Wanted by what: the configuration file if there is one, or else what up was told.
Wanted wanted_now(const Arguments &arguments, const State &state)
{
	if (!is_absent(arguments.config))
		return read_config(arguments.config);
	if (state.changes.empty())
		throw Error("nothing is wanted: there is no " + arguments.config + ", and up was not called");
	return state.wanted;
}

void diff(const Arguments &arguments, int &status)
{
	StateFile file(kStateDirectory, false);
	State state = file.read();
	Wanted wanted = wanted_now(arguments, state);
	Plan todo = compare(wanted, look_at_host(wanted));
	Json json = Json::array();

	for (const Step &step : todo.steps)
		if (!step.holds)
			json.push_back({{"what", step.change.key()}, {"wanted", step.wanted}, {"now", step.now}});
	status = json.empty() ? 0 : kAmiss;
	if (arguments.json) {
		std::cout << json.dump(2) << '\n';
		return;
	}
	print_remarks(todo);
	for (const Json &one : json)
		std::cout << one["what"].get<std::string>() << ": wanted " << one["wanted"].get<std::string>() << ", is "
			  << one["now"].get<std::string>() << '\n';
	if (json.empty())
		std::cout << "all is as wanted\n";
}

}  // namespace

void add_up_commands(CLI::App &app, Action &action, int &status)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("up", "make this host what is wanted, and remember what it was");

	command->add_option("DEV", arguments->asked.devices, "devices that lead to the datacenter");
	command->add_flag("--all", arguments->all, "all that the configuration file says");
	command->add_option("--for", arguments->asked.prefixes, "the datacenter's networks, as 10.0.0.0/8; others are not touched")
		->delimiter(',')
		->allow_extra_args(false);
	command->add_option("--profile", arguments->asked.profile, "timely (default), onramp, tlt or all")
		->check(is_one_of(profile_names()));
	command->add_option("--with", arguments->asked.pieces, "pieces in place of a profile: timely, timely_patched, timely_pi, onramp, tlt")
		->delimiter(',')
		->allow_extra_args(false);
	command->add_option("--rule", arguments->asked.rules, "what is TLT's, as turnpike tlt set takes it; or all")
		->allow_extra_args(false);
	command->add_option("--threshold", arguments->asked.threshold, "On-Ramp's threshold, as 50us (default: the qdisc's)");
	command->add_option("--line-rate", arguments->asked.line_rate,
			    "speed of devices that do not know theirs, as 25gbit (default: ask the device)");
	command->add_flag("--dry-run", arguments->dry_run, "print the commands, do nothing");
	command->add_flag("--persist", arguments->persist, "write the configuration file, and do this at each boot");
	command->add_option("--config", arguments->config, "the configuration file (default: /etc/turnpike/turnpike.conf)");
	command->callback([arguments, &action] {
		if (arguments->all != arguments->asked.devices.empty())
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
