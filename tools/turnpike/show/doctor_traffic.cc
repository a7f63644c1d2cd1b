// SPDX-License-Identifier: GPL-2.0
#include "doctor_traffic.h"

#include "../units.h"
#include "status.h"
#include "verdicts.h"

namespace turnpike {
namespace {

using Json = nlohmann::ordered_json;

// Above it more than half of the samples say "decrease at once" (TIMELY15, equation of T_high).
constexpr double kNoisyShare = .5;
// Fewer samples tell nothing.
constexpr std::uint64_t kSamplesThatTell = 1000;

void feedback(const Json &facts, Findings &found)
{
	const Json &space = facts.at("namespace");

	for (const Json &device : space.at("devices")) {
		std::string name = text(device.at("name"));

		if (device.at("samples") != 0)
			fine(found, "feedback", "onramp on " + name + " has " + text(device.at("samples")) + " samples");
		else if (lacks_feedback(space, device))
			found.push_back({"feedback", Severity::warning, "onramp on " + name + " has no feedback",
					 "it holds nothing: it needs receipts of peers with onramp, or microsecond TCP timestamps at both ends",
					 "onramp at the receiver; UDP port 61004 open both ways; the same key; turnpike onramp peers and stats"});
		else
			fine(found, "feedback", "onramp on " + name + " had no data to send to hosts that are near");
	}
}

void peers(const Json &facts, Findings &found)
{
	const Json &peers = facts.at("namespace").at("peers");

	if (peers.is_null())
		return;
	if (peers.at("silent").empty())
		return fine(found, "peers", "every host that was asked sends receipts");
	found.push_back({"peers", Severity::warning, count_text(peers.at("silent").size(), "host") + " never sent a receipt, as " +
			 text(peers.at("silent").front()),
			 "flows to them are held by TCP timestamps alone, or not at all",
			 "there: is sch_onramp loaded with onramp on a device (ss -uln sport 61004)? is the port open? the same key?"});
}

void keys(const Json &facts, Findings &found)
{
	if (facts.at("keys").is_null())
		return;
	if (!facts.at("keys").empty())
		return fine(found, "key", "receipts are signed");
	found.push_back({"key", Severity::warning, "On-Ramp has no key",
			 "who can send with another host's address can forge receipts",
			 "turnpike onramp key generate, once; copy /etc/turnpike/onramp.key to all hosts; turnpike onramp key load"});
}

void refusals(const Json &facts, Findings &found)
{
	const Json &stats = facts.at("onramp_stats");

	if (stats.is_null())
		return;
	if (stats.value("refused_mac", std::uint64_t(0)) + stats.value("refused_key", std::uint64_t(0)) == 0)
		return fine(found, "signatures", "no receipt was refused for its key");
	found.push_back({"signatures", Severity::warning, count_text(stats.at("refused_mac"), "receipt") + " with a wrong signature, " +
			 text(stats.at("refused_key")) + " with an unknown key",
			 "a host with another key has no feedback; or somebody forges", "compare /etc/turnpike/onramp.key of all hosts"});
}

void coarse(const Json &facts, Findings &found)
{
	for (const Json &device : facts.at("namespace").at("devices")) {
		if (device.at("coarse") == 0)
			continue;
		bool can = facts.at("has_usec").get<bool>();
		found.push_back({"timestamps", Severity::info, "peers of " + count_text(device.at("coarse"), "connection") + " of " +
				 text(device.at("name")) + " have timestamps of milliseconds",
				 "these tell no queueing delay: receipts alone do",
				 can ? "turnpike usec-ts on PREFIX, at both ends" : "needs Linux 6.7 at both ends"});
	}
}

void noise(const Json &facts, Findings &found)
{
	const Json &timely = facts.at("timely_counters");

	if (timely.is_null() || timely.value("samples", std::uint64_t(0)) < kSamplesThatTell)
		return;
	double high = timely.value("events_high", 0.0) / timely.at("samples").get<double>();
	if (high <= kNoisyShare)
		return fine(found, "noise", "few of timely's RTTs are above T_high");
	found.push_back({"noise", Severity::warning, "more than half of timely's RTTs are above T_high",
			 "a queue that others make, or noise of hosts: coalescing, sleep states, a virtual machine",
			 "ethtool -c; cpupower idle-info; the queue of the switch"});
}

void tlt(const Json &facts, Findings &found)
{
	const Json &tlt = facts.at("namespace").at("tlt");

	if (tlt.is_null())
		return;
	if (tlt.at("rules").empty() && facts.at("default_route").get<bool>())
		found.push_back({"tlt-rules", Severity::warning, "TLT marks all TCP, and there is a default route",
				 "code points mean something else beyond the datacenter", "turnpike tlt set --rule peer=PREFIX"});
	if (tlt.at("deaf") == 0)
		return fine(found, "tlt-peers", "every peer of TLT answers its marks");
	found.push_back({"tlt-peers", Severity::warning, "TLT has peers that answer no mark, of " + count_text(tlt.at("deaf"), "connection"),
			 "it has no TLT, or somebody between changes the code points: data to it are not marked",
			 "turnpike tlt flows; at the peer: turnpike tlt stats"});
}

}  // namespace

void examine_traffic(const Json &facts, Findings &found)
{
	for (auto check : {feedback, peers, keys, refusals, coarse, noise, tlt})
		check(facts, found);
}

}  // namespace turnpike
