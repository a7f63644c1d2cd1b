// SPDX-License-Identifier: GPL-2.0
//
// Which of Turnpike's modules are loaded, and whether modprobe would load the same.
#ifndef TURNPIKE_TOOLS_MODULES_H
#define TURNPIKE_TOOLS_MODULES_H

#include <optional>
#include <string>
#include <vector>

#include "process.h"

namespace turnpike {

// What a module says of itself; srcversion is the kernel's sum of its sources.
struct ModuleBuild {
	std::string version;
	std::string srcversion;

	bool operator==(const ModuleBuild &) const = default;
};

struct ModuleState {
	std::string name;
	std::optional<ModuleBuild> loaded;
	std::optional<ModuleBuild> disk;
	std::string signer = {};	// of the one on disk; empty: nobody signed it

	// Loaded before an upgrade, which counts for it when it is loaded again.
	bool stale() const { return loaded && disk && *loaded != *disk; }
};

// sysfs is where the kernel shows what is loaded, modinfo the program that finds files.
std::vector<ModuleState> module_states(const std::string &sysfs = "/sys/module",
				       const Words &modinfo = {"modinfo"});

// Those that are loaded and not as on disk; asks for no others.
std::vector<ModuleState> stale_modules(const std::string &sysfs = "/sys/module", const Words &modinfo = {"modinfo"});

// The state in a sentence without a point.
std::string describe(const ModuleState &module);

// Of one that is stale, as in "0.1.0 is loaded, 0.2.0 is on disk".
std::string stale_text(const ModuleState &module);

// Of this program.
extern const char *const kVersion;

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_MODULES_H
