// SPDX-License-Identifier: GPL-2.0
#include "sizes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

namespace vload
{

// A message of a terabyte is a typing error, and beyond 2^53 a double skips sizes.
constexpr double MAX_BYTES = 1e12;
// Tables carry their probabilities to a few digits.
constexpr double LAST_SLACK = 1e-9;

void SizeDist::append(const Point &point)
{
	if (!(point.bytes >= 0 && point.bytes <= MAX_BYTES))
		throw SizesError("size out of range (0 to 1e12 bytes)");
	if (!(point.probability >= 0 && point.probability <= 1 + LAST_SLACK))
		throw SizesError("cumulative probability out of range (0 to 1)");
	if (!points_.empty()) {
		if (point.bytes <= points_.back().bytes)
			throw SizesError("sizes must rise");
		if (point.probability < points_.back().probability)
			throw SizesError("cumulative probabilities must not fall");
	}
	points_.push_back(point);
}

static std::string strip_comment(std::string line)
{
	line.resize(std::min(line.find('#'), line.size()));
	if (line.find_first_not_of(" \t\r") == std::string::npos)
		line.clear();
	return line;
}

SizeDist SizeDist::parse(std::istream &in, const std::string &name)
{
	SizeDist dist;
	std::string line;
	int number = 0;

	while (std::getline(in, line)) {
		number++;
		line = strip_comment(line);
		if (line.empty())
			continue;
		std::istringstream fields(line);
		Point point{};
		std::string rest;
		try {
			if (!(fields >> point.bytes >> point.probability) || fields >> rest)
				throw SizesError("expected `bytes cumulative_probability`");
			dist.append(point);
		} catch (const SizesError &error) {
			throw SizesError(name + ":" + std::to_string(number) + ": " + error.what());
		}
	}
	if (dist.points_.empty())
		throw SizesError(name + ": no sizes in it");
	if (dist.points_.back().probability < 1 - LAST_SLACK)
		throw SizesError(name + ":" + std::to_string(number) + ": the last cumulative probability is not 1");
	if (dist.points_.back().bytes < 1)
		throw SizesError(name + ": no size above 0 bytes");
	return dist;
}

SizeDist SizeDist::load(const std::string &path)
{
	std::ifstream in(path);

	if (!in)
		throw SizesError(path + ": " + std::strerror(errno));
	return parse(in, path);
}

SizeDist SizeDist::fixed(uint64_t bytes)
{
	SizeDist dist;

	dist.append({static_cast<double>(bytes), 1.0});
	return dist;
}

uint64_t SizeDist::quantile_bytes(double probability) const
{
	auto high = std::upper_bound(points_.begin(), points_.end(), probability,
				     [](double p, const Point &point) { return p < point.probability; });
	double bytes;

	if (high == points_.begin()) {
		bytes = high->bytes;
	} else if (high == points_.end()) {
		bytes = points_.back().bytes;
	} else {
		auto low = high - 1;
		double share = (probability - low->probability) / (high->probability - low->probability);
		bytes = low->bytes + share * (high->bytes - low->bytes);
	}
	// A message has at least one byte, also where a table starts at 0.
	return static_cast<uint64_t>(std::max(1.0, std::round(bytes)));
}

double SizeDist::mean_bytes() const
{
	double mean = points_.front().bytes * points_.front().probability;

	for (size_t i = 1; i < points_.size(); i++) {
		const Point &low = points_[i - 1];
		const Point &high = points_[i];
		mean += (high.probability - low.probability) * (low.bytes + high.bytes) / 2;
	}
	return mean;
}

} // namespace vload
