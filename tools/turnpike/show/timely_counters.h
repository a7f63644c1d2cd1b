// SPDX-License-Identifier: GPL-2.0
//
// The counters of tcp_timely in this network namespace.
#ifndef TURNPIKE_TOOLS_SHOW_TIMELY_COUNTERS_H
#define TURNPIKE_TOOLS_SHOW_TIMELY_COUNTERS_H

#include <nlohmann/json.hpp>

namespace turnpike {

// By their names; null while the module is not loaded.
nlohmann::ordered_json timely_counters();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_TIMELY_COUNTERS_H
