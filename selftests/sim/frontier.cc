// SPDX-License-Identifier: GPL-2.0
//
// Throughput against the 99th percentile of the RTT over the parameters that
// matter, as CSV: one parameter at a time, and t_low with t_high together,
// around the default of each variant. The rest of the columns names the case.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "knobs.h"
#include "tools/turnpike/advise/rack_sim.h"

namespace {

struct Case {
	const char *name;
	int hosts;
	int flows;
	double nic_bps;
	double link_bps;
};

constexpr Case kCases[] = {
	{"table1", 10, 4, 10e9, 20e9},
	{"4x10G", 4, 1, 10e9, 10e9},
	{"100x10G", 10, 10, 10e9, 10e9},
};

struct Setting {
	const char *knob;
	u64 value;
};

using Settings = std::vector<Setting>;

const std::vector<Settings> &sweep()
{
	static const std::vector<Settings> kSweep = {
		{},
		{{"t_low_us", 8}, {"t_high_us", 28}},
		{{"t_low_us", 12}, {"t_high_us", 32}},
		{{"t_low_us", 16}, {"t_high_us", 36}},
		{{"t_low_us", 20}, {"t_high_us", 40}},
		{{"t_low_us", 26}, {"t_high_us", 46}},
		{{"t_low_us", 32}, {"t_high_us", 52}},
		{{"t_low_us", 40}, {"t_high_us", 60}},
		{{"t_high_us", 80}},
		{{"t_high_us", 180}},
		{{"burst_us", 20}},
		{{"burst_us", 64}},
		{{"burst_us", 100}},
		{{"burst_us", 0}},
		{{"delta_bps", 600000}},
		{{"delta_bps", 2500000}},
		{{"delta_bps", 5000000}},
		{{"root_step", 0}},
		{{"elapsed_gradient", 0}},
		{{"scale_max", 1}},
		{{"decrease_once", 0}},
		{{"max_decrease_milli", 500}},
		{{"beta_high_milli", 800}},
		{{"high_drain", 0}},
		{{"hai_us", 0}},
		{{"noise_max_us", 0}},
		{{"rare_rtts", 0}},
	};

	return kSweep;
}

std::string apply(const Settings &settings, timely_params &params)
{
	std::string text;

	for (const Setting &setting : settings) {
		rack_sim::set_knob(params, setting.knob, setting.value);
		text += std::string(text.empty() ? "" : " ") + setting.knob +
			"=" + std::to_string(setting.value);
	}
	return text.empty() ? "default" : text;
}

void measure(const char *algorithm, const timely_params &base,
	     const Settings &settings, const Case &point)
{
	constexpr int kSeeds = 3;
	rack_sim::Config config;
	double utilization = 0, mean_us = 0, p99_us = 0, jain = 1, bursts = 0;

	config.params = base;
	std::string text = apply(settings, config.params);

	config.nic_bps = point.nic_bps;
	config.link_bps = point.link_bps;
	for (int seed = 1; seed <= kSeeds; seed++) {
		config.seed = seed;
		config.flows.clear();
		rack_sim::add_flows(config, point.hosts, point.flows);
		rack_sim::Result r = rack_sim::run(config);

		utilization += r.utilization / kSeeds;
		mean_us += r.frame_mean_us / kSeeds;
		p99_us = std::max(p99_us, r.frame_p99_us);
		jain = std::min(jain, r.jain);
		bursts += r.bursts_per_s / kSeeds;
	}
	std::printf("%s,%s,%s,%.4f,%.1f,%.1f,%.4f,%.0f\n", algorithm,
		    point.name, text.c_str(), utilization, mean_us, p99_us, jain,
		    bursts);
}

}  // namespace

int main()
{
	std::puts("algorithm,case,setting,utilization,rtt_mean_us,rtt_p99_us,"
		  "jain,bursts_per_s");
	for (const timely_preset &preset : timely_presets) {
		const char *algorithm = preset.variant == TIMELY_VARIANT_PATCHED
						? "timely_patched"
						: "timely";

		if (std::string(preset.name) != "default")
			continue;
		for (const Settings &settings : sweep())
			for (const Case &point : kCases)
				measure(algorithm, preset.params, settings, point);
	}
	return 0;
}
