// SPDX-License-Identifier: GPL-2.0
//
// turnpike replay: what the rate engine would have done with these RTTs, and what
// the pausing rule with these delays.
#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.h"
#include "onramp_replay.h"
#include "presets.h"
#include "record/recording_replay.h"
#include "replay.h"

namespace turnpike {
namespace {

constexpr std::array kRateAlgorithms = {"timely", "timely_patched", "timely_pi"};
constexpr char kOnramp[] = "onramp";

constexpr char kFooter[] = R"(
timely, timely_patched and timely_pi: input (standard input), with this header line:

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
  branch       first, below_floor, merged, low, high, increase, hai, decrease,
               blend, drain; none where event is 0

With --events lines every line is an event (the default for the preset
verbatim); with --events segments an event takes as many bytes as the engine
makes a segment at the rate of the moment, as in the module.

onramp: one flow's packets; input, with this header line:

  time_ns,kind,end_seq,owd_ns

  time_ns  when; never decreases
  kind     tx: a packet left; ack: feedback for one arrived
  end_seq  the packet's last sequence number; of one sent again, the last
           departure counts
  owd_ns   its delay, one-way or of queues alone; empty in a tx line

Output, a line per ack:

  time_ns,beta,pause_last_rtt_ns,t_next_ns

  beta               the learned share of its own pauses that the flow sees
                     in the delay
  pause_last_rtt_ns  how long it was paused since the packet left
  t_next_ns          it may send from here on; 0 before the first pause

Malformed input ends the replay: the line's number and the reason go to
standard error, the exit status is 2. Wrong usage: exit status 64.

Examples:
  turnpike replay --algo timely < trace.csv > out.csv
  turnpike replay --algo timely --preset verbatim --set t_low_us=30 < trace.csv
  turnpike replay --algo timely_patched --list
  turnpike replay --algo timely_pi --set pi_droop_milli=0 < trace.csv
  turnpike replay --algo timely --recording db17.rec --set t_high_us=200
  turnpike replay --algo onramp --mode strawman --set threshold_ns=30000 < trace.csv)";

// The names that tc has.
const std::map<std::string, onramp_mode> kModes = {
	{"final", ONRAMP_MODE_FINAL},
	{"paper", ONRAMP_MODE_PAPER},
	{"strawman", ONRAMP_MODE_STRAWMAN},
};

struct Arguments {
	std::string algorithm;
	std::string preset = "default";
	std::string events;
	std::string mode = "paper";
	std::string recording;
	std::string flow;
	std::vector<std::string> settings;
	u64 line_rate_bps = 10 * TIMELY_GBPS;
	u32 mss = 1448;
	bool list = false;
	bool json = false;
};

// What is read: a flow of the recording, or standard input.
std::unique_ptr<std::istream> open_input(const Arguments &arguments)
{
	ReplayKind kind = arguments.algorithm == kOnramp ? ReplayKind::onramp : ReplayKind::timely;

	if (arguments.recording.empty())
		return std::make_unique<std::istream>(std::cin.rdbuf());
	return std::make_unique<std::istringstream>(
		recorded_trace(kind, arguments.recording, arguments.flow).csv);
}

// An event of a recording is one of the module's: a segment is complete.
bool takes_lines(const Arguments &arguments)
{
	if (!arguments.events.empty())
		return arguments.events == "lines";
	return arguments.preset == "verbatim" || !arguments.recording.empty();
}

// The line rate caps what the module sends; verbatim knows only its max_rate.
ReplayOptions options_of(const Arguments &arguments,
			 const timely_params &params)
{
	bool verbatim = arguments.preset == "verbatim";

	return ReplayOptions{
		.params = params,
		.line_events = takes_lines(arguments),
		.line_rate_bps = arguments.line_rate_bps,
		.cap_bps = verbatim ? 0 : arguments.line_rate_bps,
		.mss = arguments.mss,
	};
}

void list(const Arguments &arguments)
{
	bool all = arguments.algorithm.empty();
	auto json = nlohmann::ordered_json::array();

	for (const std::string algorithm : kRateAlgorithms) {
		if (!all && algorithm != arguments.algorithm)
			continue;

		const timely_preset &preset =
			find_preset(variant_of(algorithm), arguments.preset);

		if (arguments.json)
			json.push_back(knobs_json(algorithm, preset));
		else
			list_knobs(std::cout, algorithm, preset);
	}
	if (all || arguments.algorithm == kOnramp) {
		if (arguments.json)
			json.push_back(onramp_knobs_json());
		else
			list_onramp_knobs(std::cout);
	}
	if (arguments.json)
		std::cout << (json.size() == 1 ? json[0] : json).dump(2) << '\n';
}

void run_onramp(const Arguments &arguments)
{
	onramp_pause_params params;

	onramp_pause_params_init(&params);
	params.mode = kModes.at(arguments.mode);
	apply_onramp_settings(params, arguments.settings);
	replay_onramp_stream(params, *open_input(arguments), std::cout);
}

void run(const Arguments &arguments)
{
	if (arguments.list) {
		list(arguments);
		return;
	}
	if (arguments.algorithm == kOnramp) {
		run_onramp(arguments);
		return;
	}

	timely_variant variant = variant_of(arguments.algorithm);
	timely_params params = find_preset(variant, arguments.preset).params;

	apply_settings(params, arguments.settings);
	replay_stream(options_of(arguments, params), *open_input(arguments), std::cout);
}

void add_recording_options(CLI::App &command, Arguments &arguments)
{
	command.add_option("--recording", arguments.recording,
			   "read a flow of what turnpike record wrote, and not "
			   "standard input");
	command.add_option("--flow", arguments.flow,
			   "of the recording: its name or a part of it, as "
			   "10.1.0.1:5001>10.1.0.2:80; default: the one with most events");
}

void add_options(CLI::App &command, Arguments &arguments)
{
	command.add_option("--algo", arguments.algorithm,
			   "timely, timely_patched, timely_pi or onramp; --list without it "
			   "shows all")
		->check(CLI::IsMember({"timely", "timely_patched", "timely_pi", kOnramp}));
	command.add_option("--mode", arguments.mode,
			   "of onramp, as tc has it: paper (default: eq. 3 and 4 of "
			   "the paper), final (what the qdisc does by default: "
			   "beta counts for a quarter) or strawman (eq. 2)")
		->check(CLI::IsMember(kModes));
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
	add_recording_options(command, arguments);
	command.add_flag("--list", arguments.list,
			 "name every parameter with unit, default, range and "
			 "meaning, and every preset; read nothing");
	command.add_flag("-j,--json", arguments.json, "--list in JSON");
}

// Options of the other kind of replay would do nothing.
void check_options(const CLI::App &command, const std::string &algorithm)
{
	static constexpr std::array kOfRates = {"--preset", "--events",
						"--line-rate", "--mss"};

	if (command.count("--flow") && !command.count("--recording"))
		throw CLI::ValidationError("--flow", "is for --recording");
	if (algorithm.empty())
		return;
	if (algorithm != kOnramp && command.count("--mode"))
		throw CLI::ValidationError("--mode", "is for --algo onramp");
	for (const char *option : kOfRates)
		if (algorithm == kOnramp && command.count(option))
			throw CLI::ValidationError(option,
						   "is not for --algo onramp");
}

}  // namespace

void add_replay_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand(
		"replay", "Feed a trace of RTTs to the TIMELY rate engine, or of "
			  "delays to On-Ramp, and print what it does");

	add_options(*command, *arguments);
	command->footer(kFooter);
	command->callback([command, arguments, &action] {
		if (arguments->algorithm.empty() && !arguments->list)
			throw CLI::RequiredError("--algo");
		check_options(*command, arguments->algorithm);
		action = [arguments] { run(*arguments); };
	});
}

}  // namespace turnpike
