// SPDX-License-Identifier: GPL-2.0
//
// turnpike version: what was built, what is loaded, and what would be loaded.
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.h"
#include "modules.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

Json build_json(const std::optional<ModuleBuild> &build)
{
	if (!build)
		return nullptr;
	return {{"version", build->version}, {"srcversion", build->srcversion}};
}

void print_json(const std::vector<ModuleState> &states)
{
	Json modules = Json::array();

	for (const ModuleState &module : states)
		modules.push_back({{"name", module.name},
				   {"loaded", build_json(module.loaded)},
				   {"disk", build_json(module.disk)},
				   {"stale", module.stale()}});
	std::cout << Json{{"version", kVersion}, {"modules", modules}}.dump(2) << '\n';
}

void print_text(const std::vector<ModuleState> &states)
{
	std::cout << "turnpike " << kVersion << '\n';
	for (const ModuleState &module : states)
		std::cout << module.name << ": " << describe(module) << '\n';
}

}  // namespace

void add_version_command(CLI::App &app, Action &action)
{
	CLI::App *command = app.add_subcommand(
		"version", "this program's version, and each module's: the loaded one's and that on disk");
	auto json = std::make_shared<bool>(false);

	command->add_flag("-j,--json", *json, "as JSON");
	command->callback([&action, json] {
		action = [json] { *json ? print_json(module_states()) : print_text(module_states()); };
	});
}

}  // namespace turnpike
