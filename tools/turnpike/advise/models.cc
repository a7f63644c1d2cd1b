// SPDX-License-Identifier: GPL-2.0
#include "models.h"

#include <cmath>
#include <functional>
#include <map>

#include "../command.h"
#include "fluid_dcqcn.h"
#include "fluid_dde.h"
#include "fluid_margin.h"
#include "fluid_pi.h"

namespace turnpike {
namespace {

// Long enough for what grows by few percent an RTT; the last third counts.
constexpr double kLeastSeconds = 0.24, kRtts = 2000;

FluidPath fluid_path(const AdvisedPath &path, unsigned flows)
{
	return {.capacity = path.rate_bps / 8, .flows = static_cast<double>(flows), .propagation_s = path.rtt_s};
}

double seconds_of(const AdvisedPath &path)
{
	return std::max(kLeastSeconds, kRtts * path.rtt_s);
}

// The last third of a run that begins with equal shares, near the fixed point.
template <typename Law>
void run_in_time(const Law &law, const FluidState<Law::kStates> &start, double queue, const AdvisedPath &path,
		 AdviceRow &row)
{
	double step_s = std::clamp(path.rtt_s / 10, 1e-6, 1e-5);
	FluidRun<Law> run(law, {{start, law.path.flows, 0}}, std::max(0.9 * queue, 0.0), step_s);
	double sum = 0, squares = 0;

	run.run(seconds_of(path));
	const std::vector<double> &queues = run.queues();
	std::size_t first = queues.size() * 2 / 3, count = queues.size() - first;

	for (std::size_t i = first; i < queues.size(); i++) {
		sum += queues[i];
		squares += queues[i] * queues[i];
		row.longest = std::max(row.longest, queues[i]);
	}
	row.queue = sum / count;
	row.deviation = std::sqrt(std::max(squares / count - row.queue * row.queue, 0.0));
	row.delay_s = path.rtt_s + row.queue / law.path.capacity;
}

template <typename Law> AdviceRow stable_row(const Law &law, const AdvisedPath &path)
{
	FluidPoint<Law::kStates> point = fluid_fixed_point(law);
	AdviceRow row;

	run_in_time(law, point.state, point.queue, path, row);
	if (point.queue <= 0)
		return row;
	if (auto margin = fluid_margin(FluidLoop<Law>(law, point)))
		row.margin = margin->degrees;
	row.oscillates = row.margin ? *row.margin < 0 : row.deviation > kSwing * row.queue;
	return row;
}

AdviceRow dcqcn(const AdvisedPath &path, unsigned flows)
{
	return stable_row(FluidDcqcn{.path = fluid_path(path, flows)}, path);
}

AdviceRow timely(const AdvisedPath &path, unsigned flows)
{
	FluidTimely law{.path = fluid_path(path, flows)};
	AdviceRow row;

	law.path.base_s = path.rtt_s;
	run_in_time(law, {law.path.share(), 0}, law.path.capacity * law.params.t_low_s, path, row);
	row.oscillates = row.deviation > kSwing * row.queue;
	return row;
}

AdviceRow patched(const AdvisedPath &path, unsigned flows)
{
	FluidPatched law{.path = fluid_path(path, flows)};

	law.path.base_s = path.rtt_s;
	return stable_row(law, path);
}

AdviceRow pi(const AdvisedPath &path, unsigned flows)
{
	return stable_row(FluidPi{.path = fluid_path(path, flows)}, path);
}

struct Model {
	AdviceRow (*row)(const AdvisedPath &, unsigned);
	const char *source;
	std::vector<std::string> remarks;
};

const std::map<std::string, Model> kModels = {
	{"dcqcn", {dcqcn, "DCQCN, ECNDELAY16 eq. 3 to 7",
		   {"above K_max, 200 kB, the line of eq. 3 goes on; a switch marks every packet there"}}},
	{"timely_paper", {timely, "TIMELY, ECNDELAY16 eq. 20 to 24",
			  {"this law has no fixed point (Theorem 3), and so no margin"}}},
	{"timely_patched_paper", {patched, "Patched TIMELY, ECNDELAY16 eq. 29 to 31", {}}},
	{"timely_pi_paper", {pi, "Patched TIMELY with PI, ECNDELAY16 eq. 32",
			     {"shares need not be fair (Theorem 6); the paper prints no gains: K1 is 1, K2 100 a second"}}},
};

// What the numbers of this path say, besides.
std::vector<std::string> remarks_of(const AdviceTable &table)
{
	std::vector<std::string> remarks = kModels.at(table.law).remarks;
	auto any = [&](auto holds) { return std::any_of(table.rows.begin(), table.rows.end(), holds); };

	if (table.law == "timely_patched_paper" && any([](const AdviceRow &row) { return row.queue <= 0; }))
		remarks.push_back("without a queue the RTT is above T_low, 50 us, and few flows leave the link idle");
	if (any([](const AdviceRow &row) { return row.oscillates && row.margin; }))
		remarks.push_back("a margin below 0 says that the model oscillates, not how far: see sd");
	return remarks;
}

}  // namespace

std::vector<std::string> model_names()
{
	std::vector<std::string> names;

	for (const auto &[name, model] : kModels)
		names.push_back(name);
	return names;
}

AdviceTable model_table(const std::string &law, const AdvisedPath &path, const std::vector<unsigned> &flows)
{
	const Model &model = kModels.at(law);
	AdviceTable table = {.law = law, .simulated = false, .source = model.source, .seconds = seconds_of(path)};

	for (unsigned count : flows) {
		table.rows.push_back(model.row(path, count));
		table.rows.back().flows = count;
	}
	table.remarks = remarks_of(table);
	return table;
}

}  // namespace turnpike
