// SPDX-License-Identifier: GPL-2.0
// The manual page agrees with the tables of settings: unit, range, defaults.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "tcp_timely/timely_host_knobs.h"
#include "tcp_timely/timely_presets.h"

namespace {

std::string Manual()
{
	auto top = std::filesystem::path(__FILE__).parent_path() / ".." / "..";
	std::ifstream file(top / "Documentation" / "man" / "tcp_timely.7");

	return {std::istreambuf_iterator<char>(file), {}};
}

u64 Default(const timely_knob &knob, int variant)
{
	for (const timely_preset &preset : timely_presets) {
		if (preset.variant == variant && preset.name == std::string("default"))
			return timely_knob_get(&knob, &preset.params);
	}
	ADD_FAILURE() << "no default preset";
	return 0;
}

// Defaults of the three congestion controls.
struct Defaults {
	u64 timely, patched, pi;
};

Defaults DefaultsOf(const timely_knob &knob)
{
	return {Default(knob, TIMELY_VARIANT_TIMELY), Default(knob, TIMELY_VARIANT_PATCHED),
		Default(knob, TIMELY_VARIANT_PI)};
}

// The paragraph of a setting begins so.
std::string Head(const timely_knob &knob, const Defaults &d)
{
	std::string text = ".B " + std::string(knob.name) + "\n(";

	if (knob.words) {
		for (u64 word = knob.min; word <= knob.max; word++)
			text += std::string(word ? ", " : "") + knob.words[word];
		return text + "; default " + knob.words[d.timely] + ")\n";
	}
	if (*knob.unit)
		text += std::string(knob.unit) + ", ";
	text += std::to_string(knob.min) + " to " + std::to_string(knob.max);
	if (d.timely == d.patched && d.timely == d.pi)
		return text + "; default " + std::to_string(d.timely) + ")\n";
	return text + "; default timely " + std::to_string(d.timely) + ", timely_patched " +
	       std::to_string(d.patched) + ", timely_pi " + std::to_string(d.pi) + ")\n";
}

void ExpectInManual(const timely_knob &knob, const Defaults &defaults)
{
	static const std::string manual = Manual();
	std::string head = Head(knob, defaults);

	EXPECT_NE(manual.find(head), std::string::npos) << "missing in tcp_timely.7:\n" << head;
}

TEST(TimelyManual, engine__every_setting_with_range_and_default)
{
	for (const timely_knob &knob : timely_knobs)
		ExpectInManual(knob, DefaultsOf(knob));
	for (const timely_knob &knob : timely_pi_knobs) {
		u64 value = Default(knob, TIMELY_VARIANT_PI);

		ExpectInManual(knob, {value, value, value});
	}
}

TEST(TimelyManual, host__every_setting_with_range_and_default)
{
	const timely_host host = TIMELY_HOST_DEFAULT;

	for (const timely_knob &knob : timely_host_knobs) {
		// Both structures hold plain integers addressed by offset.
		u64 value = timely_knob_get(
			&knob, reinterpret_cast<const timely_params *>(&host));

		ExpectInManual(knob, {value, value, value});
	}
}

}  // namespace
