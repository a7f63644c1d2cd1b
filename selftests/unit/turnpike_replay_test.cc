// SPDX-License-Identifier: GPL-2.0
// turnpike replay: tools/turnpike/replay.cc, presets.cc, and the command itself.

#include <cstdio>
#include <sstream>
#include <string>
#include <sys/wait.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "modules.h"
#include "presets.h"
#include "replay.h"

namespace {

using turnpike::Error;
using turnpike::ReplayLine;
using turnpike::ReplayOptions;

ReplayOptions options(const std::string &name, bool line_events)
{
	return ReplayOptions{
		.params = turnpike::find_preset(TIMELY_VARIANT_TIMELY, name).params,
		.line_events = line_events,
		.line_rate_bps = 1000000000,
		.cap_bps = 0,
		.mss = 1448,
	};
}

std::string replay(const std::string &trace,
		   const ReplayOptions &o = options("verbatim", true))
{
	std::istringstream in(std::string(turnpike::kReplayInput) + "\n" + trace);
	std::ostringstream out;

	turnpike::replay_stream(o, in, out);
	return out.str().substr(out.str().find('\n') + 1);
}

// The error's text; empty when there was none.
std::string complaint(const std::string &input)
{
	std::istringstream in(input);
	std::ostringstream out;

	try {
		turnpike::replay_stream(options("verbatim", true), in, out);
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

std::string complaint_in_line(const std::string &line)
{
	return complaint(std::string(turnpike::kReplayInput) + "\n" + line + "\n");
}

struct Ended {
	int status;
	std::string output;
};

// Standard output and error of the built command.
Ended command(const std::string &arguments, const std::string &input = "")
{
	std::string line = "printf '" + input + "' | " TURNPIKE_COMMAND " " +
			   arguments + " 2>&1";
	FILE *pipe = popen(line.c_str(), "r");
	Ended ended{0, ""};
	char buffer[4096];

	while (std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe))
		ended.output.append(buffer, got);
	ended.status = WEXITSTATUS(pclose(pipe));
	return ended;
}

TEST(Replay, parse_replay_line__fractions_to_nanoseconds)
{
	ReplayLine line = turnpike::parse_replay_line("1000.25, 50.0005 ,16384\r");

	EXPECT_EQ(line.time_ns, 1000250u);
	EXPECT_EQ(line.rtt_ns, 50001u);
	EXPECT_EQ(line.acked_bytes, 16384u);
	EXPECT_EQ(turnpike::parse_replay_line("0,10000000,0").rtt_ns,
		  10000000000u);
}

TEST(Replay, replay_stream__verbatim_by_hand)
{
	EXPECT_EQ(replay("0,40,16384\n"
			 "100.5,52.25,16384\n"
			 "200,45,0\n"
			 "300,1000,1\n"),
		  "0,40,1,1000000000,0.000000000,first\n"
		  "100.5,52.25,1,571250000,0.535937500,decrease\n"
		  "200,45,1,581250000,-0.250195312,low\n"
		  "300,1000,1,348750001,41.749975586,high\n");
}

TEST(Replay, replay_stream__segments_gather_bytes)
{
	ReplayOptions o = options("default", false);

	o.params.burst_us = 0;
	EXPECT_EQ(replay("0,30,14480\n1,30,7240\n2,30,7239\n3,30,1\n", o)
			  .find("0,30,1,"),
		  0u);

	std::string out = replay("0,30,14480\n1,30,7240\n2,30,7239\n3,30,1\n", o);

	EXPECT_NE(out.find("\n1,30,0,1000000000,0.000000000,none\n"),
		  std::string::npos);
	EXPECT_NE(out.find("\n2,30,0,"), std::string::npos);
	EXPECT_NE(out.find("\n3,30,1,"), std::string::npos);
}

TEST(Replay, replay_stream__no_newline_at_the_end)
{
	EXPECT_EQ(replay("0,40,1"), replay("0,40,1\n"));
	EXPECT_EQ(replay(""), "");
}

TEST(Replay, replay_stream__malformed_input_names_line_and_reason)
{
	EXPECT_EQ(complaint(""), "line 1: the input is empty, expected the "
				 "header time_us,rtt_us,acked_bytes");
	EXPECT_NE(complaint("0,1,2\n").find("line 1: expected the header"),
		  std::string::npos);
	EXPECT_EQ(complaint_in_line("1,2"),
		  "line 2: expected 3 columns (time_us,rtt_us,acked_bytes), got 2");
	EXPECT_EQ(complaint_in_line("1,2,3,4"),
		  "line 2: expected 3 columns (time_us,rtt_us,acked_bytes), got 4");
	EXPECT_EQ(complaint_in_line("x,2,3"),
		  "line 2: time_us is not a number: 'x'");
	EXPECT_EQ(complaint_in_line("1,-2,3"),
		  "line 2: rtt_us is not a number: '-2'");
	EXPECT_EQ(complaint_in_line("1,0,3"), "line 2: rtt_us is zero");
	EXPECT_EQ(complaint_in_line("1,10000001,3"),
		  "line 2: rtt_us is too large: 10000001");
	EXPECT_EQ(complaint_in_line("1,20,3.5"),
		  "line 2: acked_bytes is not a number: '3.5'");
	EXPECT_EQ(complaint_in_line("1,20,4294967296"),
		  "line 2: acked_bytes is too large: 4294967296");
	EXPECT_EQ(complaint_in_line("1,20,\n"),
		  "line 2: acked_bytes is not a number: ''");
	EXPECT_EQ(complaint_in_line("5,20,1\n4.9,20,1"),
		  "line 3: time_us goes backwards: 4.9");
	for (const char *bad : {"1.,2,3", "1,1e3,3", "1,nan,3", "1,2.x,3",
				"1, 2 3,3", "+1,2,3", ",,"})
		EXPECT_NE(complaint_in_line(bad), "") << bad;
	EXPECT_NE(complaint_in_line(""), "");
}

TEST(Replay, replay_stream__bad_header_writes_nothing)
{
	std::istringstream in("time,rtt\n");
	std::ostringstream out;

	EXPECT_THROW(turnpike::replay_stream(options("verbatim", true), in, out), Error);
	EXPECT_EQ(out.str(), "");
}

TEST(Presets, apply_settings__errors_name_the_parameter)
{
	auto complain = [](const std::string &setting) -> std::string {
		timely_params p =
			turnpike::find_preset(TIMELY_VARIANT_TIMELY, "default").params;

		try {
			turnpike::apply_settings(p, {setting});
		} catch (const Error &error) {
			return error.what();
		}
		return "";
	};

	EXPECT_EQ(complain("t_low_us=30"), "");
	EXPECT_NE(complain("t_lo_us=30").find("no parameter is named t_lo_us"),
		  std::string::npos);
	EXPECT_EQ(complain("t_low_us=3x"), "t_low_us: not a whole number: 3x");
	EXPECT_EQ(complain("t_low_us="), "t_low_us: not a whole number: ");
	EXPECT_EQ(complain("alpha_milli=1001"),
		  "alpha_milli: 1001 is outside 1..1000");
	EXPECT_EQ(complain("t_low_us=500"),
		  "parameters: t_low_us is above t_high_us");
	EXPECT_EQ(complain("t_low_us"), "--set wants NAME=VALUE, not t_low_us");
}

TEST(Presets, list_knobs__names_every_parameter)
{
	Ended text = command("replay --algo timely --list");
	Ended json = command("replay --algo timely_patched --list -j");
	auto list = nlohmann::json::parse(json.output);

	EXPECT_EQ(text.status, 0);
	EXPECT_EQ(list["parameters"].size(), TIMELY_KNOB_COUNT + TIMELY_CONSTANT_COUNT);
	for (const timely_knob &knob : timely_knobs)
		EXPECT_NE(text.output.find(std::string("\n") + knob.name + " "),
			  std::string::npos)
			<< knob.name;
	EXPECT_EQ(list["parameters"][0]["name"], "init_rate_bps");
}

TEST(Presets, list_knobs__settings_of_timely_pi_are_its_own)
{
	auto list = nlohmann::json::parse(command("replay --algo timely_pi --list -j").output);

	EXPECT_EQ(list["parameters"].size(),
		  TIMELY_KNOB_COUNT + TIMELY_PI_KNOB_COUNT + TIMELY_CONSTANT_COUNT);
	EXPECT_EQ(list["parameters"][TIMELY_KNOB_COUNT]["name"], "pi_k1_milli");
	EXPECT_EQ(command("replay --algo timely_pi --set pi_droop_milli=0",
			  "time_us,rtt_us,acked_bytes\n1,40,1\n").status, 0);
	EXPECT_EQ(command("replay --algo timely --set pi_droop_milli=0",
			  "time_us,rtt_us,acked_bytes\n1,40,1\n").status, 2);
}

TEST(Presets, list_knobs__all_algorithms_when_none_is_named)
{
	auto list = nlohmann::json::parse(command("replay --list -j").output);

	ASSERT_EQ(list.size(), 4u);
	EXPECT_EQ(list[0]["algorithm"], "timely");
	EXPECT_EQ(list[1]["algorithm"], "timely_patched");
	EXPECT_EQ(list[2]["algorithm"], "timely_pi");
	EXPECT_EQ(list[3]["algorithm"], "onramp");
	EXPECT_EQ(command("replay --list").status, 0);
}

TEST(Command, replay__status_tells_input_from_usage)
{
	Ended good = command("replay --algo timely --preset verbatim "
			     "--set init_rate_bps=1000000000",
			     "time_us,rtt_us,acked_bytes\\n1,40,1\\n2,40,1\\n");

	EXPECT_EQ(good.status, 0);
	EXPECT_EQ(good.output, "time_us,rtt_us,event,rate_bps,gradient,branch\n"
			       "1,40,1,1000000000,0.000000000,first\n"
			       "2,40,1,1010000000,0.000000000,low\n");

	Ended bad = command("replay --algo timely",
			    "time_us,rtt_us,acked_bytes\\n1,40,1\\n2,oops,1\\n");

	EXPECT_EQ(bad.status, 2);
	EXPECT_NE(bad.output.find("line 3: rtt_us is not a number: 'oops'"),
		  std::string::npos);
	EXPECT_EQ(command("replay --algo timely --preset nonsense").status, 2);
	EXPECT_EQ(command("replay --algo nonsense").status, 64);
	EXPECT_EQ(command("replay").status, 64);
	EXPECT_EQ(command("replay --algo onramp --preset verbatim").status, 64);
	EXPECT_EQ(command("replay --algo timely --mode final").status, 64);
	EXPECT_EQ(command("").status, 0);
}

TEST(Command, help__and_version)
{
	EXPECT_EQ(command("--version").output,
		  std::string("turnpike ") + turnpike::kVersion + "\n");
	EXPECT_EQ(command("replay --help").status, 0);
	for (const char *word : {"--algo", "--preset", "--set", "--list",
				 "--events", "--line-rate", "acked_bytes",
				 "gradient"})
		EXPECT_NE(command("replay --help").output.find(word),
			  std::string::npos)
			<< word;
}

}  // namespace
