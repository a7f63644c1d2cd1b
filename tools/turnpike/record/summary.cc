// SPDX-License-Identifier: GPL-2.0
#include "summary.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include "../command.h"
#include "../units.h"

namespace turnpike {
namespace {

const std::map<std::string, double> kUnits = {{"", 1e9}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};

}  // namespace

nlohmann::ordered_json summary_json(const Summary &summary)
{
	nlohmann::ordered_json json = {{"duration_ns", summary.duration_ns}, {"looks", summary.looks}, {"events", summary.events},
				       {"lost_limit", summary.lost_limit}, {"lost_buffer", summary.lost_buffer},
				       {"no_trace", nullptr}};

	if (!summary.no_trace.empty())
		json["no_trace"] = summary.no_trace;
	return json;
}

std::string summary_text(const Summary &summary)
{
	std::string text = duration_text(static_cast<double>(summary.duration_ns)) + ", " + count_text(summary.looks, "look") + ", ";

	if (!summary.no_trace.empty())
		return text + "no trace events: " + summary.no_trace;
	text += count_text(summary.events, "event");
	if (summary.lost_limit)
		text += "; " + std::to_string(summary.lost_limit) + " lost beyond --events";
	if (summary.lost_buffer)
		text += "; " + std::to_string(summary.lost_buffer) + " lost for which the kernel's buffer had no room";
	return text + (summary.lost_limit || summary.lost_buffer ? "" : ", none lost");
}

std::uint64_t span_ns(const char *option, const std::string &text, std::uint64_t least_ns, std::uint64_t most_ns)
{
	std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
	auto unit = kUnits.find(text.substr(end));
	char *rest = nullptr;
	double number = std::strtod(text.substr(0, end).c_str(), &rest);

	if (end == 0 || *rest || unit == kUnits.end())
		throw Error(std::string(option) + ": '" + text + "' is no time, such as 30s, 250ms, 2min or 1h");
	double ns = number * unit->second;
	if (!(ns >= static_cast<double>(least_ns) && ns <= static_cast<double>(most_ns)))
		throw Error(std::string(option) + ": from " + duration_text(static_cast<double>(least_ns)) + " to " +
			    duration_text(static_cast<double>(most_ns)) + ", not " + text);
	return static_cast<std::uint64_t>(std::llround(ns));
}

}  // namespace turnpike
