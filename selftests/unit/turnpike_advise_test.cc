// SPDX-License-Identifier: GPL-2.0
//
// turnpike advise: the fluid models against stored values of scipy's and numpy's, the rules, and what the command says.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "advise/asked_path.h"
#include "advise/fluid_dcqcn.h"
#include "advise/fluid_dde.h"
#include "advise/fluid_margin.h"
#include "advise/fluid_pi.h"
#include "advise/models.h"
#include "advise/rules.h"
#include "advise/simulated.h"
#include "advise/svg_plot.h"
#include "advise/this_host.h"
#include "command.h"
#include "presets.h"
#include "process.h"

namespace turnpike {
namespace {

namespace fs = std::filesystem;

// What an action throws.
template <typename Do> std::string said(Do action)
{
	try {
		action();
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

template <typename Law> double margin_of(const Law &law)
{
	return fluid_margin(FluidLoop<Law>(law, fluid_fixed_point(law)))->degrees;
}

// -- DCQCN

FluidDcqcn dcqcn(double flows, double delay_s)
{
	return FluidDcqcn{.path = {.capacity = 5e9, .flows = flows, .propagation_s = delay_s}};
}

TEST(fluid_dcqcn, fixed_point__is_that_of_equation_11)
{
	const double stored[][4] = {{2, .00078, .00092, 20.2}, {10, .00603, .00785, 122.6},
				    {20, .01435, .01976, 284.9}, {64, .05905, .09312, 1156.5}};

	for (const auto &[flows, p, small_p, queue] : stored) {
		FluidDcqcn law = dcqcn(flows, 4e-6);

		EXPECT_NEAR(fluid_dcqcn_p(law), p, .01 * p) << flows;
		EXPECT_NEAR(fluid_dcqcn_small_p(law), small_p, .01 * small_p) << flows;
		EXPECT_NEAR(fluid_fixed_point(law).queue / 1e3, queue, .01 * queue) << flows;
	}
}

TEST(fluid_dcqcn, fixed_point__has_no_slope)
{
	FluidDcqcn law = dcqcn(10, 4e-6);
	auto point = fluid_fixed_point(law);
	auto slopes = law.slopes(point.state, point.state[0], {point.queue, point.queue});

	for (std::size_t i = 0; i < slopes.size(); i++)
		EXPECT_NEAR(slopes[i] / point.state[i], 0, 1e-3) << i;
}

TEST(fluid_dcqcn, margin__is_that_of_numpy)
{
	const double stored[][3] = {{4, 2, 19}, {4, 10, 9}, {4, 64, 24}, {50, 2, 8}, {50, 10, 2}, {50, 64, 20},
				    {85, 2, 0}, {85, 4, -3}, {85, 8, -4}, {85, 10, -3}, {85, 16, -2}, {85, 20, 0},
				    {85, 32, 5}, {85, 64, 17}, {100, 2, -3}, {100, 4, -5}, {100, 8, -6},
				    {100, 20, -2}, {100, 32, 3}, {100, 64, 16}};

	for (const auto &[delay_us, flows, degrees] : stored)
		EXPECT_NEAR(margin_of(dcqcn(flows, delay_us * 1e-6)), degrees, 1) << delay_us << " us, " << flows;
}

TEST(fluid_dcqcn, small_increase__is_stable_at_100_us)
{
	for (double flows : {2, 10, 16, 64}) {
		FluidDcqcn law = dcqcn(flows, 100e-6);

		law.params.increase = 10e6 / 8;
		EXPECT_GT(margin_of(law), -1) << flows;
		law.params.k_max = 1e6;
		EXPECT_GT(margin_of(law), 2) << flows;
	}
}

// -- Patched TIMELY

FluidPatched patched(double flows)
{
	return FluidPatched{.path = {.flows = flows}};
}

TEST(fluid_patched, fixed_point__is_equation_31)
{
	const double stored[][2] = {{2, 78.1}, {10, 140.6}, {20, 218.8}, {30, 296.9}, {40, 375}, {50, 453.1}};

	for (const auto &[flows, queue] : stored)
		EXPECT_NEAR(fluid_fixed_point(patched(flows)).queue / 1e3, queue, .01 * queue) << flows;
}

TEST(fluid_patched, fixed_point__has_less_queue_with_a_longer_base_rtt)
{
	FluidPatched law = patched(10);

	law.path.base_s = 20e-6;
	EXPECT_NEAR(fluid_fixed_point(law).queue / 1e3, 140.6 - 25, .1);
}

TEST(fluid_patched, margin__climbs_to_45_degrees_and_crosses_0_between_18_and_19_flows)
{
	const double stored[][2] = {{2, 7}, {5, 38}, {10, 45}, {15, 21}, {20, -5}, {30, -46}, {40, -78}, {50, -104}};

	for (const auto &[flows, degrees] : stored)
		EXPECT_NEAR(margin_of(patched(flows)), degrees, 1) << flows;
	EXPECT_GT(margin_of(patched(18)), 0);
	EXPECT_LT(margin_of(patched(19.5)), 0);
}

TEST(fluid_patched, margin__with_smaller_segments_or_steps_crosses_0_later)
{
	FluidPatched segments = patched(25), steps = patched(30);

	segments.params.segment = 1e3;
	EXPECT_NEAR(margin_of(segments), 17, 1);
	steps.params.delta = 5e6 / 8;
	EXPECT_NEAR(margin_of(steps), 3, 1);
}

struct Queue {
	double mean, deviation;
};

// Of the last tenth of a second.
Queue last_of(const std::vector<double> &queues, double step_s)
{
	auto count = static_cast<std::size_t>(.1 / step_s);
	auto first = queues.end() - static_cast<std::ptrdiff_t>(count);
	double mean = std::accumulate(first, queues.end(), 0.0) / count, squares = 0;

	for (auto at = first; at != queues.end(); ++at)
		squares += (*at - mean) * (*at - mean);
	return {mean / 1e3, std::sqrt(squares / count) / 1e3};
}

TEST(fluid_dde, patched__rests_where_the_margin_is_above_0_and_swings_where_not)
{
	const double stored[][3] = {{2, 78, 0}, {10, 141, 0}, {20, 208, 8.7}, {40, 325, 35.6}, {64, 444, 82.3}};

	for (const auto &[flows, mean, deviation] : stored) {
		auto point = fluid_fixed_point(patched(flows));
		FluidRun<FluidPatched> run(patched(flows), {{point.state, flows, 0}}, .9 * point.queue, 2e-6);

		run.run(.6);
		Queue queue = last_of(run.queues(), 2e-6);
		EXPECT_NEAR(queue.mean, mean, .02 * mean) << flows;
		EXPECT_NEAR(queue.deviation, deviation, .05 * deviation + .1) << flows;
	}
}

TEST(fluid_dde, patched__shares_meet)
{
	FluidRun<FluidPatched> run(patched(2), {{{7e9 / 8, 0}, 1, 0}, {{3e9 / 8, 0}, 1, 0}}, 0, 2e-6);

	run.run(.6);
	EXPECT_NEAR(run.flows()[0].state[0] / run.flows()[1].state[0], 1, .01);
}

// -- TIMELY

TEST(fluid_timely, equal_queues__leave_a_rate_that_climbs)
{
	FluidTimely law{.path = {.flows = 2}};
	auto slopes = law.slopes({law.path.share(), 0}, 0, {125e3, 125e3});

	// Theorem 3: a gradient of 0 is no place to rest.
	EXPECT_NEAR(slopes[0], law.params.delta / law.interval_s(law.path.share()), 1);
	EXPECT_EQ(slopes[1], 0);
}

TEST(fluid_timely, above_t_high__falls_by_the_rtt)
{
	FluidTimely law{.path = {.flows = 2}};
	auto slopes = law.slopes({law.path.share(), 0}, 0, {1.25e6, 1.25e6});

	EXPECT_NEAR(slopes[0] * law.interval_s(law.path.share()) / law.path.share(), -.8 * .5, 1e-6);
}

TEST(fluid_dde, timely__never_rests)
{
	FluidTimely law{.path = {.flows = 10}};
	FluidRun<FluidTimely> run(law, {{{law.path.share(), 0}, 10, 0}}, 62500, 2e-6);

	run.run(.3);
	EXPECT_GT(last_of(run.queues(), 2e-6).deviation, 5);
}

// -- PI

// p of a flow that begins is 0: z is raised to that.
constexpr double kNoP = -1e9;

TEST(fluid_dde, pi__holds_the_reference_whatever_the_number_of_flows)
{
	for (double flows : {2, 10}) {
		FluidPi law{.path = {.flows = flows}};
		FluidRun<FluidPi> run(law, {{{law.path.share(), 0, kNoP}, flows, 0}}, 0, 4e-6);

		run.run(.5);
		EXPECT_NEAR(last_of(run.queues(), 4e-6).mean, 300, 3) << flows;
	}
}

TEST(fluid_dde, pi_of_each_host__is_unfair_to_who_joins)
{
	constexpr double kGbit = 1e9 / 8;
	std::vector<FluidFlow<FluidPi::kStates>> flows;

	for (int i = 0; i < 5; i++)
		flows.push_back({{(i ? 1 : 9.9) * kGbit, 0, kNoP}, 1, .05 * i});
	FluidRun<FluidPi> run({.path = {.flows = 5}}, flows, 0, 4e-6);
	double sum = 0, squares = 0;

	run.run(.5);
	for (const auto &flow : run.flows()) {
		sum += flow.state[0];
		squares += flow.state[0] * flow.state[0];
	}
	EXPECT_NEAR(last_of(run.queues(), 4e-6).mean, 300, 3);
	EXPECT_NEAR(sum * sum / squares / 5, .787, .02);
}

TEST(fluid_pi, fixed_point__has_the_reference_and_no_slope)
{
	FluidPi law{.path = {.flows = 10}};
	auto point = fluid_fixed_point(law);

	EXPECT_NEAR(point.queue, 300e3, 1);
	for (double slope : law.slopes(point.state, 0, {point.queue, point.queue}))
		EXPECT_NEAR(slope, 0, 1);
}

// -- tables

TEST(model_table, dcqcn__oscillates_with_10_flows_at_85_us_alone)
{
	AdviceTable table = model_table("dcqcn", {.rate_bps = 40e9, .rtt_s = 85e-6, .buffer = {}}, {2, 10, 64});

	EXPECT_FALSE(table.simulated);
	EXPECT_FALSE(table.rows[0].oscillates);
	EXPECT_TRUE(table.rows[1].oscillates);
	EXPECT_FALSE(table.rows[2].oscillates);
	EXPECT_NEAR(table.rows[1].delay_s, 85e-6 + table.rows[1].queue / 5e9, 1e-9);
}

TEST(model_table, patched__above_its_reference_says_that_the_link_stands_idle)
{
	AdviceTable table = model_table("timely_patched_paper", {.rate_bps = 10e9, .rtt_s = 100e-6, .buffer = {}}, {2});

	EXPECT_FALSE(table.rows[0].margin);
	EXPECT_TRUE(has(table.remarks.at(0), "T_low"));
}

TEST(simulated_table, timely__fills_the_link_by_a_short_queue)
{
	AdviceTable table = simulated_table("timely", {.rate_bps = 10e9, .rtt_s = 20e-6, .buffer = {}}, {4, 16});

	EXPECT_TRUE(table.simulated);
	for (const AdviceRow &row : table.rows) {
		EXPECT_GT(*row.utilization, .95) << row.flows;
		EXPECT_LT(row.queue, 100e3) << row.flows;
		EXPECT_GT(row.queue, 5e3) << row.flows;
		EXPECT_GE(row.longest, row.queue) << row.flows;
	}
}

// Eq. 31 of packets: the code of the module with the paper's constants.
TEST(simulated_row, patched_verbatim__has_the_queue_of_equation_31)
{
	const timely_preset &preset = find_preset(TIMELY_VARIANT_PATCHED, "verbatim");
	AdvisedPath path = {.rate_bps = 10e9, .rtt_s = 5e-6, .buffer = {}};

	for (unsigned flows : {2U, 10U}) {
		FluidPatched law = patched(flows);

		law.path.base_s = path.rtt_s;
		double queue = fluid_fixed_point(law).queue;
		EXPECT_NEAR(simulated_row(preset.params, path, flows, .3).queue, queue, .2 * queue) << flows;
	}
}

TEST(first_beyond, buffer__is_left_by_the_first_that_does_not_fit)
{
	AdviceTable table;

	table.rows = {{.flows = 2, .longest = 1e5}, {.flows = 4, .longest = 3e5}, {.flows = 8, .longest = 9e5}};
	EXPECT_EQ(first_beyond(table, 2e5), 4U);
	EXPECT_EQ(first_beyond(table, 1e6), 0U);
}

// -- rules

TEST(onramp_threshold, of_the_paper__is_two_sigmas_above_the_least_delay)
{
	AdvisedThreshold t = onramp_threshold(12e-6, 5e-6);

	EXPECT_NEAR(t.owd_s, 16e-6, 1e-12);
	EXPECT_NEAR(t.queue_s, 10e-6, 1e-12);
}

TEST(tlt_switch, of_the_paper__has_its_numbers)
{
	TltSwitch sw = tlt_switch(40e9, 80e-6, 0, 12e6);

	sw.ports = 16;
	TltThreshold t = tlt_threshold(sw);
	EXPECT_NEAR(t.k_bytes, 400e3, 1);
	EXPECT_NEAR(t.port_bytes, 705880, 10);
	// And back: what leaves K and a packet of each of those flows is nearly that switch.
	sw.packet_bytes = 1500;
	EXPECT_NEAR(tlt_least_buffer(sw, t.k_bytes, 203), 12e6, 3e4);
}

TEST(tlt_switch, queue_longer_than_the_product__is_what_k_is_above)
{
	EXPECT_NEAR(tlt_threshold(tlt_switch(40e9, 80e-6, 500e3, 12e6)).k_bytes, 500e3, 1);
}

// -- what was asked

TEST(asked_flows, range__is_five_numbers_with_equal_factors)
{
	EXPECT_EQ(asked_flows("4..200"), (std::vector<unsigned>{4, 11, 28, 75, 200}));
	EXPECT_EQ(asked_flows("1..3"), (std::vector<unsigned>{1, 2, 3}));
	EXPECT_EQ(asked_flows("7..7"), (std::vector<unsigned>{7}));
	EXPECT_EQ(asked_flows("40,2,10,2"), (std::vector<unsigned>{2, 10, 40}));
}

TEST(asked_flows, bad__says_why)
{
	for (const char *text : {"", "0", "-4", "4..", "..4", "4...9", "4,,5", "many", "1001", "4.5", "99999999999"})
		EXPECT_TRUE(has(said([&] { asked_flows(text); }), "numbers of flows")) << text;
	EXPECT_TRUE(has(said([] { asked_flows("9..4"); }), "from more to less"));
	EXPECT_TRUE(has(said([] { asked_flows("1,2,3,4,5,6,7,8,9,10,11,12,13"); }), "at most 12"));
}

TEST(asked_rate_bps, units__are_those_of_links)
{
	EXPECT_EQ(asked_rate_bps("25G"), 25e9);
	EXPECT_EQ(asked_rate_bps("2.5Gbit"), 2.5e9);
	EXPECT_EQ(asked_rate_bps("100M"), 1e8);
	EXPECT_EQ(asked_rate_bps("10000000000"), 1e10);
	for (const char *text : {"", "G", "25Q", "-1G", "1e10", "25 G", "1.2.3G", "5M", "2T", "nan"})
		EXPECT_TRUE(has(said([&] { asked_rate_bps(text); }), "is no rate")) << text;
}

// -- this host

Socket socket_to(const std::uint8_t last, std::optional<std::uint32_t> min_rtt_us, const std::string &congctl)
{
	const std::uint8_t remote[4] = {10, 0, 0, last};
	Socket socket;

	socket.congctl = congctl;
	socket.min_rtt_us = min_rtt_us;
	socket.ends.remote = mapped_address(remote, true);
	return socket;
}

TEST(seen_path, of_connections__is_that_of_the_peer_alone)
{
	SeenPath path = seen_path({socket_to(7, 40, "timely"), socket_to(7, 31, "cubic"), socket_to(7, {}, "cubic"),
				   socket_to(8, 5, "bbr")}, "10.0.0.7");

	EXPECT_EQ(path.flows, 3U);
	EXPECT_NEAR(*path.rtt_s, 31e-6, 1e-9);
	EXPECT_EQ(path.congctls, (std::vector<std::string>{"timely", "cubic"}));
	EXPECT_FALSE(seen_path({}, "10.0.0.7").rtt_s);
}

class ThisHost : public testing::Test {
protected:
	void write(const std::string &path, const std::string &text)
	{
		fs::create_directories(fs::path(root_ + path).parent_path());
		std::ofstream(root_ + path) << text;
	}

	std::string root_ = testing::TempDir() + "turnpike_advise";

	void TearDown() override { fs::remove_all(root_); }
};

TEST_F(ThisHost, rate__is_what_the_device_says)
{
	write("/sys/class/net/eth0/speed", "25000\n");
	write("/sys/class/net/eth1/speed", "-1\n");
	EXPECT_EQ(device_rate_bps("eth0", root_), 25e9);
	EXPECT_FALSE(device_rate_bps("eth1", root_));
	EXPECT_EQ(said([&] { device_rate_bps("eth2", root_); }), "no device 'eth2'");
	EXPECT_EQ(said([&] { device_rate_bps("../net/eth0", root_); }), "no device '../net/eth0'");
}

TEST_F(ThisHost, sysctls__are_told_where_they_differ)
{
	write("/proc/sys/net/ipv4/tcp_timely/t_low_us", "30\n");
	write("/proc/sys/net/ipv4/tcp_timely/t_high_us", "54\n");
	std::vector<SettingDiffers> differ = sysctls_that_differ("timely", root_);

	ASSERT_EQ(differ.size(), 1U);
	EXPECT_EQ(differ[0].setting, "net.ipv4.tcp_timely.t_low_us");
	EXPECT_EQ(differ[0].now, "30");
	EXPECT_EQ(differ[0].advised, "24");
	EXPECT_EQ(sysctls_that_differ("timely_pi", root_).at(0).now, "not loaded");
}

// -- the plot

TEST(svg_plot, panels__have_a_curve_each_but_for_empty_ones)
{
	std::string svg = svg_plot("a & b", "flows", {2, 8}, {{"queue", {{"timely", {{2, 10}, {8, 30}}}}}, {"margin", {}}});

	EXPECT_TRUE(has(svg, "a &amp; b"));
	EXPECT_TRUE(has(svg, "<polyline"));
	EXPECT_TRUE(has(svg, "queue"));
	EXPECT_FALSE(has(svg, "margin"));
	EXPECT_FALSE(has(svg, "nan"));
	EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(svg_plot, one_point__is_one)
{
	std::string svg = svg_plot("t", "flows", {8}, {{"queue", {{"timely", {{8, 30}}}}}});

	EXPECT_TRUE(has(svg, "<circle"));
	EXPECT_FALSE(has(svg, "nan"));
}

// -- the command

Ended advise(std::vector<std::string> more)
{
	Words words = {TURNPIKE_COMMAND, "advise"};

	words.insert(words.end(), more.begin(), more.end());
	return run(words);
}

TEST(advise, table__says_model_or_simulated)
{
	Ended ended = advise({"--rate", "10G", "--rtt", "20us", "--flows", "4", "--cc", "timely,dcqcn"});

	EXPECT_EQ(ended.status, 0) << ended.errors;
	EXPECT_TRUE(has(ended.output, "timely: simulated, ")) << ended.output;
	EXPECT_TRUE(has(ended.output, "dcqcn: model, ")) << ended.output;
	EXPECT_TRUE(has(ended.output, "flows")) << ended.output;
	EXPECT_TRUE(has(ended.output, "ONRAMP21 section 7.1")) << ended.output;
	EXPECT_TRUE(has(ended.output, "TLT21 section 4.2")) << ended.output;
}

TEST(advise, json__has_the_numbers)
{
	Ended ended = advise({"--rate", "40G", "--rtt", "85us", "--flows", "2,10", "--cc", "dcqcn", "--buffer", "150k", "-j"});
	auto json = nlohmann::json::parse(ended.output);
	const auto &table = json["tables"][0];

	EXPECT_EQ(json["rate_bps"], 40e9);
	EXPECT_EQ(json["rtt_ns"], 85000);
	EXPECT_EQ(table["label"], "model");
	EXPECT_NEAR(table["rows"][1]["margin_degrees"], -3.3, 1);
	EXPECT_EQ(table["rows"][1]["oscillates"], true);
	EXPECT_EQ(table["flows_beyond_buffer"], 10);
	EXPECT_EQ(json["onramp"]["threshold_ns"], 42900);
	EXPECT_TRUE(json["host"].is_null());
}

TEST(advise, plot__is_a_file_of_svg)
{
	std::string path = testing::TempDir() + "advise.svg";
	Ended ended = advise({"--rate", "40G", "--rtt", "85us", "--flows", "2,10", "--cc", "dcqcn", "--plot", path});
	std::ostringstream text;

	text << std::ifstream(path).rdbuf();
	fs::remove(path);
	EXPECT_EQ(ended.status, 0) << ended.errors;
	EXPECT_TRUE(text.str().starts_with("<svg")) << text.str();
	EXPECT_TRUE(has(text.str(), "phase margin"));
	EXPECT_EQ(advise({"--rate", "40G", "--rtt", "85us", "--flows", "2", "--cc", "dcqcn", "--plot", "/nowhere/a.svg"}).errors,
		  "turnpike: cannot write /nowhere/a.svg\n");
}

TEST(advise, bad_input__says_what_is_missing)
{
	EXPECT_TRUE(has(advise({}).errors, "how fast is the bottleneck?"));
	EXPECT_TRUE(has(advise({"--rate", "10G"}).errors, "how long is the RTT"));
	EXPECT_TRUE(has(advise({"--rate", "10G", "--rtt", "0"}).errors, "the RTT is 1000 to"));
	EXPECT_TRUE(has(advise({"--rate", "10G", "--rtt", "20us", "--flows", "x"}).errors, "numbers of flows"));
	EXPECT_TRUE(has(advise({"--rate", "10G", "--rtt", "20us", "--buffer", "0"}).errors, "more than 0 bytes"));
	EXPECT_TRUE(has(advise({"--dev", "no-such-dev", "--rtt", "20us"}).errors, "no device 'no-such-dev'"));
	EXPECT_TRUE(has(advise({"--rate", "10G", "--peer", "host"}).errors, "host"));
	EXPECT_EQ(advise({"--cc", "cubic"}).status, 64);
	EXPECT_EQ(advise({}).status, 2);
}

}  // namespace
}  // namespace turnpike
