// SPDX-License-Identifier: GPL-2.0
//
// Counters of the kernel's own TCP.
#ifndef TURNPIKE_TOOLS_PROC_COUNTER_H
#define TURNPIKE_TOOLS_PROC_COUNTER_H

#include <cstdint>
#include <optional>
#include <string>

namespace turnpike {

// Of a table as /proc/net/snmp and netstat have it: lines of names, each followed by one of numbers. group: "Tcp:"
std::optional<std::uint64_t> proc_counter(const std::string &text, const std::string &group, const std::string &name);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_PROC_COUNTER_H
