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
#include "../setup/device_name.h"
#include "status.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// One device alone, of all namespaces.
void keep_device(Json &status, const std::string &called)
{
	std::string device = device_name(called);
	Json kept = Json::array();

	for (Json one : status["namespaces"]) {
		Json devices = Json::array();

		for (const Json &has : one["devices"])
			if (has["name"] == device)
				devices.push_back(has);
		if (devices.empty())
			continue;
		one["devices"] = devices;
		kept.push_back(one);
	}
	if (kept.empty())
		throw Error("no onramp on a device " + device);
	status["namespaces"] = kept;
}

void print(const std::string &device, bool json)
{
	Json status = look_at_status();

	status["stale"] = stale_json(stale_modules());
	if (!device.empty())
		keep_device(status, device);
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

	command->add_option("DEV", *device, "one device with onramp alone");
	command->add_flag("-j,--json", *json, "print JSON");
	command->callback([device, json, &action] { action = [device, json] { print(*device, *json); }; });
	// Without a command.
	action = [] { print("", false); };
}

}  // namespace turnpike
