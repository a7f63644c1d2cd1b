// SPDX-License-Identifier: GPL-2.0
//
// What `turnpike tlt' prints for people, of what it prints as JSON.
#ifndef TURNPIKE_TOOLS_TLT_SHOWN_H
#define TURNPIKE_TOOLS_TLT_SHOWN_H

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace turnpike {

// What is on: a line each of settings, and of rules.
std::string tlt_config_text(const nlohmann::ordered_json &config);

// By kinds of packets; below that the other counters: those that are not 0, or all.
std::string tlt_stats_text(const nlohmann::ordered_json &stats, bool all);

// A line each; with all, the counters of each flow behind them.
std::string tlt_flows_text(const nlohmann::ordered_json &flows, bool all);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_TLT_SHOWN_H
