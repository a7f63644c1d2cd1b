// SPDX-License-Identifier: GPL-2.0
#include "estimate.h"

#include <cmath>
#include <cstddef>
#include <iterator>

#include "../command.h"

namespace turnpike {
namespace {

// Of 1 to 30 degrees of freedom, as printed tables have it.
constexpr double kT[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
			 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
			 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

}  // namespace

double student_t(unsigned degrees)
{
	if (!degrees)
		throw Error("one repeat says nothing of how sure it is");
	// Of more, the last: 4 % wider than it has to be at most.
	return degrees <= std::size(kT) ? kT[degrees - 1] : kT[std::size(kT) - 1];
}

Estimate geometric_mean(const std::vector<double> &values)
{
	double sum = 0, squares = 0, n = static_cast<double>(values.size());

	for (double value : values) {
		if (!(value > 0))
			throw Error("a time or a rate of 0");
		sum += std::log(value);
	}
	double width = student_t(values.empty() ? 0 : static_cast<unsigned>(values.size() - 1));
	double mean = sum / n;
	for (double value : values)
		squares += std::pow(std::log(value) - mean, 2);
	width *= std::sqrt(squares / (n - 1) / n);
	return {std::exp(mean), std::exp(mean - width), std::exp(mean + width)};
}

Estimate paired_ratio(const std::vector<double> &after, const std::vector<double> &before)
{
	std::vector<double> ratios;

	if (after.size() != before.size())
		throw Error("turns that are no pairs");
	for (std::size_t i = 0; i < after.size(); i++)
		ratios.push_back(after[i] / before[i]);
	return geometric_mean(ratios);
}

}  // namespace turnpike
