// SPDX-License-Identifier: GPL-2.0
//
// Coded probes (ONRAMP21 section 3.3): two probes follow each other by a known gap. Where they arrive further apart, or
// closer, other traffic was between them, or a stamp is wrong. How sure that is makes a weight: a sieve would leave
// nothing of a path of four queues under load. Queues only make probes late, and the strip's edges are by the earliest;
// the weight keeps stamps that are wrong, which may be early, from moving an edge.
#ifndef TURNPIKE_TOOLS_CLOCKD_PURITY_H
#define TURNPIKE_TOOLS_CLOCKD_PURITY_H

#include <algorithm>
#include <cmath>
#include <vector>

namespace turnpike {

// Of what the gaps of a window changed by on their way: how far the purest quarter of them is off. It is the noise of
// stamps, since cross traffic only adds to it.
inline double purity_noise_ns(std::vector<double> changes_ns, double grain_ns)
{
	if (changes_ns.empty())
		return grain_ns;
	for (double &change : changes_ns)
		change = std::fabs(change);
	auto quarter = changes_ns.begin() + (changes_ns.size() - 1) / 4;
	std::nth_element(changes_ns.begin(), quarter, changes_ns.end());
	return std::max(grain_ns, *quarter);
}

// An impure probe may have met no queue: the other of its pair did. So many of them count as one.
constexpr double kImpure = 0.2;

// 1 for a gap that came as it was sent; half of the way down to kImpure for one that is off by four times the noise.
inline double purity_weight(double change_ns, double noise_ns)
{
	double off = change_ns / (4 * noise_ns);

	return kImpure + (1 - kImpure) / (1 + off * off);
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_PURITY_H
