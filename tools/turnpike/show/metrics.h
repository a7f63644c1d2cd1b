// SPDX-License-Identifier: GPL-2.0
//
// What Turnpike does on this host as series for Prometheus: few of them, with names that stay. No series is of a flow.
#ifndef TURNPIKE_TOOLS_SHOW_METRICS_H
#define TURNPIKE_TOOLS_SHOW_METRICS_H

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <prometheus/metric_family.h>

namespace turnpike {

// Of what look_at_metrics() saw. What the kernel counts is a counter. What is added up over connections that live is a
// gauge: it falls when one of them ends. Those beyond the bounds are left out: a container makes as many devices as it
// likes.
constexpr unsigned kMostDevices = 512;
constexpr unsigned kMostNamespaces = 128;
std::vector<prometheus::MetricFamily> metric_families(const nlohmann::ordered_json &seen);

// In Prometheus' text format.
std::string metrics_text(const nlohmann::ordered_json &seen);

// Where nothing could be seen: the time of the last look alone, which gets old.
std::vector<prometheus::MetricFamily> last_look_families(double time_s);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_SHOW_METRICS_H
