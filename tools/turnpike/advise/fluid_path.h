// SPDX-License-Identifier: GPL-2.0
//
// What the fluid models of ECNDELAY16 share: N flows of one bottleneck, and what a flow sees of its queue.
//
// A law is a struct with
//   kStates                            numbers of a flow; the first is its rate
//   path                               the bottleneck
//   feedback_s(queue)                  how old the queue is that a flow sees
//   interval_s(rate)                   between two updates of a flow
//   slopes(state, rate_then, seen)     derivatives of a flow's states
//   bound(state, seen)                 what the law never leaves
// Bytes and seconds throughout.
#ifndef TURNPIKE_TOOLS_ADVISE_FLUID_PATH_H
#define TURNPIKE_TOOLS_ADVISE_FLUID_PATH_H

#include <algorithm>
#include <array>
#include <cstddef>

namespace turnpike {

struct FluidPath {
	double capacity = 1.25e9;	// C, bytes a second
	double flows = 2;		// N
	double propagation_s = 4e-6;	// D_prop
	double packet = 1000;		// MTU
	// What thresholds of an RTT see besides the queue. The paper's equations leave it out.
	double base_s = 0;

	double share() const { return capacity / flows; }
};

// The queue that feedback tells of, and that of the update before.
struct FluidSeen {
	double queue = 0;
	double before = 0;
};

template <std::size_t States> using FluidState = std::array<double, States>;

// Where nothing changes.
template <std::size_t States> struct FluidPoint {
	FluidState<States> state = {};
	double queue = 0;
};

// Eq. 24: feedback of an RTT waits in the queue that it tells of.
inline double fluid_rtt_feedback_s(const FluidPath &path, double queue)
{
	return (queue + path.packet) / path.capacity + path.propagation_s;
}

// No flow is slower than this, nor faster than the link.
constexpr double kFluidLeastRate = 1e3;

inline double fluid_rate_bound(const FluidPath &path, double rate)
{
	return std::clamp(rate, kFluidLeastRate, path.capacity);
}

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_ADVISE_FLUID_PATH_H
