// SPDX-License-Identifier: GPL-2.0
// Mean, ends and percentiles of what was measured.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace vload
{

struct Summary {
	size_t count = 0;
	double mean = 0;
	double min = 0;
	double p50 = 0;
	double p90 = 0;
	double p99 = 0;
	double p999 = 0;
	double max = 0;
};

// Linear interpolation between the two closest ranks (numpy's default); sorted must not be empty.
double stats_percentile(const std::vector<double> &sorted, double quantile);

Summary stats_summarize(std::vector<double> values);

// (sum x)^2 / (n sum x^2); nothing for no flows or for flows that all moved nothing
std::optional<double> stats_jain(const std::vector<double> &values);

} // namespace vload
