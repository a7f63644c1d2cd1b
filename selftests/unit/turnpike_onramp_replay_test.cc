// SPDX-License-Identifier: GPL-2.0
// turnpike replay --algo onramp: tools/turnpike/onramp_replay.cc. The rule itself is
// tested against a reference in onramp_pause_test.cc.

#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "onramp_replay.h"

namespace {

using turnpike::Error;

onramp_pause_params params(onramp_mode mode = ONRAMP_MODE_PAPER)
{
	onramp_pause_params p;

	onramp_pause_params_init(&p);
	p.mode = mode;
	return p;
}

std::string replay(const std::string &lines, const onramp_pause_params &p = params())
{
	std::istringstream in(std::string(turnpike::kOnrampInput) + "\n" + lines);
	std::ostringstream out;

	try {
		turnpike::replay_onramp_stream(p, in, out);
	} catch (const Error &error) {
		return error.what();
	}
	return out.str().substr(out.str().find('\n') + 1);
}

// The flow was paused for 10 us between the departures of the second packet and the third,
// and the delay fell by more: beta learns 1/16 of 1.
constexpr char kTrace[] = "0,tx,100,\n"
			  "1000,tx,200,\n"
			  "50000,ack,100,120000\n"
			  "60000,tx,300,0\n"
			  "130000,ack,200,130000\n"
			  "200000,ack,300,70000\n";

TEST(OnrampReplay, replay_onramp_stream__paper_by_hand)
{
	EXPECT_EQ(replay(kTrace), "50000,0.000000000,0,120000\n"
				  "130000,0.000000000,70000,210000\n"
				  "200000,0.062500000,130000,211875\n");
}

// (1/4 + beta) / 4 of the 70 and 130 us are 4.375 and 10.15625 us.
TEST(OnrampReplay, replay_onramp_stream__final_by_hand)
{
	EXPECT_EQ(replay(kTrace, params(ONRAMP_MODE_FINAL)),
		  "50000,0.000000000,0,120000\n"
		  "130000,0.000000000,70000,205625\n"
		  "200000,0.062500000,130000,209844\n");
}

// Of a path of 1 ms all of the 70 us count.
TEST(OnrampReplay, replay_onramp_stream__final_far_away)
{
	EXPECT_EQ(replay("0,tx,100,\n500000,tx,200,\n1000000,ack,100,120000\n1500000,ack,200,120000\n",
			 params(ONRAMP_MODE_FINAL)),
		  "1000000,0.000000000,0,1070000\n"
		  "1500000,0.000000000,70000,1070000\n");
}

TEST(OnrampReplay, replay_onramp_stream__strawman_ignores_its_own_pauses)
{
	EXPECT_EQ(replay(kTrace, params(ONRAMP_MODE_STRAWMAN)),
		  "50000,0.000000000,0,120000\n"
		  "130000,0.000000000,70000,210000\n"
		  "200000,0.062500000,130000,220000\n");
}

TEST(OnrampReplay, replay_onramp_stream__last_departure_counts)
{
	EXPECT_EQ(replay("0,tx,100,\n10,ack,100,80010\n30020,tx,100,\n50000,ack,100,65005\n"),
		  "10,0.000000000,0,30020\n50000,0.031250000,0,65005\n");
}

TEST(OnrampReplay, replay_onramp_stream__malformed_input_names_line_and_reason)
{
	EXPECT_EQ(replay("1,tx,5"),
		  "line 2: expected 4 columns (time_ns,kind,end_seq,owd_ns), got 3");
	EXPECT_EQ(replay("1,rx,5,7"), "line 2: kind is neither tx nor ack: 'rx'");
	EXPECT_EQ(replay("1,tx,5,\n2,ack,6,9"), "line 3: no packet with end_seq 6 was sent");
	EXPECT_EQ(replay("1,tx,5,\n2,ack,5,"), "line 3: owd_ns is not a number: ''");
	EXPECT_EQ(replay("1,tx,5,\n2,ack,5,4294967297"),
		  "line 3: owd_ns is too large: 4294967297");
	EXPECT_EQ(replay("1,tx,5,x"), "line 2: owd_ns is not a number: 'x'");
	EXPECT_EQ(replay("1.5,tx,5,"), "line 2: time_ns is not a number: '1.5'");
	EXPECT_EQ(replay("2,tx,5,\n1,tx,6,"), "line 3: time_ns goes backwards: 1");
}

TEST(OnrampReplay, apply_onramp_settings__errors_name_the_parameter)
{
	auto complain = [](const std::string &setting) -> std::string {
		onramp_pause_params p = params();

		try {
			turnpike::apply_onramp_settings(p, {setting});
		} catch (const Error &error) {
			return error.what();
		}
		return "";
	};

	EXPECT_EQ(complain("threshold_ns=30000"), "");
	EXPECT_EQ(complain("threshold_ns=0"), "threshold_ns: 0 is outside 1..1000000000");
	EXPECT_EQ(complain("gain_shift=17"), "gain_shift: 17 is outside 0..16");
	EXPECT_EQ(complain("pause_max_ns=1"),
		  "parameters: pause_max_ns is below threshold_ns");
	EXPECT_EQ(complain("beta=1"), "no parameter is named beta (--list names all)");
}

TEST(OnrampReplay, onramp_knobs_json__has_the_modules_defaults)
{
	auto list = turnpike::onramp_knobs_json();

	EXPECT_EQ(list["algorithm"], "onramp");
	EXPECT_EQ(list["parameters"].size(), 3u);
	EXPECT_EQ(list["parameters"][0]["default"], ONRAMP_THRESHOLD_NS);
}

}  // namespace
