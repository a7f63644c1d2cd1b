// SPDX-License-Identifier: GPL-2.0
//
// turnpike doctor: what keeps this host from it, and what to do.
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "doctor.h"
#include "facts.h"

namespace turnpike {

void add_doctor_command(CLI::App &app, Action &action, int &status)
{
	struct Arguments {
		std::string device;
		bool all = false, json = false;
	};
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("doctor", "what is wrong, why it matters, and what mends it");

	command->add_option("DEV", arguments->device, "look at this device, whatever is on it");
	command->add_flag("-a,--all", arguments->all, "also what is fine");
	command->add_flag("-j,--json", arguments->json, "print JSON");
	command->callback([arguments, &action, &status] {
		action = [arguments, &status] {
			std::vector<Finding> findings = examine(look_at_facts(arguments->device));

			status = exit_status(findings);
			if (arguments->json)
				std::cout << findings_json(findings).dump(2) << '\n';
			else
				std::cout << findings_text(findings, arguments->all);
		};
	});
}

}  // namespace turnpike
