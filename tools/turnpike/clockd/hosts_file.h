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
#include "mesh.h"

namespace turnpike {

// Empty lines and what follows a # are left out. path: for what is said. Throws Error.
std::vector<OnrampAddress> clockd_hosts(std::istream &file, const std::string &path);
std::vector<OnrampAddress> clockd_hosts_file(const std::string &path);

// Who probes whom; hosts by their numbers in the file, from 0.
struct ClockdMesh {
	std::vector<OnrampAddress> hosts;
	std::uint16_t own;
	std::vector<MeshEdge> edges;

	// Whom this host probes.
	std::vector<std::uint16_t> peers() const;

	// Throws Error if it is none of the hosts.
	std::uint16_t number(const OnrampAddress &host) const;
};

// is_own says which host this one is. All hosts of one file come to the same mesh. Throws Error if none of the hosts is
// this one.
ClockdMesh clockd_mesh(std::vector<OnrampAddress> hosts, std::uint32_t peers,
		       const std::function<bool(const OnrampAddress &)> &is_own);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_HOSTS_FILE_H
