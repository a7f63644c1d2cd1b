// SPDX-License-Identifier: GPL-2.0
//
// What metrics are made of: status of all network namespaces, and what the kernel counts in each.
#ifndef TURNPIKE_TOOLS_SHOW_METRICS_LOOK_H
#define TURNPIKE_TOOLS_SHOW_METRICS_LOOK_H

#include <nlohmann/json.hpp>

namespace turnpike {

// As look_at_status(), with `timely_counters', `receipts' and `tlt_counters' in each namespace; `modules', `stamps', `clockd'
// and `time_s' of the host. Null stands for what is not loaded, and for what this user may not see.
nlohmann::ordered_json look_at_metrics();

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_METRICS_LOOK_H
