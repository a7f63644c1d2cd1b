// SPDX-License-Identifier: GPL-2.0
//
// Subcommands of one command, which share a struct of arguments; it has a Shown.
#ifndef TURNPIKE_TOOLS_SUBCOMMAND_H
#define TURNPIKE_TOOLS_SUBCOMMAND_H

#include <functional>
#include <iostream>
#include <memory>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.h"
#include "shown.h"

namespace turnpike {

template <typename Arguments> using Run = std::type_identity_t<std::function<void(const Arguments &)>>;

template <typename Arguments>
CLI::App *add_subcommand(CLI::App &parent, const char *name, const char *what,
			 const std::shared_ptr<Arguments> &arguments, Action &action, const Run<Arguments> &run)
{
	CLI::App *command = parent.add_subcommand(name, what);

	command->callback([arguments, &action, run] {
		action = [arguments, run] { run(*arguments); };
	});
	return command;
}

// One that changes something. With -j it tells what is so then, as `show' does.
template <typename Arguments>
CLI::App *add_change(CLI::App &parent, const char *name, const char *what, const std::shared_ptr<Arguments> &arguments,
		     Action &action, const Run<Arguments> &run, Json (*now)())
{
	CLI::App *command = add_subcommand(parent, name, what, arguments, action, [run, now](const Arguments &a) {
		run(a);
		if (a.shown.json)
			std::cout << now().dump(2) << '\n';
	});

	command->add_flag("-j,--json", arguments->shown.json, "print what is set now, as show -j");
	return command;
}

enum class More { none, verbose };

// One that prints: -j, and -v where there is more to see.
template <typename Arguments>
CLI::App *add_shown(CLI::App &parent, const char *name, const char *what, More more,
		    const std::shared_ptr<Arguments> &arguments, Action &action, const Run<Arguments> &run)
{
	CLI::App *command = add_subcommand(parent, name, what, arguments, action, run);

	if (more == More::verbose)
		arguments->shown.add_both(*command);
	else
		arguments->shown.add_json(*command);
	return command;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SUBCOMMAND_H
