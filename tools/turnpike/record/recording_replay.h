// SPDX-License-Identifier: GPL-2.0
//
// A flow of a recording as the traces that replay reads.
#ifndef TURNPIKE_TOOLS_RECORD_RECORDING_REPLAY_H
#define TURNPIKE_TOOLS_RECORD_RECORDING_REPLAY_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike {

enum class ReplayKind { timely, onramp };

// "10.1.0.1:5001>10.1.0.2:80", and of On-Ramp, which tells no own address, ":5001>10.1.0.2:80"; empty where the event is
// none that this kind of replay takes.
std::string flow_of_event(ReplayKind kind, const nlohmann::ordered_json &event);

// Flows and how many judgements each has: RTTs, or delays.
using FlowCounts = std::map<std::string, std::uint64_t>;

// The one that has most where no name is given; the one whose name has that text in it. Throws Error where there is none,
// or more than one, and names some.
std::string choose_flow(const FlowCounts &flows, const std::string &name);

// In CSV, with the header line. The events may stand in any order: each processor's are written as they come. What tells
// nothing, as a delay of a packet that left before the recording began, is left out and counted.
struct FlowTrace {
	std::string csv;
	std::uint64_t left_out = 0;
};

FlowTrace flow_trace(ReplayKind kind, std::vector<nlohmann::ordered_json> events);

// The flow of a file; tells on standard error which it is. Throws Error.
FlowTrace recorded_trace(ReplayKind kind, const std::string &path, const std::string &name);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_RECORDING_REPLAY_H
