// SPDX-License-Identifier: GPL-2.0
//
// What clockd says of itself in its file, to `turnpike clock show', metrics and doctor, as long as it is new.
#ifndef TURNPIKE_TOOLS_CLOCKD_CLOCKD_SHOWN_H
#define TURNPIKE_TOOLS_CLOCKD_CLOCKD_SHOWN_H

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace turnpike {

constexpr const char *kClockdState = "/run/turnpike-clockd/state.json";
constexpr const char *kClockdHosts = "/etc/turnpike/clockd.hosts";

// With `age_s', and `running', which a file of three windows ago is not. Null: there is none, or it cannot be read.
nlohmann::ordered_json read_clockd_state(const std::string &path, std::int64_t now_ns);

// Of what read_clockd_state() says, for metrics and doctor: how many peers are told, silent or else in trouble, the
// errors that are told, edges and surpluses. Null of null.
nlohmann::ordered_json clockd_summary(const nlohmann::ordered_json &state);

// For people: a line or two of the daemon and its mesh; empty of null.
std::string clockd_text(const nlohmann::ordered_json &state);

// A row a peer of what `turnpike clock show -j' prints: what the kernel was told, and what clockd, if it runs, says
// besides; and its peers that the kernel was not told of.
nlohmann::ordered_json clock_rows(const nlohmann::ordered_json &shown);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CLOCKD_CLOCKD_SHOWN_H
