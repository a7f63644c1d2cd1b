// SPDX-License-Identifier: GPL-2.0
//
// What a recording has, and what it lacks; and spans of time as people write them.
#ifndef TURNPIKE_TOOLS_RECORD_SUMMARY_H
#define TURNPIKE_TOOLS_RECORD_SUMMARY_H

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace turnpike {

struct Summary {
	std::uint64_t duration_ns = 0;
	std::uint64_t looks = 0;
	std::uint64_t events = 0;
	std::uint64_t lost_limit = 0;	// beyond --events
	std::uint64_t lost_buffer = 0;	// the kernel had no room for them
	std::string no_trace;		// why there are none; empty: they were recorded
};

nlohmann::ordered_json summary_json(const Summary &summary);

// A sentence or two, each without a path.
std::string summary_text(const Summary &summary);

// "30", "1.5s", "250ms", "2min", "1h": seconds where there is no unit. Throws Error that begins with the option's name
// where it is no such thing, or not from least to most.
std::uint64_t span_ns(const char *option, const std::string &text, std::uint64_t least_ns, std::uint64_t most_ns);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_SUMMARY_H
