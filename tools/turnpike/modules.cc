// SPDX-License-Identifier: GPL-2.0
#include "modules.h"

#include <cstdio>
#include <fstream>
#include <memory>
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

std::string output_of(const std::string &command)
{
	std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
	std::string output;
	char buffer[256];

	while (pipe && std::fgets(buffer, sizeof(buffer), pipe.get()))
		output += buffer;
	return output;
}

std::optional<ModuleBuild> disk_build(const std::string &modinfo, const std::string &name)
{
	// Users have no sbin in their PATH, where some distributions have it.
	std::string ask = "PATH=$PATH:/usr/sbin:/sbin " + modinfo + " -F ";
	std::istringstream version(output_of(ask + "version " + name + " 2>/dev/null"));
	std::istringstream srcversion(output_of(ask + "srcversion " + name + " 2>/dev/null"));
	ModuleBuild build{first_line(version), first_line(srcversion)};

	if (build.version.empty())
		return std::nullopt;
	return build;
}

std::string text(const ModuleBuild &build)
{
	return build.version + " (" + build.srcversion + ")";
}

}  // namespace

std::vector<ModuleState> module_states(const std::string &sysfs, const std::string &modinfo)
{
	// From the Kbuild files.
	std::istringstream names(TURNPIKE_MODULES);
	std::vector<ModuleState> states;

	for (std::string name; names >> name;)
		states.push_back({name, loaded_build(sysfs + "/" + name),
				  disk_build(modinfo, name)});
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

}  // namespace turnpike
