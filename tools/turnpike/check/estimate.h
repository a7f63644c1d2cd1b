// SPDX-License-Identifier: GPL-2.0
//
// How sure a mean of few repeats is. Times and rates of networks differ by factors, so that all is reckoned in
// logarithms: the mean is the geometric one, an interval has equal factors up and down, and is Student's t of the
// repeats. A ratio is that of pairs, one after the other: what changes slowly on the path is in both and cancels.
#ifndef TURNPIKE_TOOLS_CHECK_ESTIMATE_H
#define TURNPIKE_TOOLS_CHECK_ESTIMATE_H

#include <vector>

namespace turnpike {

// The value, and between what it is with a confidence of 95 %.
struct Estimate {
	double value = 0, low = 0, high = 0;
};

// Of a two-sided interval of 95 %; degrees of freedom from 1 on.
double student_t(unsigned degrees);

// Of two values or more, all above 0; throws Error for less.
Estimate geometric_mean(const std::vector<double> &values);

// What became of each of `before' in `after'.
Estimate paired_ratio(const std::vector<double> &after, const std::vector<double> &before);

}  // namespace turnpike

#endif  // TURNPIKE_TOOLS_CHECK_ESTIMATE_H
