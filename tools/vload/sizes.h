// SPDX-License-Identifier: GPL-2.0
//
// Message sizes drawn from an empirical distribution: a file of `bytes cumulative_probability`
// lines, both columns rising, the last probability 1. Between two points every size is equally
// likely; a first line with a probability above 0 is that much of the messages at exactly that size.
#pragma once

#include "rng.h"

#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <vector>

namespace vload
{

struct SizesError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

class SizeDist {
public:
	// name is what errors call the stream: NAME:LINE: reason
	static SizeDist parse(std::istream &in, const std::string &name);
	static SizeDist load(const std::string &path);
	static SizeDist fixed(uint64_t bytes);

	uint64_t sample(Rng &rng) const { return quantile_bytes(rng.uniform()); }
	uint64_t quantile_bytes(double probability) const;
	double mean_bytes() const;

private:
	struct Point {
		double bytes;
		double probability;
	};

	void append(const Point &point);

	std::vector<Point> points_;
};

} // namespace vload
