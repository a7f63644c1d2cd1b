// SPDX-License-Identifier: GPL-2.0
#include "presets.h"

#include <charconv>
#include <iomanip>

#include <nlohmann/json.hpp>

#include "command.h"

namespace turnpike {
namespace {

const timely_knob &find_knob(const std::string &name)
{
	for (const timely_knob &knob : timely_knobs)
		if (name == knob.name)
			return knob;
	throw Error("no parameter is named " + name + " (--list names all)");
}

std::string range_of(const timely_knob &knob)
{
	return std::to_string(knob.min) + ".." + std::to_string(knob.max);
}

u64 parse_value(const timely_knob &knob, const std::string &text)
{
	u64 value = 0;
	const char *end = text.data() + text.size();
	auto [rest, error] = std::from_chars(text.data(), end, value);

	if (error != std::errc() || rest != end)
		throw Error(std::string(knob.name) + ": not a whole number: " +
			    text);
	if (value < knob.min || value > knob.max)
		throw Error(std::string(knob.name) + ": " + text +
			    " is outside " + range_of(knob));
	return value;
}

void apply_setting(timely_params &params, const std::string &setting)
{
	std::size_t equals = setting.find('=');

	if (equals == std::string::npos)
		throw Error("--set wants NAME=VALUE, not " + setting);

	const timely_knob &knob = find_knob(setting.substr(0, equals));

	timely_knob_set(&knob, &params,
			parse_value(knob, setting.substr(equals + 1)));
}

std::vector<const timely_preset *> presets_of(timely_variant variant)
{
	std::vector<const timely_preset *> found;

	for (const timely_preset &preset : timely_presets)
		if (preset.variant == variant)
			found.push_back(&preset);
	return found;
}

}  // namespace

timely_variant variant_of(const std::string &algorithm)
{
	if (algorithm == "timely")
		return TIMELY_VARIANT_TIMELY;
	if (algorithm == "timely_patched")
		return TIMELY_VARIANT_PATCHED;
	throw Error("no algorithm is named " + algorithm +
		    " (there are timely and timely_patched)");
}

const timely_preset &find_preset(timely_variant variant,
				 const std::string &name)
{
	std::string known;

	for (const timely_preset *preset : presets_of(variant)) {
		if (name == preset->name)
			return *preset;
		known += std::string(known.empty() ? "" : ", ") + preset->name;
	}
	throw Error("no preset is named " + name + " (there are " + known + ")");
}

void apply_settings(timely_params &params,
		    const std::vector<std::string> &settings)
{
	const char *why = nullptr;

	for (const std::string &setting : settings)
		apply_setting(params, setting);
	if (timely_params_check(&params, &why))
		throw Error(std::string("parameters: ") + why);
}

void list_knobs(std::ostream &out, const std::string &algorithm,
		const timely_preset &preset)
{
	out << algorithm << ", preset " << preset.name << " (" << preset.source
	    << ")\n\n"
	    << std::left << std::setw(20) << "parameter" << std::setw(8)
	    << "unit" << std::setw(14) << "default" << std::setw(24) << "range"
	    << "meaning\n";
	for (const timely_knob &knob : timely_knobs)
		out << std::setw(20) << knob.name << std::setw(8)
		    << (*knob.unit ? knob.unit : "-") << std::setw(14)
		    << timely_knob_get(&knob, &preset.params) << std::setw(24)
		    << range_of(knob) << knob.help << '\n';
	out << "\npresets of " << algorithm << ":\n";
	for (const timely_preset *other :
	     presets_of(static_cast<timely_variant>(preset.variant)))
		out << "  " << std::setw(14) << other->name << other->source
		    << '\n';
}

nlohmann::ordered_json knobs_json(const std::string &algorithm,
				  const timely_preset &preset)
{
	nlohmann::ordered_json list;

	list["algorithm"] = algorithm;
	list["preset"] = preset.name;
	list["source"] = preset.source;
	for (const timely_knob &knob : timely_knobs)
		list["parameters"].push_back(
			{{"name", knob.name},
			 {"unit", knob.unit},
			 {"min", knob.min},
			 {"max", knob.max},
			 {"default", timely_knob_get(&knob, &preset.params)},
			 {"help", knob.help}});
	for (const timely_preset *other :
	     presets_of(static_cast<timely_variant>(preset.variant)))
		list["presets"].push_back(
			{{"name", other->name}, {"source", other->source}});
	return list;
}

}  // namespace turnpike
