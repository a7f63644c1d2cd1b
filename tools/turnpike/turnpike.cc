// SPDX-License-Identifier: GPL-2.0
//
// The `turnpike' command: one program, a subcommand per job.
#include <cstdio>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "command.h"
#include "modules.h"

namespace {

constexpr int kUsageError = 2;

// Help and version are no errors; CLI11 numbers its errors from 100.
int finish_parse(const CLI::App &app, const CLI::ParseError &error)
{
	return app.exit(error) == 0 ? 0 : kUsageError;
}

}  // namespace

int main(int argc, char **argv)
{
	CLI::App app{"Low tail latency for the hosts of a datacenter: tools "
		     "around the Turnpike kernel modules."};
	turnpike::Action action;
	int status = 0;

	app.name("turnpike");
	app.set_version_flag("--version", std::string("turnpike ") + turnpike::kVersion);
	app.require_subcommand(1);
	turnpike::add_up_commands(app, action, status);
	turnpike::add_replay_command(app, action);
	turnpike::add_usec_ts_command(app, action);
	turnpike::add_stamps_command(app, action);
	turnpike::add_tlt_command(app, action);
	turnpike::add_onramp_command(app, action);
	turnpike::add_clock_command(app, action);
	turnpike::add_version_command(app, action);
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return finish_parse(app, error);
	}
	try {
		action();
		std::cout.flush();
		if (!std::cout)
			throw turnpike::Error("cannot write to standard output");
	} catch (const std::exception &error) {
		std::cout.flush();
		std::cerr << "turnpike: " << error.what() << '\n';
		return 1;
	}
	return status;
}
