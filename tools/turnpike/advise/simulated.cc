// SPDX-License-Identifier: GPL-2.0
#include "simulated.h"

#include <algorithm>
#include <cmath>

#include "../presets.h"
#include "rack_sim.h"

namespace turnpike {
namespace {

constexpr int kMtu = 1500;
constexpr double kFrameBits = (kMtu + 38) * 8;
// A row takes 0.1 s of a processor for them, whatever the rate.
constexpr double kFrames = 1.2e5;
constexpr double kMostSeconds = 0.05, kSettled = 0.4;
constexpr double kBursts = 2;

double seconds_of(const AdvisedPath &path)
{
	return std::min(kMostSeconds, kFrames * kFrameBits / path.rate_bps);
}

// All flows begin with their share: this is of how they go on, not of how they begin.
rack_sim::Config config_of(const timely_params &params, const AdvisedPath &path, unsigned flows, double seconds)
{
	rack_sim::Config config;

	config.params = params;
	config.nic_bps = config.link_bps = path.rate_bps;
	config.base_rtt_us = path.rtt_s * 1e6;
	config.mtu = kMtu;
	config.duration_s = seconds;
	config.warmup_s = kSettled * seconds;
	config.series_us = std::max(seconds * 1e6 / 5000, 1.0);
	rack_sim::add_flows(config, static_cast<int>(flows), 1, std::max(path.rtt_s * 1e6, 100.0));
	for (rack_sim::FlowPlan &flow : config.flows)
		flow.rate_bps = path.rate_bps / flows;
	return config;
}

void add_queue(const std::vector<rack_sim::SeriesPoint> &series, double from_s, AdviceRow &row, double rate)
{
	double sum = 0, squares = 0, count = 0;

	for (const rack_sim::SeriesPoint &point : series) {
		double queue = point.queue_us * 1e-6 * rate;

		if (point.time_s < from_s)
			continue;
		sum += queue;
		squares += queue * queue;
		count++;
	}
	row.queue = count ? sum / count : 0;
	row.deviation = count ? std::sqrt(std::max(squares / count - row.queue * row.queue, 0.0)) : 0;
}

}  // namespace

AdviceRow simulated_row(const timely_params &params, const AdvisedPath &path, unsigned flows, double seconds)
{
	rack_sim::Config config = config_of(params, path, flows, seconds);
	rack_sim::Result result = rack_sim::run(config);
	AdviceRow row;

	row.flows = flows;
	add_queue(result.series, config.warmup_s, row, path.rate_bps / 8);
	row.longest = result.max_queue_us * 1e-6 * path.rate_bps / 8;
	row.delay_s = path.rtt_s + row.queue * 8 / path.rate_bps;
	// Bursts of some flows meet and part in a queue that does not swing.
	row.oscillates = row.deviation > kSwing * row.queue && row.deviation > kBursts * params.seg_bytes;
	row.utilization = result.utilization;
	return row;
}

AdviceTable simulated_table(const std::string &law, const AdvisedPath &path, const std::vector<unsigned> &flows)
{
	const timely_preset preset = find_preset(variant_of(law), "default");
	AdviceTable table = {.law = law, .simulated = true, .source = "the module's code and settings",
			     .seconds = seconds_of(path)};

	for (unsigned count : flows)
		table.rows.push_back(simulated_row(preset.params, path, count, table.seconds));
	return table;
}

}  // namespace turnpike
