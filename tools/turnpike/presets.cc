// SPDX-License-Identifier: GPL-2.0
#include "presets.h"

#include <iomanip>

#include <nlohmann/json.hpp>

#include "command.h"
#include "knobs.h"

namespace turnpike {
namespace {

using Knobs = std::vector<const timely_knob *>;

// Settings of the module; timely_pi has some of its own.
Knobs settings_of(u8 variant)
{
	Knobs settings;

	for (const timely_knob &knob : timely_knobs)
		settings.push_back(&knob);
	if (variant == TIMELY_VARIANT_PI)
		for (const timely_knob &knob : timely_pi_knobs)
			settings.push_back(&knob);
	return settings;
}

// What else its presets differ in.
Knobs all_constants()
{
	Knobs constants;

	for (const timely_knob &constant : timely_constants)
		constants.push_back(&constant);
	return constants;
}

const timely_knob &find_knob(u8 variant, const std::string &name)
{
	for (const Knobs &knobs : {settings_of(variant), all_constants()})
		for (const timely_knob *knob : knobs)
			if (name == knob->name)
				return *knob;
	throw Error("no parameter is named " + name + " (--list names all)");
}

void apply_setting(timely_params &params, const std::string &setting)
{
	auto [name, value] = split_setting(setting);
	const timely_knob &knob = find_knob(params.variant, name);

	timely_knob_set(&knob, &params,
			knob_value(knob.name, value, knob.min, knob.max));
}

std::vector<KnobShown> shown_of(const timely_preset &preset, const Knobs &knobs)
{
	std::vector<KnobShown> shown;

	for (const timely_knob *knob : knobs)
		shown.push_back({knob->name, knob->unit, knob->min, knob->max,
				 timely_knob_get(knob, &preset.params),
				 knob->help});
	return shown;
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
	if (algorithm == "timely_pi")
		return TIMELY_VARIANT_PI;
	throw Error("no algorithm is named " + algorithm +
		    " (there are timely, timely_patched and timely_pi)");
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
	    << ")\n\n";
	write_knobs(out, shown_of(preset, settings_of(preset.variant)));
	out << "\nconstants, which replay alone can change:\n";
	write_knobs(out, shown_of(preset, all_constants()));
	out << "\npresets of " << algorithm << ":\n";
	for (const timely_preset *other :
	     presets_of(static_cast<timely_variant>(preset.variant)))
		out << "  " << std::setw(14) << other->name << other->source
		    << '\n';
}

nlohmann::ordered_json knobs_json(const std::string &algorithm,
				  const timely_preset &preset)
{
	Knobs all = settings_of(preset.variant), constants = all_constants();
	nlohmann::ordered_json list;

	all.insert(all.end(), constants.begin(), constants.end());
	list["algorithm"] = algorithm;
	list["preset"] = preset.name;
	list["source"] = preset.source;
	list["parameters"] = knobs_array(shown_of(preset, all));
	for (const timely_preset *other :
	     presets_of(static_cast<timely_variant>(preset.variant)))
		list["presets"].push_back(
			{{"name", other->name}, {"source", other->source}});
	return list;
}

}  // namespace turnpike
