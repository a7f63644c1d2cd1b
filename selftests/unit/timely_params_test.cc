// SPDX-License-Identifier: GPL-2.0
// Knobs and presets: tcp_timely/timely_params.h

#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tcp_timely/timely_presets.h"

namespace {

timely_params good()
{
	return timely_presets[0].params;
}

// Settings and constants.
std::vector<timely_knob> all_knobs()
{
	std::vector<timely_knob> all(std::begin(timely_knobs), std::end(timely_knobs));

	all.insert(all.end(), std::begin(timely_pi_knobs), std::end(timely_pi_knobs));
	all.insert(all.end(), std::begin(timely_constants), std::end(timely_constants));
	return all;
}

timely_knob knob(const std::string &name)
{
	for (const timely_knob &k : all_knobs())
		if (name == k.name)
			return k;
	ADD_FAILURE() << "no knob " << name;
	return timely_knobs[0];
}

// Empty when the parameters are accepted.
std::string complaint(const timely_params &p)
{
	const char *why = "";

	return timely_params_check(&p, &why) ? why : "";
}

TEST(TimelyParams, timely_presets__all_valid_and_named_once)
{
	std::set<std::string> seen;

	for (const timely_preset &preset : timely_presets) {
		EXPECT_EQ(complaint(preset.params), "") << preset.name;
		EXPECT_EQ(preset.params.variant, preset.variant);
		EXPECT_TRUE(seen.insert(preset.name +
					std::to_string(preset.variant)).second)
			<< preset.name;
	}
	EXPECT_TRUE(seen.count("default0") && seen.count("default1") && seen.count("default2"));
	EXPECT_TRUE(seen.count("verbatim0") && seen.count("verbatim1") && seen.count("verbatim2"));
}

TEST(TimelyParams, timely_presets__verbatim_has_every_departure_off)
{
	for (const timely_preset &preset : timely_presets) {
		const timely_params &p = preset.params;

		if (std::string(preset.name) != "verbatim")
			continue;
		EXPECT_EQ(p.max_decrease_milli, 1000u);
		EXPECT_EQ(p.max_high_milli, 1000u);
		for (const char *name :
		     {"burst_us", "app_limit_milli", "rtt_floor_us",
		      "noise_max_us", "rare_rtts", "path_law", "root_step",
		      "elapsed_gradient", "scale_updates", "decrease_once",
		      "hai_low", "hai_us", "high_drain", "beta_high_milli"}) {
			timely_knob k = knob(name);

			EXPECT_EQ(timely_knob_get(&k, &p), 0u) << name;
		}
	}
}

TEST(TimelyParams, timely_knob_set__reads_back_and_touches_nothing_else)
{
	for (const timely_knob &k : all_knobs()) {
		timely_params p = good();

		for (u64 value : {k.min, k.max}) {
			timely_knob_set(&k, &p, value);
			EXPECT_EQ(timely_knob_get(&k, &p), value) << k.name;
		}
		for (const timely_knob &other : all_knobs()) {
			const timely_params before = good();

			if (other.offset == k.offset)
				continue;
			EXPECT_EQ(timely_knob_get(&other, &p),
				  timely_knob_get(&other, &before))
				<< k.name << " " << other.name;
		}
	}
}

TEST(TimelyParams, timely_params_check__each_knob_has_its_range)
{
	for (const timely_knob &k : all_knobs()) {
		timely_params p = good();
		u64 widest = k.size == 8 ? ~0ULL : (1ULL << (8 * k.size)) - 1;

		EXPECT_LE(k.min, k.max) << k.name;
		ASSERT_LT(k.max, widest) << k.name;
		timely_knob_set(&k, &p, k.max + 1);
		EXPECT_EQ(complaint(p), k.name);
		if (k.min) {
			timely_knob_set(&k, &p, k.min - 1);
			EXPECT_EQ(complaint(p), k.name);
		}
	}
}

TEST(TimelyParams, timely_params_check__knobs_agree_with_each_other)
{
	timely_params p = good();

	p.t_low_us = p.t_high_us + 1;
	EXPECT_EQ(complaint(p), "t_low_us is above t_high_us");
	p = good();
	p.t_low_us = p.t_high_us;
	EXPECT_EQ(complaint(p), "");
	p.min_rate_bps = p.max_rate_bps + 1;
	EXPECT_EQ(complaint(p), "min_rate_bps is above max_rate_bps");
	p = good();
	p.init_rate_bps = p.min_rate_bps - 1;
	EXPECT_EQ(complaint(p), "init_rate_bps is below min_rate_bps");
	p.init_rate_bps = p.max_rate_bps + 1;
	EXPECT_EQ(complaint(p), "init_rate_bps is above max_rate_bps");
}

// A queue of nothing is no reference, and divides by nothing.
TEST(TimelyParams, timely_params_check__pi_needs_a_reference)
{
	timely_params p = good();

	p.t_low_us = 0;
	EXPECT_EQ(complaint(p), "");
	p.variant = TIMELY_VARIANT_PI;
	EXPECT_EQ(complaint(p), "t_low_us is 0, and no reference");
	p.t_low_us = 1;
	EXPECT_EQ(complaint(p), "");
}

// What nobody can set must not be lost between two tables.
TEST(TimelyParams, timely_knobs__with_the_constants_are_all_of_the_parameters)
{
	std::set<u32> bytes = {offsetof(timely_params, variant)};

	for (const timely_knob &k : all_knobs())
		for (u32 i = 0; i < k.size; i++)
			EXPECT_TRUE(bytes.insert(k.offset + i).second) << k.name;
	// No more than the padding at its end is left.
	EXPECT_LT(sizeof(timely_params) - bytes.size(), alignof(timely_params));
}

TEST(TimelyParams, timely_knobs__every_one_is_explained)
{
	std::set<std::string> names;

	for (const timely_knob &k : all_knobs()) {
		EXPECT_TRUE(names.insert(k.name).second) << k.name;
		EXPECT_GT(std::string(k.help).size(), 10u) << k.name;
		EXPECT_TRUE(k.size == 1 || k.size == 4 || k.size == 8) << k.name;
	}
}

}  // namespace
