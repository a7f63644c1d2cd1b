// SPDX-License-Identifier: GPL-2.0
#include "modules.h"

#include <fstream>
#include <sstream>

namespace turnpike {
namespace {

std::string first_line(std::istream &in)
{
	std::string line;

	std::getline(in, line);
	return line;
}

// What a module has in sysfs while it is loaded; nothing of ours is built into a kernel.
std::optional<ModuleBuild> loaded_build(const std::string &directory)
{
	std::ifstream version(directory + "/version");
	std::ifstream srcversion(directory + "/srcversion");

	if (!version)
		return std::nullopt;
	return ModuleBuild{first_line(version), first_line(srcversion)};
}

// Empty where there is no such module.
std::string field(Words modinfo, const std::string &name, const char *field)
{
	modinfo.insert(modinfo.end(), {"-F", field, name});
	std::istringstream output(run(modinfo).output);
	return first_line(output);
}

std::optional<ModuleBuild> disk_build(const Words &modinfo, const std::string &name)
{
	ModuleBuild build{field(modinfo, name, "version"), field(modinfo, name, "srcversion")};

	if (build.version.empty())
		return std::nullopt;
	return build;
}

std::string text(const ModuleBuild &build)
{
	return build.version + " (" + build.srcversion + ")";
}

}  // namespace

std::vector<ModuleState> module_states(const std::string &sysfs, const Words &modinfo)
{
	// From the Kbuild files.
	std::istringstream names(TURNPIKE_MODULES);
	std::vector<ModuleState> states;

	for (std::string name; names >> name;)
		states.push_back({name, loaded_build(sysfs + "/" + name),
				  disk_build(modinfo, name), field(modinfo, name, "signer")});
	return states;
}

std::vector<ModuleState> stale_modules(const std::string &sysfs, const Words &modinfo)
{
	std::istringstream names(TURNPIKE_MODULES);
	std::vector<ModuleState> states;

	for (std::string name; names >> name;) {
		ModuleState state = {name, loaded_build(sysfs + "/" + name), std::nullopt};
		if (state.loaded)
			state.disk = disk_build(modinfo, name);
		if (state.stale())
			states.push_back(state);
	}
	return states;
}

std::string describe(const ModuleState &module)
{
	std::string disk = module.disk ? text(*module.disk) : "";

	if (module.stale())
		return "loaded " + text(*module.loaded) + ", which is not the one on disk: " + disk;
	if (module.loaded)
		return "loaded " + text(*module.loaded) +
		       (module.disk ? ", as on disk" : ", nothing on disk");
	return module.disk ? "not loaded, on disk " + disk : "not loaded, nothing on disk";
}

std::string stale_text(const ModuleState &module)
{
	if (module.loaded->version == module.disk->version)
		return "another build of " + module.loaded->version + " is loaded than is on disk";
	return module.loaded->version + " is loaded, " + module.disk->version + " is on disk";
}

}  // namespace turnpike
