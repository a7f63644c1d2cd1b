// SPDX-License-Identifier: GPL-2.0
//
// turnpike metrics: series for Prometheus, to a file or by HTTP.
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../setup/config_file.h"
#include "listen_address.h"
#include "metrics.h"
#include "metrics_file.h"
#include "metrics_look.h"
#include "metrics_serve.h"

namespace turnpike {
namespace {

struct Arguments {
	bool writes = false, listens = false, anywhere = false;
	std::string file, address;		// empty: what the configuration says
	std::string config = kConfig;
};

// Where Debian's node_exporter looks.
constexpr char kTextfile[] = "/var/lib/prometheus/node-exporter/turnpike.prom";

WantedMetrics configured(const Arguments &arguments)
{
	// Without the file that everybody has it is as if it said nothing.
	if (arguments.config == kConfig && is_absent(kConfig))
		return {};
	return read_config(arguments.config).metrics;
}

std::string textfile_of(const Arguments &arguments)
{
	std::string textfile = arguments.file.empty() ? configured(arguments).textfile : arguments.file;

	return textfile.empty() ? kTextfile : textfile;
}

std::string address_of(const Arguments &arguments)
{
	if (!arguments.address.empty())
		return listen_address(arguments.address, arguments.anywhere);
	WantedMetrics wanted = configured(arguments);
	if (wanted.listen.empty())
		throw Error("--listen where? " + arguments.config + " has no 'listen = ' in [metrics]");
	return listen_address(wanted.listen, wanted.anywhere || arguments.anywhere);
}

void metrics(const Arguments &arguments)
{
	if (arguments.listens)
		serve_metrics(address_of(arguments));
	else if (arguments.writes)
		replace_file(textfile_of(arguments), metrics_text(look_at_metrics()));
	else
		std::cout << metrics_text(look_at_metrics());
}

}  // namespace

void add_metrics_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("metrics", "what status shows, as series for Prometheus");

	CLI::Option *write = command->add_option("--write", arguments->file,
						 "replace this file with it, for node_exporter's textfile collector; without a "
						 "name that of the configuration, or of Debian's node_exporter")
				     ->expected(0, 1);
	CLI::Option *listen = command->add_option("--listen", arguments->address,
						  "serve it by HTTP, as at 127.0.0.1:9733, until SIGINT or SIGTERM; without an "
						  "address at that of the configuration")
				      ->expected(0, 1);
	command->add_option("--config", arguments->config, "the configuration file (default: /etc/turnpike/turnpike.conf)");
	command->add_flag("--anywhere", arguments->anywhere, "--listen takes addresses that other hosts reach")->needs(listen);
	write->excludes(listen);
	command->callback([arguments, write, listen, &action] {
		arguments->writes = write->count() > 0;
		arguments->listens = listen->count() > 0;
		action = [arguments] { metrics(*arguments); };
	});
}

}  // namespace turnpike
