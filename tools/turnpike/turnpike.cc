// SPDX-License-Identifier: GPL-2.0
//
// The `turnpike' command: one program, a subcommand per job.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "command.h"
#include "exit_status.h"
#include "modules.h"
#include "suggest.h"

namespace {

constexpr int kUsageError = 64;	// as sysexits.h has it

// The command that was reached: what it was not told is asked of it.
const CLI::App &innermost(const CLI::App &app)
{
	for (const CLI::App *command : app.get_subcommands())
		return innermost(*command);
	return app;
}

std::vector<std::string> command_names(const CLI::App &app)
{
	std::vector<std::string> names;

	for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
		names.push_back(command->get_name());
	return names;
}

// A word in the place of a command that there is not; empty if there is none.
std::string unknown_command(const CLI::App &app, int argc, char **argv)
{
	const CLI::App &last = innermost(app);
	std::vector<std::string> names = command_names(last);

	for (int i = 1; i < argc && !names.empty(); i++) {
		std::string word = argv[i];
		bool taken = false;

		for (const CLI::App *at = &app; !taken && at != &last; at = at->get_subcommands().front())
			taken = at->get_subcommands().front()->get_name() == word;
		if (!taken && word[0] != '-')
			return word;
	}
	return "";
}

std::vector<std::string> option_names(const CLI::App &app)
{
	std::vector<std::string> names;

	for (const CLI::Option *option : app.get_options())
		for (const std::string &name : option->get_lnames())
			names.push_back("--" + name);
	return names;
}

// A word that looks like a long option, and is none of the command that was reached; empty if there is none.
std::string unknown_option(const CLI::App &app, int argc, char **argv)
{
	std::vector<std::string> names = option_names(innermost(app)), own = option_names(app);

	names.insert(names.end(), own.begin(), own.end());
	for (int i = 1; i < argc; i++) {
		std::string word = argv[i], name = word.substr(0, word.find('='));

		if (word == "--")
			return "";
		if (word.starts_with("--") && std::find(names.begin(), names.end(), name) == names.end())
			return name;
	}
	return "";
}

int refuse(const char *what, const std::string &word, const std::vector<std::string> &known)
{
	std::cerr << "turnpike: unknown " << what << " '" << word << "'" << turnpike::did_you_mean(word, known) << " (--help lists all)\n";
	return kUsageError;
}

// The status, or that of what could not be written.
int flushed(int status)
{
	if (std::cout.flush())
		return status;
	std::cerr << "turnpike: cannot write to standard output\n";
	return std::max(status, turnpike::kFailed);
}

// Help and version are no errors; CLI11 numbers its errors from 100.
int finish_parse(const CLI::App &app, const CLI::ParseError &error, int argc, char **argv)
{
	if (!error.get_exit_code())
		return app.exit(error) == 0 ? flushed(0) : kUsageError;
	std::string command = unknown_command(app, argc, argv), option = unknown_option(app, argc, argv);

	if (!command.empty())
		return refuse("command", command, command_names(innermost(app)));
	if (!option.empty())
		return refuse("option", option, option_names(innermost(app)));
	app.exit(error);
	return kUsageError;
}

}  // namespace

// Files that are opened must not get the numbers of what somebody closed.
static void open_standard_descriptors()
{
	int fd;

	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= 2)
		;
	if (fd > 2)
		close(fd);
}

int main(int argc, char **argv)
{
	open_standard_descriptors();
	CLI::App app{"Low tail latency for the hosts of a datacenter: tools "
		     "around the Turnpike kernel modules."};
	turnpike::Action action;
	int status = 0;

	app.name("turnpike");
	app.set_version_flag("--version", std::string("turnpike ") + turnpike::kVersion);
	app.require_subcommand(0, 1);
	turnpike::add_status_command(app, action);
	turnpike::add_doctor_command(app, action, status);
	turnpike::add_top_command(app, action);
	turnpike::add_watch_command(app, action);
	turnpike::add_up_commands(app, action, status);
	turnpike::add_check_command(app, action, status);
	turnpike::add_record_command(app, action);
	turnpike::add_report_command(app, action);
	turnpike::add_metrics_command(app, action);
	turnpike::add_advise_command(app, action);
	turnpike::add_replay_command(app, action);
	turnpike::add_usec_ts_command(app, action);
	turnpike::add_stamps_command(app, action);
	turnpike::add_tlt_command(app, action);
	turnpike::add_onramp_command(app, action);
	turnpike::add_clock_command(app, action);
	turnpike::add_clockd_command(app, action);
	turnpike::add_version_command(app, action);
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return finish_parse(app, error, argc, argv);
	}
	try {
		action();
	} catch (const std::exception &error) {
		std::cout.flush();
		std::cerr << "turnpike: " << error.what() << '\n';
		return std::max(status, turnpike::kFailed);
	}
	return flushed(status);
}
