// SPDX-License-Identifier: GPL-2.0
//
// turnpike advise: queue, delay and stability of a path, by the papers' fluid models and the laws' own code.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "../command.h"
#include "../onramp.h"
#include "advice_shown.h"
#include "asked_path.h"
#include "models.h"
#include "simulated.h"

namespace turnpike {
namespace {

const std::vector<std::string> kShipped = {"timely", "timely_patched", "timely_pi"};

constexpr char kFooter[] = R"(
Tables that say "model" are of the papers' laws, as fluids; those that say "simulated"
are of the laws that this tree ships, as packets. Neither is of your network: measure
with turnpike check.

Examples:
  turnpike advise --rate 25G --rtt 30us --flows 4..200
  turnpike advise --rate 40G --rtt 85us --flows 2,10,64 --cc dcqcn --plot margins.svg
  turnpike advise --dev eth0 --peer 10.0.0.7 --buffer 4M)";

struct Arguments {
	std::string rate, rtt, flows, device, peer, buffer, clock_error = "200ns", plot;
	std::vector<std::string> laws = {"timely"};
	unsigned ports = 1;
	double alpha = 1;
	Shown shown;
};

bool is_shipped(const std::string &law)
{
	return std::find(kShipped.begin(), kShipped.end(), law) != kShipped.end();
}

std::vector<std::string> all_laws()
{
	std::vector<std::string> laws = kShipped, models = model_names();

	laws.insert(laws.end(), models.begin(), models.end());
	return laws;
}

double time_s(const std::string &text, const char *what, std::int64_t least_ns, std::int64_t most_ns)
{
	std::int64_t ns = onramp_time_ns(text);

	if (ns < least_ns || ns > most_ns)
		throw Error(std::string(what) + " is " + std::to_string(least_ns) + " to " + std::to_string(most_ns) + " ns");
	return ns * 1e-9;
}

double rate_of(const Arguments &arguments)
{
	if (!arguments.rate.empty())
		return asked_rate_bps(arguments.rate);
	if (arguments.device.empty())
		throw Error("how fast is the bottleneck? --rate 25G, or --dev eth0");
	if (auto rate = device_rate_bps(arguments.device))
		return *rate;
	throw Error("'" + arguments.device + "' does not say how fast it is: --rate 25G");
}

double rtt_of(const Arguments &arguments, const SeenPath &seen)
{
	if (!arguments.rtt.empty())
		return time_s(arguments.rtt, "the RTT", 1000, 100000000);
	if (arguments.peer.empty())
		throw Error("how long is the RTT without a queue? --rtt 30us, or --peer ADDRESS");
	if (!seen.rtt_s)
		throw Error("no connection to " + arguments.peer + " knows its RTT: --rtt 30us");
	return std::clamp(*seen.rtt_s, 1e-6, 0.1);
}

// Those asked for; else up to twice what this host has now, or usual ones.
std::vector<unsigned> flows_of(const Arguments &arguments, const SeenPath &seen)
{
	if (!arguments.flows.empty())
		return asked_flows(arguments.flows);
	if (seen.flows)
		return asked_flows(std::to_string(std::min(seen.flows, 500U)) + ".." + std::to_string(std::min(2 * seen.flows, 1000U)));
	return asked_flows("2..64");
}

void look_at_host(const Arguments &arguments, const SeenPath &seen, Advice &advice)
{
	auto add = [&](std::vector<SettingDiffers> more) {
		advice.differ.insert(advice.differ.end(), more.begin(), more.end());
	};

	for (const std::string &law : arguments.laws)
		if (is_shipped(law))
			add(sysctls_that_differ(law));
	for (const std::string &congctl : seen.congctls)
		if (std::find(arguments.laws.begin(), arguments.laws.end(), congctl) == arguments.laws.end())
			add({{"congestion control of connections to " + arguments.peer, congctl, arguments.laws.front()}});
	if (!arguments.device.empty())
		add(threshold_that_differs(arguments.device,
					   onramp_threshold(advice.path.rtt_s, advice.clock_error_s).queue_s));
}

Advice advise(const Arguments &arguments)
{
	Advice advice = {.ports = arguments.ports, .alpha = arguments.alpha, .device = arguments.device,
			 .peer = arguments.peer};
	SeenPath seen;

	if (!arguments.peer.empty())
		seen = seen_path(tcp_sockets(), arguments.peer);
	advice.path.rate_bps = rate_of(arguments);
	advice.path.rtt_s = rtt_of(arguments, seen);
	advice.clock_error_s = time_s(arguments.clock_error, "the clocks' error", 0, 1000000);
	if (!arguments.buffer.empty() && !(advice.path.buffer = tlt_bytes(arguments.buffer)).value())
		throw Error("a switch has a buffer of more than 0 bytes");
	std::vector<unsigned> flows = flows_of(arguments, seen);
	for (const std::string &law : arguments.laws)
		advice.tables.push_back(is_shipped(law) ? simulated_table(law, advice.path, flows)
							: model_table(law, advice.path, flows));
	if (!arguments.device.empty() || !arguments.peer.empty())
		look_at_host(arguments, seen, advice);
	return advice;
}

void run(const Arguments &arguments)
{
	Advice advice = advise(arguments);
	Json json = advice_json(advice);

	if (!arguments.plot.empty()) {
		std::ofstream file(arguments.plot);

		if (!(file << advice_plot(advice) << std::flush))
			throw Error("cannot write " + arguments.plot);
	}
	std::cout << (arguments.shown.json ? json.dump(2) + "\n" : advice_text(json));
}

void add_options(CLI::App &command, Arguments &a)
{
	command.add_option("--rate", a.rate, "of the bottleneck: 25G, 100M; default: the device's");
	command.add_option("--rtt", a.rtt, "without a queue: 30us; default: the least of connections to the peer");
	command.add_option("--flows", a.flows, "4..200 (five numbers), or a list: 2,10,40; default: 2..64, or by "
			   "connections to the peer");
	command.add_option("--cc", a.laws, "laws, several with commas (default: timely)")
		->delimiter(',')->check(CLI::IsMember(all_laws()));
	command.add_option("--dev", a.device, "this host's device: its rate, and settings that differ");
	command.add_option("--peer", a.peer, "address of a peer that this host has connections to");
	command.add_option("--buffer", a.buffer, "of the switch, bytes: 4M");
	command.add_option("--ports", a.ports, "congested at once (default: 1)")->check(CLI::Range(1u, 4096u));
	command.add_option("--alpha", a.alpha, "of the switch's dynamic thresholds (default: 1)")
		->check(CLI::Range(0.001, 1000.0));
	command.add_option("--clock-error", a.clock_error, "standard deviation of clocks (default: 200ns)");
	command.add_option("--plot", a.plot, "write an SVG file of queue and margin against flows");
}

}  // namespace

void add_advise_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand("advise", "queue, delay and stability of a path, before it is built");

	add_options(*command, *arguments);
	arguments->shown.add_json(*command);
	command->footer(kFooter);
	command->callback([arguments, &action] { action = [arguments] { run(*arguments); }; });
}

}  // namespace turnpike
