// SPDX-License-Identifier: GPL-2.0
#include "asked_path.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "../command.h"

namespace turnpike {
namespace {

constexpr unsigned kMostFlows = 1000, kMostRows = 12, kPoints = 5;

unsigned count_of(const std::string &text, const std::string &all)
{
	unsigned count = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);

	if (error != std::errc() || end != text.data() + text.size() || !count || count > kMostFlows)
		throw Error("'" + all + "' are no numbers of flows: 4..200, 2,10,40 or 8, each 1 to 1000");
	return count;
}

std::vector<unsigned> between(unsigned low, unsigned high)
{
	std::vector<unsigned> counts;

	for (unsigned i = 0; i < kPoints; i++) {
		double part = i / (kPoints - 1.0);

		counts.push_back(std::lround(low * std::pow(static_cast<double>(high) / low, part)));
	}
	return counts;
}

}  // namespace

double asked_rate_bps(const std::string &text)
{
	static const std::map<std::string, double> units = {
		{"", 1}, {"M", 1e6}, {"Mbit", 1e6}, {"G", 1e9}, {"Gbit", 1e9}, {"T", 1e12}, {"Tbit", 1e12}};
	std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
	double value = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
	auto unit = units.find(text.substr(digits));

	if (error != std::errc() || end != text.data() + digits || unit == units.end())
		throw Error("'" + text + "' is no rate: 25G, 2.5Gbit, 100M, or bits a second");
	value *= unit->second;
	if (value < 1e7 || value > 1.6e12)
		throw Error("'" + text + "' is no rate of a link: 10M to 1.6T");
	return value;
}

std::vector<unsigned> asked_flows(const std::string &text)
{
	std::size_t dots = text.find("..");
	std::vector<unsigned> counts;
	std::istringstream words(text);

	if (dots != std::string::npos) {
		unsigned low = count_of(text.substr(0, dots), text), high = count_of(text.substr(dots + 2), text);

		if (low > high)
			throw Error("'" + text + "' goes from more to less");
		counts = between(low, high);
	} else {
		for (std::string word; std::getline(words, word, ',');)
			counts.push_back(count_of(word, text));
	}
	std::sort(counts.begin(), counts.end());
	counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
	if (counts.empty())
		count_of("", text);
	if (counts.size() > kMostRows)
		throw Error("these are " + std::to_string(counts.size()) + " numbers of flows: at most 12");
	return counts;
}

}  // namespace turnpike
