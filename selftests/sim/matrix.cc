// SPDX-License-Identifier: GPL-2.0
//
// What the shipped law does on the paths that a host has, as a table:
//
//   matrix [variant=timely|timely_patched] [seeds=1] [KNOB=VALUE ...] [ROW ...]
//
// A ROW selects those whose name contains it. Figures are means over the seeds;
// the shares and p99 are the worst. RTTs are the
// base RTT of a flow and the queue that its frames met.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "knobs.h"
#include "tools/turnpike/advise/rack_sim.h"


namespace {

using rack_sim::Config;
using rack_sim::FlowPlan;
using rack_sim::Result;

struct Row {
	std::string name;
	Config config;
	int hosts;
	int flows;  // of each
	std::vector<FlowPlan> more;  // flows besides
};

Row row(const std::string &name, int hosts, int flows, double nic_gbps,
	double link_gbps, double base_us)
{
	Row r{name, {}, hosts, flows, {}};

	r.config.nic_bps = nic_gbps * 1e9;
	r.config.link_bps = link_gbps * 1e9;
	r.config.base_rtt_us = base_us;
	r.config.warmup_s = 0.1;
	r.config.duration_s = link_gbps > 50 ? 0.15 : 0.25;
	return r;
}

Row timed(Row r, double warmup_s, double duration_s)
{
	r.config.warmup_s = warmup_s;
	r.config.duration_s = duration_s;
	return r;
}

Row stepped(Row r, double step_us)
{
	r.config.step_s = 0.3;
	r.config.step_us = step_us;
	return timed(r, 1.3, 1.5);
}

Row coalescing(Row r, double time_us)
{
	r.config.coalescing.time_us = time_us;
	return timed(r, 0.4, 0.6);
}

Row noisy(Row r, double noise_us)
{
	r.config.noise_us = noise_us;
	return timed(r, 0.2, 0.5);
}

Row jumbo(Row r)
{
	r.config.mtu = 9000;
	return timed(r, 0.15, 0.35);
}

Row with(Row r, int count, const FlowPlan &plan)
{
	for (int i = 0; i < count; i++) {
		r.more.push_back(plan);
		r.more.back().host = r.hosts + i;
		r.more.back().start_s = 1e-5 * i;
	}
	return r;
}

// As many far as near flows, each on a host of its own.
Row mixed(int each, double far_us)
{
	Row r = row("12 near 10 us and far " + std::to_string(int(far_us)) +
			    " us, " + std::to_string(each) + "+" +
			    std::to_string(each),
		    each, 1, 10, 10, 10);

	r = with(r, each, {.base_rtt_us = far_us});
	return timed(r, 0.5, 0.8);
}

Row capped(Row r, int hosts, int each, double cap_bps)
{
	int first = r.hosts;

	for (int host = 0; host < hosts; host++)
		for (int i = 0; i < each; i++)
			r.more.push_back({.host = first + host,
					  .start_s = 1e-5 * i,
					  .cap_bps = cap_bps});
	return timed(r, 0.2, 0.4);
}

// Base RTTs of slow ports have two frames of the port in them.
double slow_base_us(double gbps)
{
	return 20 + 2 * 1538 * 8 / (gbps * 1e3);
}

std::vector<Row> rows()
{
	std::vector<Row> all = {
		row("00 table 1: 40 flows into 20G", 10, 4, 10, 20, 20),
		row("00 40 flows into 20G, base 8", 10, 4, 10, 20, 8),
		row("00 40 flows into 20G, base 40", 10, 4, 10, 20, 40),
		row("00 40 flows into 20G, base 100", 10, 4, 10, 20, 100),
		row("00 4 flows 10G", 4, 1, 10, 10, 20),
		row("00 10 flows 10G", 10, 1, 10, 10, 20),
		row("00 100 flows 10G", 10, 10, 10, 10, 20),
		timed(row("00 400 flows 10G", 20, 20, 10, 10, 20), .2, .5),
		row("00 4 flows 25G", 4, 1, 25, 25, 20),
		row("00 4 flows 100G", 4, 1, 100, 100, 20),
		row("00 40 flows 100G", 10, 4, 100, 100, 20),
		row("00 400 flows 100G", 20, 20, 100, 100, 20),
		timed(row("00 table 1 for 4 s", 10, 4, 10, 20, 20), 1, 4),
		timed(row("00 100 flows 10G for 4 s", 10, 10, 10, 10, 20), 1, 4),
		stepped(row("01 4 flows 10G, +100 us", 4, 1, 10, 10, 20), 100),
		stepped(row("01 4 flows 10G, +20 us", 4, 1, 10, 10, 20), 20),
		stepped(row("01 4 flows 10G, -100 us", 4, 1, 10, 10, 120), -100),
		stepped(row("01 40 flows 10G, +100 us", 10, 4, 10, 10, 20), 100),
		row("07 4 flows 10G, base 30", 4, 1, 10, 10, 30),
		row("07 4 flows 10G, base 60", 4, 1, 10, 10, 60),
		row("07 4 flows 10G, base 100", 4, 1, 10, 10, 100),
		timed(row("07 4 flows 10G, base 200", 4, 1, 10, 10, 200), .2, .4),
		timed(row("03 4 flows 10G, base 300", 4, 1, 10, 10, 300), .2, .4),
		timed(row("03 4 flows 10G, base 1000", 4, 1, 10, 10, 1000), .4, .8),
		timed(row("03 40 flows 10G, base 1000", 10, 4, 10, 10, 1000), .4, .8),
		timed(row("03 1 flow 1G, base 1000", 1, 1, 1, 1, 1000), .5, 1.5),
		timed(row("03 1 flow 1G, base 3000", 1, 1, 1, 1, 3000), .5, 1.5),
		capped(row("04 4 flows beside 40 of 300M", 4, 1, 10, 10, 20), 10,
		       4, 300e6),
		capped(row("04 100 flows of 120M", 0, 0, 10, 10, 20), 10, 10,
		       120e6),
		timed(row("08 1 flow 10G into 1G", 1, 1, 10, 1,
			  slow_base_us(1)), .3, 1),
		timed(row("08 1 flow 100G into 1G", 1, 1, 100, 1,
			  slow_base_us(1)), .3, 1),
		timed(row("08 4 flows 10G into 1G", 4, 1, 10, 1,
			  slow_base_us(1)), .3, 1),
		timed(row("08 1 flow 10G into 200M", 1, 1, 10, .2,
			  slow_base_us(.2)), 1, 3),
		timed(row("08 1 flow 10G into 100M", 1, 1, 10, .1,
			  slow_base_us(.1)), 1, 3),
		timed(row("08 2 flows 10G into 100M", 2, 1, 10, .1,
			  slow_base_us(.1)), 1, 3),
		timed(row("09 4 flows 1G into 10M", 4, 1, 1, .01,
			  slow_base_us(.01)), 2, 12),
		timed(row("09 2 flows 10M", 2, 1, .01, .01, 20), 2, 12),
		jumbo(row("10 4 flows 10G, mtu 9000", 4, 1, 10, 10, 20)),
		jumbo(row("10 40 flows 10G, mtu 9000", 10, 4, 10, 10, 20)),
		with(row("13 4 flows 10G, 4 RPCs of 1 frame", 4, 1, 10, 10, 20),
		     4, {.request_frames = 1, .think_us = 200}),
		with(row("13 4 flows 10G, 4 RPCs of 11 frames", 4, 1, 10, 10,
			 20), 4, {.request_frames = 11, .think_us = 400}),
		with(row("13 4 flows 10G, 4 RPCs of 45 frames", 4, 1, 10, 10,
			 20), 4, {.request_frames = 45, .think_us = 1000}),
	};
	Row jumbos = row("10 12 flows 100G, incasts of 24, mtu 9000", 12, 1,
			 100, 100, 20);

	all.push_back(with(jumbo(timed(jumbos, .05, .1)), 24,
			   {.request_frames = 4, .think_us = 500}));
	for (double time_us : {8.0, 20.0, 50.0}) {
		std::string text = std::to_string(int(time_us)) + " us";

		all.push_back(coalescing(row("06 4 flows 10G, " + text, 4, 1, 10,
					     10, 20), time_us));
		all.push_back(coalescing(row("06 40 flows into 20G, " + text,
					     10, 4, 10, 20, 20), time_us));
	}
	for (double noise_us : {5.0, 10.0, 20.0, 40.0, 80.0}) {
		std::string text = std::to_string(int(noise_us)) + " us of noise";

		all.push_back(noisy(row("21 4 flows 10G, " + text, 4, 1, 10, 10, 20), noise_us));
		all.push_back(noisy(row("21 40 flows into 20G, " + text, 10, 4, 10, 20, 20), noise_us));
	}
	for (double far_us : {50.0, 100.0, 200.0})
		all.push_back(mixed(1, far_us));
	all.push_back(mixed(4, 200));
	return all;
}

struct Figures {
	double utilization = 0, jain = 1, share = 1, p50_us = 0, p99_us = 0;
	double request_us = 0, request_p99_us = 0, most = 0;
};

Figures measure(const Row &r, const timely_params &params, int seeds)
{
	Figures f;

	for (int seed = 1; seed <= seeds; seed++) {
		Config config = r.config;

		config.params = params;
		config.seed = seed;
		rack_sim::add_flows(config, r.hosts, r.flows);
		config.flows.insert(config.flows.end(), r.more.begin(),
				    r.more.end());
		Result result = rack_sim::run(config);

		f.utilization += result.utilization / seeds;
		f.jain = std::min(f.jain, result.jain);
		f.share = std::min(f.share, result.min_share);
		f.p50_us += result.frame_p50_us / seeds;
		f.p99_us = std::max(f.p99_us, result.frame_p99_us);
		f.request_us += result.request_mean_us / seeds;
		f.request_p99_us = std::max(f.request_p99_us,
					    result.request_p99_us);
		// The first flow, of those that are plain.
		f.most += result.goodput_bps[0] / seeds;
	}
	return f;
}

void print(const std::string &name, const Figures &f)
{
	std::printf("%-44s %6.2f %6.3f %6.3f %7.1f %7.1f", name.c_str(),
		    f.utilization * 100, f.jain, f.share, f.p50_us, f.p99_us);
	if (f.request_us > 0)
		std::printf("   rpc %.1f p99 %.1f", f.request_us,
			    f.request_p99_us);
	std::printf("\n");
	std::fflush(stdout);
}

timely_params find(const std::string &preset, u8 variant)
{
	for (const timely_preset &p : timely_presets)
		if (p.variant == variant && preset == p.name)
			return p.params;
	std::exit(1);
}

bool wanted(const std::string &name, const std::vector<std::string> &words)
{
	for (const std::string &word : words)
		if (name.find(word) != std::string::npos)
			return true;
	return words.empty();
}

}  // namespace

int main(int argc, char **argv)
{
	std::vector<std::string> words, settings;
	u8 variant = TIMELY_VARIANT_TIMELY;
	int seeds = 1;

	for (int i = 1; i < argc; i++) {
		std::string word = argv[i];

		if (word == "variant=timely_patched")
			variant = TIMELY_VARIANT_PATCHED;
		else if (word == "variant=timely")
			variant = TIMELY_VARIANT_TIMELY;
		else if (word.starts_with("seeds="))
			seeds = std::atoi(argv[i] + 6);
		else if (word.find('=') != std::string::npos)
			settings.push_back(word);
		else
			words.push_back(word);
	}
	timely_params params = find("default", variant);

	for (const std::string &setting : settings) {
		std::size_t equals = setting.find('=');

		if (!rack_sim::set_knob(params, setting.substr(0, equals),
			      std::strtoull(setting.c_str() + equals + 1,
					    nullptr, 10))) {
			std::fprintf(stderr, "unknown: %s\n", setting.c_str());
			return 1;
		}
	}
	std::printf("%-44s %6s %6s %6s %7s %7s\n", "row", "util%", "jain",
		    "least", "p50 us", "p99 us");
	for (const Row &r : rows())
		if (wanted(r.name, words))
			print(r.name, measure(r, params, seeds));
	return 0;
}
