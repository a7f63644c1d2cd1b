// SPDX-License-Identifier: GPL-2.0
//
// What keeps a module loaded when rmmod refuses: sockets, devices and other modules, of all network namespaces.
#ifndef TURNPIKE_TOOLS_SHOW_HOLDERS_H
#define TURNPIKE_TOOLS_SHOW_HOLDERS_H

#include <set>
#include <string>
#include <vector>

#include "sockets.h"

namespace turnpike {

// Of one network namespace.
struct Holders {
	std::string netns = {};			// empty: the own one
	std::string congestion = {};		// its default
	std::vector<Socket> sockets = {};	// of timely, in any state
	std::set<std::string> devices = {};	// with onramp
};

// What the kernel says of a module itself.
struct HeldModule {
	std::string name = {};
	std::vector<std::string> users = {};	// other modules that need it
	unsigned references = 0;		// of all of these, and of what nothing here knows
};

// sysfs: where the kernel shows what is loaded
HeldModule held_module(const std::string &name, const std::string &sysfs = "/sys/module");

// Without rights of the own namespace alone. Throws Error.
std::vector<Holders> look_at_holders();

// In words, with kinds, counts and an example or two; empty if nothing holds it.
std::string holders_of(const HeldModule &module, const std::vector<Holders> &spaces);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_HOLDERS_H
