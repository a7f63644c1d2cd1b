// SPDX-License-Identifier: GPL-2.0
#include "knobs.h"

#include <charconv>
#include <iomanip>

#include <nlohmann/json.hpp>

#include "command.h"

namespace turnpike {
namespace {

std::string range_of(u64 min, u64 max)
{
	return std::to_string(min) + ".." + std::to_string(max);
}

}  // namespace

void write_knobs(std::ostream &out, const std::vector<KnobShown> &knobs)
{
	out << std::left << std::setw(20) << "parameter" << std::setw(8)
	    << "unit" << std::setw(14) << "default" << std::setw(24) << "range"
	    << "meaning\n";
	for (const KnobShown &knob : knobs)
		out << std::setw(20) << knob.name << std::setw(8)
		    << (*knob.unit ? knob.unit : "-") << std::setw(14)
		    << knob.value << std::setw(24)
		    << range_of(knob.min, knob.max) << knob.help << '\n';
}

nlohmann::ordered_json knobs_array(const std::vector<KnobShown> &knobs)
{
	auto list = nlohmann::ordered_json::array();

	for (const KnobShown &knob : knobs)
		list.push_back({{"name", knob.name},
				{"unit", knob.unit},
				{"min", knob.min},
				{"max", knob.max},
				{"default", knob.value},
				{"help", knob.help}});
	return list;
}

std::pair<std::string, std::string> split_setting(const std::string &setting)
{
	std::size_t equals = setting.find('=');

	if (equals == std::string::npos)
		throw Error("--set wants NAME=VALUE, not " + setting);
	return {setting.substr(0, equals), setting.substr(equals + 1)};
}

u64 knob_value(const char *name, const std::string &text, u64 min, u64 max)
{
	u64 value = 0;
	const char *end = text.data() + text.size();
	auto [rest, error] = std::from_chars(text.data(), end, value);

	if (error != std::errc() || rest != end)
		throw Error(std::string(name) + ": not a whole number: " + text);
	if (value < min || value > max)
		throw Error(std::string(name) + ": " + text + " is outside " +
			    range_of(min, max));
	return value;
}

}  // namespace turnpike
