// SPDX-License-Identifier: GPL-2.0
#include "hosts_file.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "../command.h"

namespace turnpike {
namespace {

constexpr std::size_t kHostsMost = 4096;
constexpr std::uint64_t kMeshSeed = 1;

std::string word_of(std::string line)
{
	line = line.substr(0, line.find('#'));
	std::size_t first = line.find_first_not_of(" \t\r");

	if (first == std::string::npos)
		return "";
	return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::vector<OnrampAddress> clockd_hosts(std::istream &file, const std::string &path)
{
	std::vector<OnrampAddress> hosts;
	std::set<OnrampAddress> known;
	std::string line;

	for (unsigned number = 1; std::getline(file, line); number++) {
		std::string word = word_of(line), where = path + ", line " + std::to_string(number) + ": ";
		if (word.empty())
			continue;
		try {
			hosts.push_back(onramp_address(word));
		} catch (const Error &error) {
			throw Error(where + error.what());
		}
		if (!known.insert(hosts.back()).second)
			throw Error(where + word + " is there twice");
		if (hosts.size() > kHostsMost)
			throw Error(where + "more than " + std::to_string(kHostsMost) + " hosts");
	}
	if (!file.eof())
		throw Error("cannot read " + path);
	if (hosts.size() < 2)
		throw Error(path + " has to have two hosts, or more");
	return hosts;
}

std::vector<OnrampAddress> clockd_hosts_file(const std::string &path)
{
	std::ifstream file(path);

	return clockd_hosts(file, path);
}

std::vector<std::uint16_t> ClockdMesh::peers() const
{
	std::vector<std::uint16_t> found;

	for (const MeshEdge &edge : edges) {
		if (edge.first == own)
			found.push_back(edge.second);
		if (edge.second == own)
			found.push_back(edge.first);
	}
	return found;
}

std::uint16_t ClockdMesh::number(const OnrampAddress &host) const
{
	auto found = std::find(hosts.begin(), hosts.end(), host);

	if (found == hosts.end())
		throw Error(onramp_address_text(host.data()) + " is none of the hosts of the mesh");
	return found - hosts.begin();
}

ClockdMesh clockd_mesh(std::vector<OnrampAddress> hosts, std::uint32_t peers,
		       const std::function<bool(const OnrampAddress &)> &is_own)
{
	auto own = std::find_if(hosts.begin(), hosts.end(), is_own);

	if (own == hosts.end())
		throw Error("none of the hosts of the mesh is this one");
	std::uint16_t number = own - hosts.begin();
	std::vector<MeshEdge> edges = random_mesh(hosts.size(), peers, kMeshSeed);
	return {std::move(hosts), number, std::move(edges)};
}

}  // namespace turnpike
