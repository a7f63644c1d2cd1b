// SPDX-License-Identifier: GPL-2.0
//
// Lines of the kernel's trace, as events in JSON.
#ifndef TURNPIKE_TOOLS_RECORD_TRACE_LINE_H
#define TURNPIKE_TOOLS_RECORD_TRACE_LINE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike {

// The modules' events that are recorded; each is a name of its line.
extern const std::vector<std::string> kTraceEvents;

// An event as it is recorded: its name, CLOCK_MONOTONIC in ns, and what the module said; no process name, which tells
// nothing of a connection. Nothing of a line that is no such event.
std::optional<nlohmann::ordered_json> trace_event(std::string_view line);

// Events that a buffer did not keep, of the text of per_cpu/cpuN/stats.
std::uint64_t lost_events(std::string_view stats);

// What read() gave, as whole lines; the rest waits for more.
class Lines {
public:
	void add(std::string_view text) { text_.append(text); }

	// Without its newline; nothing where no line is whole. Valid until the next call.
	std::optional<std::string_view> next();

private:
	std::string text_;
	std::size_t begin_ = 0;
};

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_RECORD_TRACE_LINE_H
