// SPDX-License-Identifier: GPL-2.0
//
// What doctor judges: read from the kernel, from files and from other programs, of this network namespace.
#ifndef TURNPIKE_TOOLS_SHOW_FACTS_H
#define TURNPIKE_TOOLS_SHOW_FACTS_H

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../setup/wanted.h"

namespace turnpike {

// Why the kernel takes signed modules alone, in a word; empty where it takes all. secure_boot: what the firmware says,
// which counts where the kernel does not tell.
std::string signing_enforced_by(const std::string &root, bool secure_boot);

// Names of the keys that the kernel knows, of the text of /proc/keys; null where a user without rights may see none.
nlohmann::ordered_json known_signers(const std::string &text);

// device: the one to look at; empty: those that something of Turnpike's is on.
nlohmann::ordered_json look_at_facts(const std::string &device);

// Programs that set queueing disciplines or congestion control, by their files and processes. root: "", or where the
// directories of a host are; processes: names of those that run.
nlohmann::ordered_json other_owners(const std::string &root, const std::vector<std::string> &processes);

// Installed kernels of a directory (/lib/modules) that have no headers, the oldest first.
nlohmann::ordered_json kernels_without_headers(const std::string &directory);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_FACTS_H
