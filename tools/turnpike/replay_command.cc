// SPDX-License-Identifier: GPL-2.0
//
// turnpike replay: what the rate engine would have done with these RTTs.
#include <array>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.h"
#include "presets.h"
#include "replay.h"

namespace turnpike {
namespace {

constexpr std::array kAlgorithms = {"timely", "timely_patched"};

constexpr char kFooter[] = R"(
Input (standard input), with this header line:

  time_us,rtt_us,acked_bytes

  time_us      when the ACK arrived; never decreases; fractions allowed
  rtt_us       RTT less the serialization of the segment; fractions allowed
               (both are rounded to nanoseconds)
  acked_bytes  bytes that this ACK newly acknowledges

Output (standard output), a line per input line:

  time_us,rtt_us,event,rate_bps,gradient,branch

  event        1 if the line completed a segment and so gave the engine a
               sample, 0 if not (rate and gradient are then those of before)
  rate_bps     rate after the line
  gradient     smoothed normalized gradient
  branch       first, below_floor, low, high, increase, hai, decrease, blend;
               none where event is 0

With --events lines every line is an event (the default for the preset
verbatim); with --events segments an event takes as many bytes as the engine
makes a segment at the rate of the moment, as in the module.

Malformed input ends the replay: the line's number and the reason go to
standard error, the exit status is 1. Wrong usage: exit status 2.

Examples:
  turnpike replay --algo timely < trace.csv > out.csv
  turnpike replay --algo timely --preset verbatim --set t_low_us=30 < trace.csv
  turnpike replay --algo timely_patched --list)";

struct Arguments {
	std::string algorithm;
	std::string preset = "default";
	std::string events;
	std::vector<std::string> settings;
	u64 line_rate_bps = 10 * TIMELY_GBPS;
	u32 mss = 1448;
	bool list = false;
	bool json = false;
};

// The line rate caps what the module sends; verbatim knows only its max_rate.
ReplayOptions options_of(const Arguments &arguments,
			 const timely_params &params)
{
	bool verbatim = arguments.preset == "verbatim";

	return ReplayOptions{
		.params = params,
		.line_events = arguments.events.empty()
				       ? verbatim
				       : arguments.events == "lines",
		.line_rate_bps = arguments.line_rate_bps,
		.cap_bps = verbatim ? 0 : arguments.line_rate_bps,
		.mss = arguments.mss,
	};
}

void list(const Arguments &arguments)
{
	std::vector<std::string> algorithms = {arguments.algorithm};

	if (arguments.algorithm.empty())
		algorithms = {kAlgorithms.begin(), kAlgorithms.end()};

	auto json = nlohmann::ordered_json::array();

	for (const std::string &algorithm : algorithms) {
		const timely_preset &preset =
			find_preset(variant_of(algorithm), arguments.preset);

		if (arguments.json)
			json.push_back(knobs_json(algorithm, preset));
		else
			list_knobs(std::cout, algorithm, preset);
	}
	if (arguments.json)
		std::cout << (json.size() == 1 ? json[0] : json).dump(2) << '\n';
}

void run(const Arguments &arguments)
{
	if (arguments.list) {
		list(arguments);
		return;
	}

	timely_variant variant = variant_of(arguments.algorithm);
	timely_params params = find_preset(variant, arguments.preset).params;

	apply_settings(params, arguments.settings);
	replay_stream(options_of(arguments, params), std::cin, std::cout);
}

void add_options(CLI::App &command, Arguments &arguments)
{
	command.add_option("--algo", arguments.algorithm,
			   "timely or timely_patched; --list without it shows "
			   "both")
		->check(CLI::IsMember({"timely", "timely_patched"}));
	command.add_option("--preset", arguments.preset,
			   "set of parameters to begin with (default: default, "
			   "what the module ships; verbatim: the papers' "
			   "pseudo-code word for word; --list names all)");
	command.add_option("--set", arguments.settings,
			   "change a parameter: NAME=VALUE; may be repeated");
	command.add_option("--events", arguments.events,
			   "what an event is: lines or segments")
		->check(CLI::IsMember({"lines", "segments"}));
	command.add_option("--line-rate", arguments.line_rate_bps,
			   "line rate in bit/s: the first rate where "
			   "init_rate_bps is 0, and, but for verbatim, a cap "
			   "(default: 10000000000)")
		->check(CLI::Range(static_cast<u64>(8000),
				   static_cast<u64>(1600 * TIMELY_GBPS)));
	command.add_option("--mss", arguments.mss,
			   "payload of a frame in bytes (default: 1448)")
		->check(CLI::Range(88u, 65000u));
	command.add_flag("--list", arguments.list,
			 "name every parameter with unit, default, range and "
			 "meaning, and every preset; read nothing");
	command.add_flag("-j,--json", arguments.json, "--list in JSON");
}

}  // namespace

void add_replay_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand(
		"replay", "Feed a trace of RTTs to the TIMELY rate engine and "
			  "print the rates");

	add_options(*command, *arguments);
	command->footer(kFooter);
	command->callback([arguments, &action] {
		if (arguments->algorithm.empty() && !arguments->list)
			throw CLI::RequiredError("--algo");
		action = [arguments] { run(*arguments); };
	});
}

}  // namespace turnpike
