// SPDX-License-Identifier: GPL-2.0
//
// turnpike clockd: how far the clocks of peers are from ours, by probes between them (ONRAMP21 section 3.3), said to
// On-Ramp.
#include <cmath>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <random>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <poll.h>

#include "../command.h"
#include "../monotonic.h"
#include "../shown.h"
#include "../signals.h"
#include "clockd.h"
#include "clockd_shown.h"
#include "clockd_state.h"
#include "hosts_file.h"

namespace turnpike {
namespace {

struct Arguments {
	std::string hosts = kClockdHosts;
	std::string key = "/etc/turnpike/clockd.key";
	std::string device;		// whose clock stamps; empty: the kernel stamps
	std::string coordinator;	// its address; empty: there is none
	std::string state = kClockdState;
	std::uint16_t port = 61005;
	unsigned peers = 10;
	unsigned window_s = 4;
	unsigned rate = 25;		// pairs a second, to each peer
	bool nic = false;
	bool once = false;
	Shown shown;
};

constexpr std::int64_t kSecondNs = 1000000000;
constexpr std::int64_t kLookNs = kSecondNs / 4;

// -- what is printed

std::string state_of(const PeerSeen &seen)
{
	if (!seen.trouble.empty())
		return seen.trouble + (seen.told ? "; what was said last counts on" : "; On-Ramp goes on in grade (c)");
	if (!seen.told)
		return "known, and not told to On-Ramp, which goes on in grade (c)";
	return "told to On-Ramp";
}

// A line when it is another: not each offset, which is another each time.
class Log {
public:
	explicit Log(bool json) : json_(json) {}

	void say(const Clockd &clockd, const std::vector<PeerSeen> &peers)
	{
		if (json_) {
			std::cout << clockd_json(clockd, peers).dump() << std::endl;
			return;
		}
		say("the kernel", clockd.refusal(), "");
		if (std::optional<LinkSeen> link = clockd.link())
			say(*link);
		for (const PeerSeen &seen : peers)
			say(onramp_address_text(seen.peer.data()), state_of(seen), offset_text(seen));
	}

	// of a state file that cannot be written
	void say_of_file(const std::string &trouble)
	{
		if (!json_)
			say("the state", trouble, "");
	}

private:
	void say(const LinkSeen &link)
	{
		std::string who = "the coordinator " + onramp_address_text(link.coordinator.data());
		const MeshSummary &summary = link.summary;

		if (link.trouble.empty())
			say(who, link.own ? "is this host" : "answers",
			    ": " + std::to_string(summary.known) + " hosts of " + std::to_string(summary.reporting) +
			    " that report");
		else
			say(who, link.trouble + "; pairs' own estimates count", "");
		if (link.own)
			say("the mesh", mesh_text(link), "");
	}

	static std::string mesh_text(const LinkSeen &link)
	{
		std::string text;

		for (const auto &[hosts, what] :
		     {std::pair(&link.misfits, "is left out: its edges do not fit what all others say"),
		      std::pair(&link.strangers, "has another file of hosts")}) {
			for (const OnrampAddress &host : *hosts)
				text += (text.empty() ? "" : "; ") + onramp_address_text(host.data()) + " " + what;
		}
		return text;
	}

	static std::string offset_text(const PeerSeen &seen)
	{
		if (!seen.offset || !seen.trouble.empty())
			return "";
		return ": " + value_text("offset_ns", seen.offset->offset_ns) + ", right to " +
		       value_text("error_ns", seen.offset->error_ns);
	}

	void say(const std::string &who, const std::string &state, const std::string &more)
	{
		std::string &said = said_[who];

		if (said == state)
			return;
		said = state;
		if (!state.empty())
			std::cout << who << ": " << state << more << std::endl;
	}

	bool json_;
	std::map<std::string, std::string> said_;
};

// -- at work

// False: a signal asked for the end.
bool wait_until(const Signals &signals, std::int64_t ns)
{
	pollfd file = {signals.fd(), POLLIN, 0};
	std::int64_t left_ns = std::max<std::int64_t>(ns - monotonic_ns(), 0);
	timespec time = {static_cast<time_t>(left_ns / kSecondNs), static_cast<long>(left_ns % kSecondNs)};

	return ppoll(&file, 1, &time, nullptr) == 0;
}

// From half of the mean to one and a half: no host's probes keep step with another's, or with traffic.
class Pace {
public:
	explicit Pace(unsigned rate) : mean_ns_(kSecondNs / rate), random_(std::random_device()()) {}

	std::int64_t next_ns() { return mean_ns_ / 2 + static_cast<std::int64_t>(random_() % mean_ns_); }

private:
	std::int64_t mean_ns_;
	std::mt19937_64 random_;
};

// False: a signal asked for the end.
bool run_window(Clockd &clockd, const Signals &signals, Pace &pace, std::int64_t end_ns)
{
	std::int64_t looked_ns = 0;

	for (std::int64_t at_ns = monotonic_ns(); at_ns < end_ns; at_ns += pace.next_ns()) {
		if (!wait_until(signals, at_ns))
			return false;
		if (at_ns - looked_ns >= kLookNs) {
			clockd.look();
			looked_ns = at_ns;
		}
		clockd.tick();
	}
	return wait_until(signals, end_ns);
}

// Why the state cannot be written; empty: it is.
std::string written(const Arguments &arguments, const Json &json)
{
	try {
		write_clockd_state(arguments.state, json, monotonic_ns(), arguments.window_s);
		return "";
	} catch (const Error &error) {
		return error.what();
	}
}

void clockd(const Arguments &arguments)
{
	Signals signals;
	Log log(arguments.shown.json);
	Pace pace(arguments.rate);
	ClockdMesh mesh = clockd_mesh(clockd_hosts_file(arguments.hosts), arguments.peers, is_own_address);
	std::optional<HostNumber> coordinator;
	if (!arguments.coordinator.empty())
		coordinator = mesh.number(onramp_address(arguments.coordinator));
	Clockd clockd({std::move(mesh), onramp_key_file(arguments.key), arguments.port, coordinator, arguments.window_s},
		      arguments.device.empty() ? software_clock() : hardware_clock(arguments.device, arguments.nic));
	std::int64_t begin_ns = monotonic_ns();

	do {
		std::int64_t end_ns = clockd.window_end_ns(begin_ns);
		if (!run_window(clockd, signals, pace, end_ns))
			return;
		begin_ns = end_ns;
		std::vector<PeerSeen> seen = clockd.window();
		log.say(clockd, seen);
		log.say_of_file(written(arguments, clockd_json(clockd, seen)));
	} while (!arguments.once);
	clockd.leave();
}

}  // namespace

void add_clockd_command(CLI::App &app, Action &action)
{
	auto arguments = std::make_shared<Arguments>();
	CLI::App *command = app.add_subcommand(
		"clockd", "Tell On-Ramp how far peers' clocks are from ours, by probes between hosts");

	command->add_option(
		"--hosts", arguments->hosts,
		"file of all hosts, an address a line, the same on all (default: /etc/turnpike/clockd.hosts)");
	command->add_option(
		"--key", arguments->key,
		"file of the key that all hosts share, and of the next one (default: /etc/turnpike/clockd.key)");
	command->add_option("--coordinator", arguments->coordinator,
			    "address of the host that solves the mesh, the same on all hosts (default: pairs alone)");
	command->add_option("--state", arguments->state,
			    "file for turnpike clock show (default: /run/turnpike-clockd/state.json)");
	command->add_option("--device", arguments->device,
			    "network device whose NIC stamps probes (default: the kernel stamps)");
	command->add_flag("--nic-clock", arguments->nic, "tell of the NICs' clocks, not of the systems'")
		->needs("--device");
	command->add_option("--port", arguments->port, "UDP port, the same on all hosts (default: 61005)")
		->check(CLI::Range(1, 65535));
	command->add_option("--peers", arguments->peers, "how many hosts each one probes, 1 to 64 (default: 10)")
		->check(CLI::Range(1u, 64u));
	command->add_option("--every", arguments->window_s, "seconds of a window, 1 to 60 (default: 4)")
		->check(CLI::Range(1u, 60u));
	command->add_option("--rate", arguments->rate,
			    "pairs of probes a second to each peer, 10 to 1000 (default: 25)")
		->check(CLI::Range(10u, 1000u));
	command->add_flag("--once", arguments->once, "end after one window");
	command->add_flag("-j,--json", arguments->shown.json, "print each window, a line of JSON each");
	command->callback([arguments, &action] {
		action = [arguments] { clockd(*arguments); };
	});
}

}  // namespace turnpike
