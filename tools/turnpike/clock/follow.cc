// SPDX-License-Identifier: GPL-2.0
#include "follow.h"

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <poll.h>

#include "../monotonic.h"
#include "../shown.h"
#include "../signals.h"
#include "follower.h"
#include "own_clock.h"

namespace turnpike {
namespace {

struct Arguments {
	ClockSourceOptions source = {"auto", "/var/run/ptp4l", false};
	unsigned poll_s = 4;
	// What chrony takes a clock that nothing steers to gain or lose (its maxclockerror).
	double drift_ppm = 1;
	bool once = false;
	Shown shown;
};

// One look: what the source said, and what the kernel is told of it.
struct Look {
	std::string source;
	std::optional<ClockReading> reading;
	std::string lost;		// why there is no reading
	ClockTold told;
};

Look look(ClockSource &source, ClockFollower &follower)
{
	Look at = {source.name(), std::nullopt, "", {}};

	try {
		at.reading = source.read();
		at.told = follower.heard(*at.reading, monotonic_ns());
	} catch (const ClockUnsettled &why) {
		at.lost = why.what();
		at.told = follower.unsettled();
	} catch (const ClockLost &why) {
		at.lost = why.what();
		at.told = follower.lost(monotonic_ns());
	}
	return at;
}

Json json_of(const Look &at)
{
	Json json = {{"source", at.source}, {"reference", nullptr}, {"read_error_ns", nullptr},
		     {"error_ns", nullptr}, {"seconds", nullptr}, {"lost", nullptr}};

	if (at.reading) {
		json["reference"] = at.reading->reference;
		json["read_error_ns"] = at.reading->error_ns;
	} else {
		json["lost"] = at.lost;
	}
	if (at.told.error_ns) {
		json["error_ns"] = at.told.error_ns;
		json["seconds"] = at.told.seconds;
	}
	return json;
}

// What makes a new line of the log: not the error, which is another each time.
std::string state_of(const Look &at)
{
	if (!at.reading)
		return at.source + ": " + at.lost + (at.told.error_ns ? "; the last error counts on, and grows" :
						     "; the clock counts as not disciplined");
	if (!at.told.error_ns)
		return at.source + " follows " + at.reading->reference +
		       "; its error is more than 1 ms, or old, and the clock counts as not disciplined";
	return at.source + " follows " + at.reading->reference;
}

std::string text_of(const Look &at)
{
	return state_of(at) + (at.told.error_ns ? ": right to " + value_text("error_ns", at.told.error_ns) : "");
}

class Log {
public:
	explicit Log(bool json) : json_(json) {}

	void say(const Look &at)
	{
		std::string state = state_of(at);

		if (json_)
			std::cout << json_of(at).dump() << std::endl;
		else if (state != state_)
			std::cout << text_of(at) << std::endl;
		state_ = state;
	}

private:
	bool json_;
	std::string state_;
};

// False: a signal asked for the end.
bool wait(const Signals &signals, unsigned seconds)
{
	pollfd file = {signals.fd(), POLLIN, 0};

	return poll(&file, 1, static_cast<int>(seconds * 1000)) == 0;
}

// The kernel is not left with a word that nobody renews. The module may be gone.
void take_back()
{
	try {
		tell_own_clock(0, 0);
	} catch (const Error &) {
	}
}

void follow(const Arguments &arguments)
{
	Signals signals;
	Log log(arguments.shown.json);
	std::unique_ptr<ClockSource> source = clock_source(arguments.source);
	ClockFollower follower(arguments.poll_s, static_cast<std::int64_t>(arguments.drift_ppm * 1000));

	do {
		Look at = look(*source, follower);
		if (arguments.once && !at.told.error_ns)
			throw Error(state_of(at));
		tell_own_clock(at.told.error_ns, at.told.seconds);
		log.say(at);
	} while (!arguments.once && wait(signals, arguments.poll_s));
	if (!arguments.once)
		take_back();
}

}  // namespace

void add_clock_follow(CLI::App &clock, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = clock.add_subcommand("follow", "say how good our clock is, as long as this runs, by what keeps it");

	command->add_option("--source", arguments->source.name,
			    "chrony, ptp4l, kernel (what adjtimex says), or auto: the first of these that keeps time (default: auto)")
		->check(CLI::IsMember({"auto", "chrony", "ptp4l", "kernel"}));
	command->add_option("--every", arguments->poll_s, "seconds between two looks, 1 to 3600 (default: 4)")
		->check(CLI::Range(1u, 3600u));
	command->add_option("--drift", arguments->drift_ppm,
			    "ppm by which a clock goes wrong that nothing steers, 0 to 500 (default: 1)")
		->check(CLI::Range(0.0, 500.0));
	command->add_option("--uds", arguments->source.uds, "socket of ptp4l (default: /var/run/ptp4l)");
	command->add_flag("--nic-clock", arguments->source.nic,
			  "of ptp4l: how good the NIC's clock is, without what the system's is apart from it");
	command->add_flag("--once", arguments->once, "say it once, for four times --every, and end");
	command->add_flag("-j,--json", arguments->shown.json, "print each look, a line of JSON each");
	command->callback([arguments, &action] {
		action = [arguments] { follow(*arguments); };
	});
}

}  // namespace turnpike
