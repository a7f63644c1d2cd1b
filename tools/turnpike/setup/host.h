// SPDX-License-Identifier: GPL-2.0
//
// What this host has at the moment, in this network namespace.
#ifndef TURNPIKE_TOOLS_SETUP_HOST_H
#define TURNPIKE_TOOLS_SETUP_HOST_H

#include <set>
#include <string>

#include "plan.h"

namespace turnpike {

// wanted: what is not looked at without need
Host look_at_host(const Wanted &wanted = {});

// Names of those of Turnpike's.
std::set<std::string> loaded_modules();

// Of a file, of the kernel's mostly; empty if there is none.
std::string first_word(const std::string &path);

// Names in /etc/passwd are not needed: who called sudo, a unit of systemd, or the number of the user.
std::string caller();

// Does what a command says; throws Error.
void carry_out(const Command &command);

// Does all of them, at least each one's own in their order: routes by one `ip -batch' for each family, and what lets them
// count microseconds after that, at once. Throws Error that says which failed.
void carry_out(const std::vector<Command> &commands);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SETUP_HOST_H
