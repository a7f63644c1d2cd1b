// SPDX-License-Identifier: GPL-2.0
//
// Runs the model from the command line, for finding and checking parameters:
//
//   rack-sim [variant=timely|timely_patched|timely_pi] [preset=NAME] [hosts=10]
//            [flows=4] [nic=10] [link=20] [base=20] [noise=0] [seeds=3]
//            [warmup=0.1] [duration=0.3] [KNOB=VALUE ...]
//
// prints one line per run: mean over the seeds, worst value for percentiles.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "knobs.h"
#include "tools/turnpike/advise/rack_sim.h"

namespace {

using Settings = std::map<std::string, std::string>;

double take(Settings &settings, const char *name, double fallback)
{
	auto found = settings.find(name);

	if (found == settings.end())
		return fallback;
	double value = std::atof(found->second.c_str());

	settings.erase(found);
	return value;
}

std::string take_word(Settings &settings, const char *name,
		      const char *fallback)
{
	auto found = settings.find(name);

	if (found == settings.end())
		return fallback;
	std::string value = found->second;

	settings.erase(found);
	return value;
}

bool find_preset(const std::string &variant, const std::string &name,
		 timely_params &params)
{
	static const std::map<std::string, u8> variants = {
		{"timely", TIMELY_VARIANT_TIMELY},
		{"timely_patched", TIMELY_VARIANT_PATCHED},
		{"timely_pi", TIMELY_VARIANT_PI},
	};
	auto wanted = variants.find(variant);

	for (const timely_preset &preset : timely_presets) {
		if (wanted != variants.end() && preset.variant == wanted->second && name == preset.name) {
			params = preset.params;
			return true;
		}
	}
	return false;
}

bool set_knobs(const Settings &settings, timely_params &params)
{
	const char *why;

	for (const auto &[name, value] : settings) {
		u64 number = std::strtoull(value.c_str(), nullptr, 10);

		if (!rack_sim::set_knob(params, name, number)) {
			std::fprintf(stderr, "unknown setting %s\n",
				     name.c_str());
			return false;
		}
	}
	if (timely_params_check(&params, &why)) {
		std::fprintf(stderr, "bad parameters: %s\n", why);
		return false;
	}
	return true;
}

}  // namespace

int main(int argc, char **argv)
{
	Settings settings;
	rack_sim::Config config;

	for (int i = 1; i < argc; i++) {
		const char *equals = std::strchr(argv[i], '=');

		if (!equals) {
			std::fprintf(stderr, "not name=value: %s\n", argv[i]);
			return 1;
		}
		settings[std::string(argv[i], equals - argv[i])] = equals + 1;
	}
	std::string variant = take_word(settings, "variant", "timely");
	std::string preset = take_word(settings, "preset", "default");
	int hosts = static_cast<int>(take(settings, "hosts", 10));
	int flows = static_cast<int>(take(settings, "flows", 4));
	int seeds = static_cast<int>(take(settings, "seeds", 3));
	double spread_us = take(settings, "spread", 100);

	config.nic_bps = take(settings, "nic", 10) * 1e9;
	config.link_bps = take(settings, "link", 20) * 1e9;
	config.base_rtt_us = take(settings, "base", 20);
	config.noise_us = take(settings, "noise", 0);
	config.warmup_s = take(settings, "warmup", 0.1);
	config.duration_s = take(settings, "duration", 0.3);
	if (!find_preset(variant, preset, config.params)) {
		std::fprintf(stderr, "no preset %s of %s\n", preset.c_str(),
			     variant.c_str());
		return 1;
	}
	if (!set_knobs(settings, config.params))
		return 1;

	double util = 0, jain = 1, mean = 0, p50 = 0, p99 = 0, fp99 = 0;
	double drained = 0, share = 1, burst = 0, queue = 0;

	for (int seed = 1; seed <= seeds; seed++) {
		config.seed = seed;
		config.flows.clear();
		rack_sim::add_flows(config, hosts, flows, spread_us);
		rack_sim::Result r = rack_sim::run(config);

		util += r.utilization / seeds;
		mean += r.sample_mean_us / seeds;
		p50 += r.sample_p50_us / seeds;
		burst += r.burst_bytes / seeds;
		jain = std::min(jain, r.jain);
		share = std::min(share, r.min_share);
		p99 = std::max(p99, r.sample_p99_us);
		fp99 = std::max(fp99, r.frame_p99_us);
		queue = std::max(queue, r.max_queue_us);
		drained = std::max(drained, r.drained_s);
	}
	std::printf("util %.4f jain %.4f min %.2f mean %.1f p50 %.1f p99 %.1f frame-p99 %.1f maxq %.0f drained-ms %.2f burst %.0f\n",
		    util, jain, share, mean, p50, p99, fp99, queue,
		    drained * 1e3, burst);
	return 0;
}
