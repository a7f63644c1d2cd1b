// SPDX-License-Identifier: GPL-2.0
//
// The hosts of a mesh of clocks: a file that is the same on all of them, an address a line.
#ifndef TURNPIKE_TOOLS_CLOCKD_HOSTS_FILE_H
#define TURNPIKE_TOOLS_CLOCKD_HOSTS_FILE_H

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "../onramp.h"

namespace turnpike {

// Empty lines and what follows a # are left out. path: for what is said. Throws Error.
std::vector<OnrampAddress> clockd_hosts(std::istream &file, const std::string &path);
std::vector<OnrampAddress> clockd_hosts_file(const std::string &path);

// Whom this host probes; is_own says which one it is. All hosts of one file come to the same mesh. Throws Error if none
// of the hosts is this one.
std::vector<OnrampAddress> clockd_peers(const std::vector<OnrampAddress> &hosts, std::uint32_t peers,
					const std::function<bool(const OnrampAddress &)> &is_own);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_HOSTS_FILE_H
