// SPDX-License-Identifier: GPL-2.0
//
// turnpike metrics: series for Prometheus, to a file or by HTTP.
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "metrics.h"
#include "metrics_file.h"
#include "metrics_look.h"
#include "metrics_serve.h"

namespace turnpike {
namespace {

struct Arguments {
	std::optional<std::string> file, address;
	bool anywhere = false;
};

void metrics(const Arguments &arguments)
{
	if (arguments.address)
		serve_metrics(listen_address(*arguments.address, arguments.anywhere));
	else if (arguments.file)
		replace_file(*arguments.file, metrics_text(look_at_metrics()));
	else
		std::cout << metrics_text(look_at_metrics());
}

}  // namespace

void add_metrics_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("metrics", "what status shows, as series for Prometheus");

	CLI::Option *write = command->add_option("--write", arguments->file,
						 "replace this file with it, for node_exporter's textfile collector");
	CLI::Option *listen = command->add_option("--listen", arguments->address,
						  "serve it by HTTP, as at 127.0.0.1:9733, until SIGINT or SIGTERM");
	command->add_flag("--anywhere", arguments->anywhere, "--listen takes addresses that other hosts reach")->needs(listen);
	write->excludes(listen);
	command->callback([arguments, &action] { action = [arguments] { metrics(*arguments); }; });
}

}  // namespace turnpike
