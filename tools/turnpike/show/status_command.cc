// SPDX-License-Identifier: GPL-2.0
//
// turnpike status, and turnpike alone.
#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../folded.h"
#include "../modules.h"
#include "../process.h"
#include "../setup/device_name.h"
#include "../setup/host.h"
#include "status.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

void print(const std::string &device, bool json)
{
	Json ports = loaded_modules().count("nicstamp") ? answer_if_any({"stamps", "devices"}) : Json();
	Json status = look_at_status([&](Json &one) { add_details(one, ports); });

	status["stale"] = stale_json(stale_modules());
	status["file"] = file_json();
	if (!device.empty() && !keep_device(status, device_name(device)))
		throw Error("nothing of Turnpike's is on a device " + device_name(device));
	if (json)
		std::cout << status.dump(2) << '\n';
	else
		std::cout << folded(status_text(status, std::time(nullptr)), screen_columns(), kStatusIndent);
}

}  // namespace

void add_status_command(CLI::App &app, Action &action)
{
	auto device = std::make_shared<std::string>();
	auto json = std::make_shared<bool>(false);
	CLI::App *command = app.add_subcommand("status", "what is on, and whether it works (default)");

	command->add_option("DEV", *device, "one device alone, with what is on it");
	command->add_flag("-j,--json", *json, "print JSON");
	command->callback([device, json, &action] { action = [device, json] { print(*device, *json); }; });
	// Without a command.
	action = [] { print("", false); };
}

}  // namespace turnpike
