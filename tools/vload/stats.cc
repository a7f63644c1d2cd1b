// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#include <algorithm>
#include <cmath>

namespace vload
{

double stats_percentile(const std::vector<double> &sorted, double quantile)
{
	double rank = std::clamp(quantile, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
	auto low = static_cast<size_t>(std::floor(rank));
	auto high = std::min(low + 1, sorted.size() - 1);

	return sorted[low] + (rank - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

Summary stats_summarize(std::vector<double> values)
{
	Summary s;
	double sum = 0;

	s.count = values.size();
	if (values.empty())
		return s;
	std::sort(values.begin(), values.end());
	for (double value : values)
		sum += value;
	s.mean = sum / static_cast<double>(values.size());
	s.min = values.front();
	s.p50 = stats_percentile(values, 0.5);
	s.p90 = stats_percentile(values, 0.9);
	s.p99 = stats_percentile(values, 0.99);
	s.p999 = stats_percentile(values, 0.999);
	s.max = values.back();
	return s;
}

std::optional<double> stats_jain(const std::vector<double> &values)
{
	double sum = 0;
	double squares = 0;

	for (double value : values) {
		sum += value;
		squares += value * value;
	}
	if (squares <= 0)
		return std::nullopt;
	return sum * sum / (static_cast<double>(values.size()) * squares);
}

} // namespace vload
