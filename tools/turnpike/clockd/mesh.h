// SPDX-License-Identifier: GPL-2.0
//
// Who probes whom: a random graph in which every host has the same number of peers (ONRAMP21 section 3.3: each clock
// probes about 10 others). It is another one each epoch, so that no pair depends on the same paths for ever.
#ifndef TURNPIKE_TOOLS_CLOCKD_MESH_H
#define TURNPIKE_TOOLS_CLOCKD_MESH_H

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace turnpike {

using MeshEdge = std::pair<std::uint32_t, std::uint32_t>;	// the lower number first

namespace mesh {

// Of a generator whose numbers are the same everywhere; std::uniform_int_distribution's are not.
inline std::uint32_t below(std::mt19937_64 &random, std::uint32_t bound)
{
	return random() % bound;
}

inline MeshEdge edge(std::uint32_t one, std::uint32_t other)
{
	return {std::min(one, other), std::max(one, other)};
}

// A ring in which all know the next half of their peers: regular, and of one piece. With an odd number of peers each
// knows who is opposite, too.
inline std::vector<MeshEdge> ring(std::uint32_t hosts, std::uint32_t peers)
{
	std::set<MeshEdge> edges;

	for (std::uint32_t i = 0; i < hosts; i++) {
		for (std::uint32_t k = 1; k <= peers / 2; k++)
			edges.insert(edge(i, (i + k) % hosts));
		if (peers % 2)
			edges.insert(edge(i, (i + hosts / 2) % hosts));
	}
	return {edges.begin(), edges.end()};
}

// Two edges exchange their ends, where that makes no loop and no edge twice: all keep their number of peers.
inline void exchange(std::vector<MeshEdge> &edges, std::set<MeshEdge> &known, std::mt19937_64 &random)
{
	MeshEdge &one = edges[below(random, edges.size())], &other = edges[below(random, edges.size())];
	MeshEdge turned = random() % 2 ? other : MeshEdge(other.second, other.first);
	MeshEdge first = edge(one.first, turned.second), second = edge(turned.first, one.second);

	if (first.first == first.second || second.first == second.second || first == second ||
	    known.count(first) || known.count(second))
		return;
	known.erase(one);
	known.erase(other);
	known.insert({first, second});
	one = first;
	other = second;
}

}  // namespace mesh

// All know all where there are so few. An odd number of hosts has no regular graph of an odd number of peers: one more.
inline std::vector<MeshEdge> random_mesh(std::uint32_t hosts, std::uint32_t peers, std::uint64_t seed)
{
	std::mt19937_64 random(seed);

	if (hosts < 2)
		return {};
	if (peers % 2 && hosts % 2)
		peers++;
	std::vector<MeshEdge> edges = mesh::ring(hosts, std::min(peers, hosts - 1));
	if (peers >= hosts - 1)
		return edges;
	std::set<MeshEdge> known(edges.begin(), edges.end());
	// ten times the edges forget the ring
	for (std::size_t i = 0; i < 10 * edges.size(); i++)
		mesh::exchange(edges, known, random);
	return edges;
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_MESH_H
