// SPDX-License-Identifier: GPL-2.0
//
// turnpike clock: what sch_onramp knows of clocks, said by hand; `follow' says it for a daemon that keeps time.
#include <cmath>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <libmnl/libmnl.h>
#include <nlohmann/json.hpp>

#include "../clockd/clockd_shown.h"
#include "../command.h"
#include "../monotonic.h"
#include "../onramp.h"
#include "../onramp_family.h"
#include "../shown.h"
#include "../subcommand.h"
#include "follow.h"
#include "own_clock.h"

namespace turnpike {
namespace {

struct Arguments {
	std::string peer, offset, error;
	std::string state = kClockdState;
	unsigned seconds = 0;		// 0: not given
	std::int32_t drift_ppb = 0;
	Shown shown;
};

// A daemon that tells offsets does so every few seconds; one that is gone is not believed on.
constexpr unsigned kOffsetSeconds = 60;

// The kernel knows the bounds; it has 32 bits for it.
std::uint32_t clock_error_ns(const std::string &text)
{
	std::int64_t ns = onramp_time_ns(text);

	if (ns < 0 || ns > UINT32_MAX)
		throw Error("the error is 1 to 1000000 ns");
	return ns;
}

void clock_set(const Arguments &arguments)
{
	OnrampAddress peer = onramp_address(arguments.peer);
	std::int64_t offset = onramp_time_ns(arguments.offset);
	std::uint32_t error = clock_error_ns(arguments.error);

	onramp_family().call(ONRAMP_CMD_CLOCK_SET, [&](nlmsghdr *message) {
		mnl_attr_put(message, ONRAMP_A_CLOCK_PEER, peer.size(), peer.data());
		mnl_attr_put_u64(message, ONRAMP_A_CLOCK_OFFSET, offset);
		// A module from before it refuses the attribute.
		if (arguments.drift_ppb)
			mnl_attr_put_u32(message, ONRAMP_A_CLOCK_DRIFT,
					 static_cast<std::uint32_t>(arguments.drift_ppb * 1000));
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_ERROR, error);
		mnl_attr_put_u32(message, ONRAMP_A_CLOCK_SECONDS,
				 arguments.seconds ? arguments.seconds : kOffsetSeconds);
	}, nullptr);
}

void clock_clear(const Arguments &arguments)
{
	OnrampAddress peer = onramp_address(arguments.peer);

	onramp_family().call(ONRAMP_CMD_CLOCK_CLEAR, [&](nlmsghdr *message) {
		mnl_attr_put(message, ONRAMP_A_CLOCK_PEER, peer.size(), peer.data());
	}, nullptr);
}

void clock_disciplined(const Arguments &arguments)
{
	std::uint32_t error = clock_error_ns(arguments.error);

	// The kernel takes 0 for a clock that is not disciplined.
	if (!error)
		throw Error("the error is 1 to 1000000 ns");
	tell_own_clock(error, arguments.seconds);
}

Json clock_json(const Attributes &a, const Json &grades)
{
	std::string peer = address_text(a, ONRAMP_A_CLOCK_PEER);
	auto drift = a.find(ONRAMP_A_CLOCK_DRIFT);
	auto drift_ppt = drift == a.end() ? 0 : static_cast<std::int32_t>(attribute_u32(drift->second));

	return {
		{"peer", peer},
		{"offset_ns", static_cast<std::int64_t>(attribute_u64(a.at(ONRAMP_A_CLOCK_OFFSET)))},
		{"error_ns", attribute_u32(a.at(ONRAMP_A_CLOCK_ERROR))},
		{"drift_ppb", std::lround(drift_ppt / 1e3)},
		{"seconds_left", attribute_u32(a.at(ONRAMP_A_CLOCK_SECONDS))},
		{"grade", grades.contains(peer) ? grades[peer] : Json()},
	};
}

// Of hosts that On-Ramp sends to or hears from, by their addresses.
Json grades_json()
{
	Json grades = Json::object();

	onramp_family().call(ONRAMP_CMD_PEERS, nullptr, [&](const Attributes &a) {
		if (!a.count(ONRAMP_A_PEER))
			return;
		Attributes peer = parse_nest(a.at(ONRAMP_A_PEER));
		grades[address_text(peer, ONRAMP_PEER_REMOTE)] =
			onramp_grade_text(attribute_u8(peer.at(ONRAMP_PEER_GRADE)));
	}, true);
	return grades;
}

Json clocks_json()
{
	Json json = {{"own_error_ns", nullptr}, {"peers", Json::array()}}, grades = grades_json();

	onramp_family().call(ONRAMP_CMD_GET, nullptr, [&](const Attributes &a) {
		if (std::uint32_t error = attribute_u32(a.at(ONRAMP_A_CLOCK_ERROR)))
			json["own_error_ns"] = error;
	});
	onramp_family().call(ONRAMP_CMD_CLOCKS, nullptr, [&](const Attributes &a) {
		if (a.count(ONRAMP_A_CLOCK_PEER))
			json["peers"].push_back(clock_json(a, grades));
	}, true);
	return json;
}

std::string clocks_text(const Json &json)
{
	std::string own = json["own_error_ns"].is_null() ? "not disciplined" :
			  "right to " + value_text("error_ns", json["own_error_ns"]);

	return "own clock: " + own + "\n" + clockd_text(json["clockd"]) +
	       list_text(clock_rows(json), {
			word_column("peer", "peer"), value_column("offset", "offset_ns"),
			value_column("error", "error_ns"), value_column("drift", "drift_ppb"),
			word_column("grade", "grade"), word_column("source", "source"),
			value_column("surplus", "surplus_ns"), value_column("round_trip", "round_trip_ns"),
			value_column("seconds_left", "seconds_left"), word_column("trouble", "trouble"),
	       }, true);
}

void clock_show(const Arguments &arguments)
{
	Json json = clocks_json();

	json["clockd"] = read_clockd_state(arguments.state, monotonic_ns());
	std::cout << (arguments.shown.json ? json.dump(2) + "\n" : clocks_text(json));
}

// -- command line

void add_seconds(CLI::App &command, const std::shared_ptr<Arguments> &arguments, const char *what)
{
	command.add_option("--for", arguments->seconds, what)->check(CLI::Range(1u, 86400u));
}

CLI::App *add_peer(CLI::App &parent, const char *name, const char *what,
		   const std::shared_ptr<Arguments> &arguments, Action &action, const Run<Arguments> &run)
{
	CLI::App *command = add_change(parent, name, what, arguments, action, run, clocks_json);

	command->add_option("PEER", arguments->peer, "address of the peer")->required();
	return command;
}

}  // namespace

void add_clock_command(CLI::App &parent, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *clock = parent.add_subcommand("clock", "what is known of clocks, for the qdisc onramp");

	clock->require_subcommand(1);
	CLI::App *set = add_peer(*clock, "set", "how far a peer's clock and ours are apart",
				 arguments, action, clock_set);
	set->add_option("OFFSET", arguments->offset, "its clock less ours")->required();
	set->add_option("ERROR", arguments->error, "bound of the error of that")->required();
	set->add_option("--faster", arguments->drift_ppb, "how much faster its clock runs than ours, in 10^-9 (default: 0)")
		->check(CLI::Range(-1000000, 1000000));
	add_seconds(*set, arguments, "seconds for which it counts (default: 60)");
	add_peer(*clock, "clear", "forget that", arguments, action, clock_clear);
	CLI::App *own = add_change(*clock, "disciplined", "our clock is synchronized", arguments, action,
				   clock_disciplined, clocks_json);
	own->add_option("ERROR", arguments->error, "bound of its error")->required();
	add_seconds(*own, arguments, "seconds for which it counts (default: until it is taken back)");
	add_change(*clock, "undisciplined", "take that back", arguments, action,
		   [](const Arguments &) { tell_own_clock(0, 0); }, clocks_json);
	CLI::App *show = add_shown(*clock, "show", "print both, and what clockd says", More::none, arguments, action,
				   clock_show);
	show->add_option("--state", arguments->state, "file of clockd (default: /run/turnpike-clockd/state.json)");
	add_clock_follow(*clock, action);
}

}  // namespace turnpike
